import type { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { Connection } from "../../../src/contracts/connection.ts";
import type { FileService } from "../../../src/contracts/file-service.ts";
import { createEventQueue } from "../../../src/events/event-stream.ts";
import type { Reply, ReplyBody } from "../../../src/http/reply.ts";
import { createHandler, toReplyHandler } from "../../../src/http/reply-handler.ts";
import { createNodeServer, type NodeServerOptions } from "../../../src/runtimes/node/server.ts";
import { NO_LINKS } from "../../support/links.ts";

/** A reply that is made as a `Response` is, and keeps its body as it was given. */
export class PlainResponse implements Reply {
  readonly status: number;
  readonly headers: Reply["headers"];
  readonly body: ReplyBody | undefined;

  constructor(body?: ReplyBody | null, { status = 200, headers }: ResponseInit = {}) {
    this.status = status;
    this.headers = [...new Headers(headers)];
    this.body = body ?? undefined;
  }
}

/** A service of one handler, for all variants; it claims what lies below `/home/`. */
export function stubService(
  handler: (request: Request, connection: Connection) => Promise<Response | Reply> | Response | Reply,
): FileService {
  const answer = createHandler(async (request, connection) => {
    const given = await handler(request, connection);
    return given !== undefined && "ok" in given ? toReplyHandler(async () => given)(request, connection) : given;
  });
  return {
    fetch: answer,
    rest: answer,
    webdav: answer,
    browser: answer,
    handles: (request) => /^https?:\/\/[^/]+\/home\//.test(request.url),
    start: async () => undefined,
    endSessions: async () => undefined,
    sweep: async () => 0,
    links: NO_LINKS,
    sessions: { start: async () => ({ id: "", setCookie: "" }), end: async () => undefined },
    events: () => createEventQueue(1, () => undefined).stream,
    close: async () => undefined,
  };
}

/** A server around a stub, on a free port, gone after the test. */
export async function serve(
  handler: Parameters<typeof stubService>[0],
  options: NodeServerOptions = {},
): Promise<{ server: Server; port: number; url: string }> {
  const server = createNodeServer(stubService(handler), options) as Server;
  const port = await listen(server);
  return { server, port, url: `${options.tls ? "https" : "http"}://127.0.0.1:${port}` };
}

/** Lets any server listen on a free port of the loopback until the test ends. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A client that speaks bytes. */
export interface WireClient {
  readonly socket: Socket;
  /** All that came, as Latin-1. */
  text(): string;
  send(text: string | Uint8Array): void;
  /** Waits until what came matches. */
  until(pattern: RegExp | string): Promise<string>;
  /** Waits for the server's end: how it came, and all that was read. */
  ended(): Promise<{ how: "fin" | "reset"; text: string }>;
}

const sockets = new Set<Socket>();

/** A socket that closes earlier is forgotten then: its client may hold much text. */
function destroyAfterTest(socket: Socket): void {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
  onTestFinished(destroySockets);
}

function destroySockets(): void {
  for (const socket of sockets) socket.destroy();
}

/** Connects, without sending anything. */
export async function connectWire(port: number, socket: Socket = connect(port, "127.0.0.1")): Promise<WireClient> {
  let received = "";
  let how: "fin" | "reset" | undefined;
  const watchers = new Set<() => void>();
  const wake = (): void => {
    for (const watcher of watchers) watcher();
  };
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    wake();
  });
  socket.on("end", () => {
    how ??= "fin";
    wake();
  });
  socket.on("error", () => {
    how ??= "reset";
    wake();
  });
  socket.on("close", () => {
    how ??= "reset";
    wake();
  });
  destroyAfterTest(socket);
  if (socket.connecting) {
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  }
  const when = (condition: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => reject(new Error(`Nothing more came after: ${received}`));
      let timer = setTimeout(giveUp, 5000);
      const check = (): void => {
        clearTimeout(timer);
        if (!condition()) {
          timer = setTimeout(giveUp, 5000);
          return;
        }
        watchers.delete(check);
        resolve();
      };
      watchers.add(check);
      check();
    });
  return {
    socket,
    text: () => received,
    send: (text) => void socket.write(text),
    async until(pattern) {
      await when(() => (typeof pattern === "string" ? received.includes(pattern) : pattern.test(received)));
      return received;
    },
    async ended() {
      await when(() => how !== undefined);
      return { how: how as "fin" | "reset", text: received };
    },
  };
}

/** Sends one text and reads to the server's end. The text should ask for `Connection: close`. */
export async function exchange(port: number, text: string): Promise<string> {
  const client = await connectWire(port);
  client.send(text);
  return (await client.ended()).text;
}

/** Resolves when the condition holds; fails after 3 s. */
export async function eventually(condition: () => boolean, what = "the condition"): Promise<void> {
  for (let waited = 0; !condition(); waited += 10) {
    if (waited > 3000) throw new Error(`Waited in vain for ${what}`);
    await delay(10);
  }
}

/** A pause. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Something that a test waits for and another party settles. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Fails the test when a rejection or an exception escapes while it runs. */
export function watchEscapes(): unknown[] {
  const escapes: unknown[] = [];
  const note = (error: unknown): void => void escapes.push(error);
  process.on("unhandledRejection", note);
  process.on("uncaughtException", note);
  onTestFinished(() => {
    process.off("unhandledRejection", note);
    process.off("uncaughtException", note);
    if (escapes.length > 0) throw new Error(`Escaped: ${escapes.map(String).join(", ")}`);
  });
  return escapes;
}
