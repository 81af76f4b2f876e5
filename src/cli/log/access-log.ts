import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { maskLinkTokens } from "../../sharing/link-tokens.ts";
import { colorsOf, escapeText, type Output, toJsonText } from "./terminal.ts";

/** The format of log lines: text for people, or JSON for log collectors. */
export type LogFormat = "text" | "json";

/** A request whose connection or response is complete. */
interface LoggedRequest {
  readonly method: string;
  /** The path as the client sent it, without query, tokens of links, and the scheme and host of an absolute target. */
  readonly path: string;
  /** Absent if the connection broke before the response. */
  readonly status?: number;
  /** The bytes of the response, including its headers. */
  readonly bytes: number;
  readonly milliseconds: number;
  /** Whether the connection broke before the response was complete. */
  readonly aborted: boolean;
}

/**
 * Writes a line for every request of a server when its response is complete: `GET /home/a.txt 200 1234 B 5 ms`, or the
 * same data as JSON. If the connection broke before, the line ends with `aborted`; if it broke before the response
 * started, the status is `-`. The path is escaped. The bytes include the headers of the response.
 */
export function logRequests(server: Server, output: Output, format: LogFormat): void {
  const toLine = format === "json" ? toJsonLine : createTextLines(output);
  /** The bytes that a socket had written after its last response; the responses of a socket follow one another. */
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
    // CONNECT has no response object: the server itself rejected the tunnel (501), or closed the connection.
    socket.once("close", () => {
      if (socket.writableFinished) log(request, startedAt, { status: 501, aborted: false });
      else log(request, startedAt, { aborted: true });
    });
  }

  server.prependListener("request", onRequest);
  // Requests with `Expect` and CONNECT come with events of their own, if those have a listener.
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

/**
 * The path of a request target. The host of an absolute target, and the target of CONNECT, may hold credentials: both
 * are removed. So are tokens of links.
 */
function toPath(target: string): string {
  const [path = ""] = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  return path === "" ? "/" : maskLinkTokens(path.replace(/^[^/]*@/, ""));
}

function colorStatus(status: number, colors: ReturnType<typeof colorsOf>): string {
  if (status >= 500) return colors.red(status);
  return status >= 400 ? colors.yellow(status) : colors.green(status);
}
