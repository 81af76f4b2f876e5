import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { FrameworkHost } from "../../support/frameworks.ts";

export const BASIC = `Basic ${btoa("alice:secret")}`;

/** What a client sees of an answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** A client of one host, with a session so that each request is cheap. */
export interface FrameworkClient {
  readonly host: FrameworkHost;
  readonly session: string;
  /** Sends a request with the session, unless it has credentials or `anonymous`; redirects are not followed. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
  readonly anonymous?: boolean;
}

export async function createClient(host: FrameworkHost): Promise<FrameworkClient> {
  const login = await send(host, "POST", "/files/__svc__/login", {
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ username: "alice", password: "secret" }),
  });
  const { results } = JSON.parse(login.text) as { results: readonly { session: string }[] };
  const session = results[0]?.session ?? "";
  return {
    host,
    session,
    call(method, path, { headers = {}, anonymous = false, ...rest } = {}) {
      const isNamed = anonymous || "authorization" in headers || "cookie" in headers;
      const credentials = isNamed ? {} : { authorization: `session ${session}` };
      return send(host, method, path, { ...rest, headers: { ...credentials, ...headers } });
    },
  };
}

async function send(host: FrameworkHost, method: string, path: string, options: CallOptions): Promise<Answer> {
  const { headers = {}, body } = options;
  const response = await fetch(`${host.origin}${path}`, {
    method,
    headers,
    redirect: "manual",
    ...(body !== undefined && { body, duplex: "half" as const }),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, text: new TextDecoder().decode(bytes) };
}

/** What a client that waits for `100 Continue` sees: whether it came, and the final status. */
export function expectContinue(
  host: FrameworkHost,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<{ readonly isContinued: boolean; readonly status: number }> {
  return new Promise((resolve, reject) => {
    let isContinued = false;
    const fields = { ...headers, expect: "100-continue", "content-length": String(body.length) };
    const request = httpRequest(`${host.origin}${path}`, { method, headers: fields });
    request.on("continue", () => {
      isContinued = true;
      request.end(body);
    });
    request.on("response", (response: IncomingMessage) => {
      response.resume();
      resolve({ isContinued, status: response.statusCode ?? 0 });
      request.destroy();
    });
    request.on("error", reject);
    request.flushHeaders();
  });
}

/** Begins an upload of 1 MB, and cuts the connection behind its first half. */
export async function cutUpload(client: FrameworkClient, path: string): Promise<void> {
  const socket = connect(client.host.port, "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  const head = `PUT ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: session ${client.session}\r\nContent-Length: 1000000\r\n\r\n`;
  await new Promise((resolve) => socket.write(head + "n".repeat(500_000), resolve));
  // The server is at it by then.
  await new Promise((resolve) => setTimeout(resolve, 150));
  socket.resetAndDestroy();
}

/** The status line that a target gets as it stands: fetch would resolve it. */
export function askRaw({ host, session }: FrameworkClient, target: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(host.port, "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1").on("data", (chunk) => {
      text += chunk;
    });
    socket.on("end", () => resolve(text.slice(0, text.indexOf("\r\n")))).on("error", reject);
    const head = `GET ${target} HTTP/1.1\r\nHost: h\r\nAuthorization: session ${session}\r\nConnection: close\r\n\r\n`;
    socket.write(head);
  });
}
