import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Credentials } from "../../../src/contracts/authenticator.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { HttpAuthenticatorOptions } from "../../../src/remote-auth/authenticator/options.ts";
import type { RemoteAudit } from "../../../src/remote-auth/authenticator/verdict.ts";
import { createHttpAuthenticator } from "../../../src/remote-auth/http-authenticator.ts";
import { createRecordingLogger, type RecordingLogger } from "../../support/logger.ts";

/** A request as it came over the wire. */
export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Answers a request whose body has been read. */
export type Answering = (response: ServerResponse, request: ReceivedRequest, message: IncomingMessage) => void;

/** A remote endpoint: a real server that keeps what it was asked. */
export interface RemoteServer {
  readonly origin: string;
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** What answers from now on. */
  answer: Answering;
  /** Resolves when the last connection is gone: it would hang if one was leaked. */
  close(): Promise<void>;
}

export const SUCCESS: Answering = (response) => void response.writeHead(204).end();

/** Answers with a status and a body; text that looks like JSON is sent as JSON. */
export function answerWith(
  status: number,
  body: string | Buffer = "",
  headers: Record<string, string> = {},
): Answering {
  const isJson = typeof body === "string" && /^[[{"\dnt]/.test(body);
  const type: Record<string, string> = isJson ? { "content-type": "application/json" } : {};
  return (response) => void response.writeHead(status, { ...type, ...headers }).end(body);
}

export async function serveRemote(
  answer: Answering = SUCCESS,
  tls?: { readonly key: Buffer; readonly cert: Buffer },
): Promise<RemoteServer> {
  const requests: ReceivedRequest[] = [];
  const listener = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const { method, url: target, headers } = message;
    const request = { method, target, headers, body: Buffer.concat(chunks) };
    requests.push(request);
    remote.answer(response, request, message);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http${tls === undefined ? "" : "s"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const remote: RemoteServer = { origin, url: `${origin}/auth`, requests, answer, close: toClose(server) };
  return remote;
}

/**
 * Creates a function that closes a server and waits for its last connection. It ends connections that never carried a
 * byte: undici opens one in advance when a request is aborted, and keeps it for 4 s.
 */
export function toClose(server: Server): () => Promise<void> {
  const unused = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  return async () => {
    const closed = once(server, "close");
    server.close();
    for (const socket of unused) if (socket.bytesRead === 0) socket.destroy();
    await closed;
  };
}

/** An authenticator under test, with its log and its events. */
export interface Asked {
  readonly log: RecordingLogger;
  readonly events: FileEvent[];
  start(): Promise<void>;
  ask(credentials?: Partial<Credentials>): Promise<Judged>;
}

/** A verdict with everything that any of them may hold. */
export interface Judged {
  readonly outcome: string;
  readonly account?: object;
  readonly reason?: string;
  readonly message?: string;
  readonly publicResponse?: object;
  readonly audit: RemoteAudit;
}

export const ALICE: Credentials = { type: "password", username: "alice", content: "secret of alice" };

/** Creates an authenticator. It does not test its endpoint at the start unless an option says so. */
export function createAsked(options: HttpAuthenticatorOptions): Asked {
  const log = createRecordingLogger();
  const events: FileEvent[] = [];
  const onEvent = (event: FileEvent): void => void events.push(event);
  const authenticator = createHttpAuthenticator({ testAtStart: false, logger: log, onEvent, ...options });
  return {
    log,
    events,
    start: async () => authenticator.start?.(),
    ask: async (credentials = {}) => (await authenticator.authenticate({ ...ALICE, ...credentials })) as Judged,
  };
}
