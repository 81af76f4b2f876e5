import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { colorsOf, escapeText, type Output } from "./terminal.ts";

/**
 * Writes one line for every request of a server when its response is through:
 * `GET /home/a.txt 200 1234 B 5 ms`, with `aborted` behind it when the connection broke before. The path is as the client
 * sent it, escaped, without its query; the bytes are those of the response's body.
 */
export function logRequests(server: Server, output: Output): void {
  const colors = colorsOf(output);

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const begun = performance.now();
    const bodySize = countBody(response);
    const { method = "", url = "" } = request;
    response.once("close", () => {
      const [path = ""] = url.split("?", 1);
      const status = colorStatus(response.statusCode, colors);
      const bytes = method === "HEAD" ? 0 : bodySize();
      const duration = Math.round(performance.now() - begun);
      const end = response.writableFinished ? "" : " aborted";
      output.write(`${escapeText(method)} ${escapeText(path)} ${status} ${bytes} B ${duration} ms${end}\n`);
    });
  }

  server.prependListener("request", onRequest);
  // Requests with `Expect: 100-continue` come by another event where somebody listens to it.
  if (server.listenerCount("checkContinue") > 0) server.prependListener("checkContinue", onRequest);
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
