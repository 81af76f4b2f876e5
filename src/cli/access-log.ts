import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { colorsOf, escapeText, type Output } from "./terminal.ts";

/**
 * Writes one line for every request of a server when its response is through:
 * `GET /home/a.txt 200 1234 B 5 ms`, with `aborted` behind it when the connection broke before, and `-` for the status
 * when that was before the answer. The path is as the client sent it, escaped, without its query and without what an
 * absolute target has before it; the bytes are those of the response's body.
 */
export function logRequests(server: Server, output: Output): void {
  const colors = colorsOf(output);

  function log(request: IncomingMessage, status: number | undefined, bytes: number, begun: number, end = ""): void {
    const { method = "", url = "" } = request;
    const shown = status === undefined ? "-" : colorStatus(status, colors);
    const duration = Math.round(performance.now() - begun);
    output.write(`${escapeText(method)} ${escapeText(toPath(url))} ${shown} ${bytes} B ${duration} ms${end}\n`);
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const begun = performance.now();
    const bodySize = countBody(response);
    response.once("close", () => {
      const status = response.headersSent ? response.statusCode : undefined;
      const bytes = request.method === "HEAD" ? 0 : bodySize();
      log(request, status, bytes, begun, response.writableFinished ? "" : " aborted");
    });
  }

  function onConnect(request: IncomingMessage, socket: Duplex): void {
    const begun = performance.now();
    // There is no response: the server has refused the tunnel by itself (501), or hung up.
    socket.once("close", () => {
      if (socket.writableFinished) log(request, 501, 0, begun);
      else log(request, undefined, 0, begun, " aborted");
    });
  }

  server.prependListener("request", onRequest);
  // Requests with an `Expect`, and CONNECT, come by other events where somebody listens to those.
  for (const event of ["checkContinue", "checkExpectation"]) {
    if (server.listenerCount(event) > 0) server.prependListener(event, onRequest);
  }
  if (server.listenerCount("connect") > 0) server.prependListener("connect", onConnect);
}

/** A request target's path. Before it an absolute target names a host, and CONNECT's names nothing else: both may hold credentials. */
function toPath(target: string): string {
  const [path = ""] = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  return path === "" ? "/" : path.replace(/^[^/]*@/, "");
}

/** Counts what is handed to the response as its body from now on. */
function countBody(response: ServerResponse): () => number {
  const { write, end } = response;
  let bytes = 0;

  function count(chunk: unknown): void {
    if (typeof chunk === "string") bytes += Buffer.byteLength(chunk);
    else if (ArrayBuffer.isView(chunk)) bytes += chunk.byteLength;
  }

  response.write = (...args: unknown[]) => {
    count(args[0]);
    return Reflect.apply(write, response, args);
  };
  response.end = (...args: unknown[]) => {
    count(args[0]);
    return Reflect.apply(end, response, args);
  };
  return () => bytes;
}

function colorStatus(status: number, colors: ReturnType<typeof colorsOf>): string {
  if (status >= 500) return colors.red(status);
  return status >= 400 ? colors.yellow(status) : colors.green(status);
}
