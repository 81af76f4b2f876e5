import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { AuthenticationEndpoint } from "../../src/remote-auth/endpoint.ts";

/** An account that every endpoint here knows. */
export const ACCOUNT = { username: "alice", password: "Correct-horse-9" };

/** A running endpoint. */
export interface EndpointServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Listens on a free port of this machine. */
export async function serveEndpoint(listener: RequestListener): Promise<EndpointServer> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/auth`,
    async stop() {
      const closed = once(server.close(), "close");
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A handler of the fetch API as a listener, as far as tests need it. */
export function toListener(handle: AuthenticationEndpoint): RequestListener {
  return async (req, res) => {
    const body = req.method === "GET" ? null : (Readable.toWeb(req) as ReadableStream<Uint8Array>);
    const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const init = { method: req.method ?? "", headers, body, duplex: "half" };
    const response = await handle(new Request(`http://localhost${req.url}`, init));
    res.writeHead(response.status, Object.fromEntries(response.headers));
    res.end(Buffer.from(await response.arrayBuffer()));
  };
}

/** The credentials of a request that is one. */
export interface Login {
  readonly type: string;
  readonly username: string;
  readonly content: string;
  readonly peer?: { readonly address: string; readonly family: string };
}

/** The steps of an endpoint written by hand with `node:http`, each to be replaced by one that is wrong. */
export interface Steps {
  isMethod(req: IncomingMessage): boolean;
  isAuthorized(req: IncomingMessage): boolean;
  isContentType(req: IncomingMessage): boolean;
  /** `undefined` for what is no request. */
  parse(body: string): Login | undefined;
  isRight(login: Login): boolean | Promise<boolean>;
  accept(res: ServerResponse, req: IncomingMessage): void;
  refuse(res: ServerResponse, login: Login, req: IncomingMessage): void;
}

const honest: Steps = {
  isMethod: ({ method }) => method === "POST",
  isAuthorized: () => true,
  isContentType: ({ headers }) => /^application\/json(?:$|;)/.test(headers["content-type"] ?? ""),
  parse(body) {
    const credentials = parseJson(body)?.credentials;
    const isLogin = ["type", "username", "content"].every((member) => typeof credentials?.[member] === "string");
    const isKnown = ["password", "ssh-key", "ssl-certificate"].includes(credentials?.type as string);
    return isLogin && isKnown ? (credentials as unknown as Login) : undefined;
  },
  isRight: ({ type, username, content }) =>
    type === "password" && username === ACCOUNT.username && content === ACCOUNT.password,
  accept: (res) =>
    answer(res, 200, "application/json", JSON.stringify({ account: { home_folder_path: "/home/älice" } })),
  refuse: (res, { username }) =>
    answer(res, username === ACCOUNT.username ? 403 : 401, "text/plain; charset=utf-8", "not one of ours: ☹"),
};

/** An endpoint written by hand, honest but for the steps that are given. */
export function createHandwrittenEndpoint(steps: Partial<Steps> = {}): RequestListener {
  const { isMethod, isAuthorized, isContentType, parse, isRight, accept, refuse } = { ...honest, ...steps };
  return async (req, res) => {
    const body = await text(req);
    if (!isMethod(req)) return answer(res, 405);
    if (!isAuthorized(req)) return answer(res, 403);
    if (!isContentType(req)) return answer(res, 415);
    const login = parse(body);
    if (login === undefined) return answer(res, 400);
    if (await isRight(login)) accept(res, req);
    else refuse(res, login, req);
  };
}

/** Sends a whole answer. */
export function answer(res: ServerResponse, status: number, type?: string, content: string | Buffer = ""): void {
  res.writeHead(status, type === undefined ? {} : { "Content-Type": type });
  res.end(content);
}

function parseJson(body: string): { readonly credentials?: Readonly<Record<string, unknown>> } | undefined {
  try {
    return JSON.parse(body) ?? undefined;
  } catch {
    return undefined;
  }
}
