import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { colorsOf, escapeText, type Output, toJsonText } from "./terminal.ts";

/** How log lines are written: for people, or as JSON for what collects logs. */
export type LogFormat = "text" | "json";

/** A request that is through. */
interface LoggedRequest {
  readonly method: string;
  /** As the client sent it, without its query and without what an absolute target has before it. */
  readonly path: string;
  /** Absent where the connection broke before the answer. */
  readonly status?: number;
  /** Of the answer, its head included. */
  readonly bytes: number;
  readonly milliseconds: number;
  /** Whether the connection broke before the answer was through. */
  readonly aborted: boolean;
}

/**
 * Writes one line for every request of a server when its response is through:
 * `GET /home/a.txt 200 1234 B 5 ms`, with `aborted` behind it when the connection broke before, and `-` for the status
 * when that was before the answer; or the same as JSON. The path is escaped; the bytes are those of the whole response.
 */
export function logRequests(server: Server, output: Output, format: LogFormat): void {
  const toLine = format === "json" ? toJsonLine : createTextLines(output);
  /** Bytes that a socket had written when its last response was through: its responses follow one another. */
  const written = new WeakMap<object, number>();

  function log(request: IncomingMessage, startedAt: number, end: Pick<LoggedRequest, "status" | "aborted">): void {
    const { method = "", url = "", socket } = request;
    const bytes = socket.bytesWritten - (written.get(socket) ?? 0);
    written.set(socket, socket.bytesWritten);
    const milliseconds = Math.round(performance.now() - startedAt);
    output.write(`${toLine({ method, path: toPath(url), bytes, milliseconds, ...end })}\n`);
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const startedAt = performance.now();
    response.once("close", () => {
      const status = response.headersSent ? { status: response.statusCode } : {};
      log(request, startedAt, { ...status, aborted: !response.writableFinished });
    });
  }

  function onConnect(request: IncomingMessage, socket: Duplex): void {
    const startedAt = performance.now();
    // There is no response: the server has refused the tunnel by itself (501), or hung up.
    socket.once("close", () => {
      if (socket.writableFinished) log(request, startedAt, { status: 501, aborted: false });
      else log(request, startedAt, { aborted: true });
    });
  }

  server.prependListener("request", onRequest);
  // Requests with an `Expect`, and CONNECT, come by other events where somebody listens to those.
  for (const event of ["checkContinue", "checkExpectation"]) {
    if (server.listenerCount(event) > 0) server.prependListener(event, onRequest);
  }
  if (server.listenerCount("connect") > 0) server.prependListener("connect", onConnect);
}

function createTextLines(output: Output): (request: LoggedRequest) => string {
  const colors = colorsOf(output);
  return ({ method, path, status, bytes, milliseconds, aborted }) => {
    const shown = status === undefined ? "-" : colorStatus(status, colors);
    const end = aborted ? " aborted" : "";
    return `${escapeText(method)} ${escapeText(path)} ${shown} ${bytes} B ${milliseconds} ms${end}`;
  };
}

function toJsonLine(request: LoggedRequest): string {
  return toJsonText({ time: new Date().toISOString(), level: "info", message: "request", ...request }) ?? "";
}

/** A request target's path. Before it an absolute target names a host, and CONNECT's names nothing else: both may hold credentials. */
function toPath(target: string): string {
  const [path = ""] = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  return path === "" ? "/" : path.replace(/^[^/]*@/, "");
}

function colorStatus(status: number, colors: ReturnType<typeof colorsOf>): string {
  if (status >= 500) return colors.red(status);
  return status >= 400 ? colors.yellow(status) : colors.green(status);
}
