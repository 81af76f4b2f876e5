import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { maskLinkTokens } from "../../sharing/link-tokens.ts";
import { createFormat, escapeQuoted, type LogFormat, type LoggedRequest } from "./format.ts";
import { notesOf, toRequestId } from "./request-notes.ts";
import { colorsOf, type Output, toJsonText } from "./terminal.ts";

/** How a request has ended. */
interface End extends Pick<LoggedRequest, "status" | "aborted"> {
  /** The bytes of the head of the response. */
  readonly head: number;
}

/**
 * Writes a line for every request of a server when its response is complete, in the format: see {@link LoggedRequest}.
 * As text it has the form `TIME ADDRESS ACCOUNT GET /home/a.txt 200 1234 B 5 ms, 0 B in "AGENT" ID`, and the trace if
 * there is one. If the connection broke before, the line says `aborted`; if it broke before the response started, the
 * status is `-`. All values are escaped. Answers to questions about the health of the service are left out.
 */
export function logRequests(
  server: Server,
  output: Output,
  { format, basePath }: { readonly format: LogFormat; readonly basePath: string },
): void {
  const healthPath = `${basePath}/__svc__/health`;
  const toLine = format === "json" ? toJsonLine : format === "text" ? createTextLines(output) : createFormat(format);
  /** The bytes that a socket had written after its last response; the responses of a socket follow one another. */
  const written = new WeakMap<object, number>();

  function log(request: IncomingMessage, startedAt: number, address: string, { head, ...end }: End): void {
    const { method = "", url = "", socket, headers, httpVersion } = request;
    const bytes = socket.bytesWritten - (written.get(socket) ?? 0);
    written.set(socket, socket.bytesWritten);
    const path = toPath(url);
    if (path === healthPath && end.status === 204) return;
    const notes = notesOf(request);
    const logged: LoggedRequest = {
      time: new Date(),
      address: notes?.address ?? address,
      account: notes?.account,
      id: notes?.id ?? toRequestId(undefined),
      trace: notes?.trace,
      method,
      path,
      protocol: `HTTP/${httpVersion}`,
      bytes,
      // The socket has also written interim responses and the framing of content without a length.
      sent: Math.min(notes?.sent() ?? Number.POSITIVE_INFINITY, Math.max(0, bytes - head)),
      received: notes?.received() ?? 0,
      milliseconds: Math.round(performance.now() - startedAt),
      header: (name) => headers[name]?.toString(),
      ...end,
    };
    output.write(`${toLine(logged)}\n`);
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const startedAt = performance.now();
    const address = addressOf(request);
    response.once("close", () => {
      const status = response.headersSent ? { status: response.statusCode } : {};
      log(request, startedAt, address, { ...status, head: headBytesOf(response), aborted: !response.writableFinished });
    });
  }

  function onConnect(request: IncomingMessage, socket: Duplex): void {
    const startedAt = performance.now();
    const address = addressOf(request);
    // CONNECT has no response object: the server itself rejected the tunnel (501), or closed the connection.
    socket.once("close", () => {
      if (socket.writableFinished) log(request, startedAt, address, { status: 501, head: 0, aborted: false });
      else log(request, startedAt, address, { head: 0, aborted: true });
    });
  }

  server.prependListener("request", onRequest);
  // Requests with `Expect` and CONNECT come with events of their own, if those have a listener.
  for (const event of ["checkContinue", "checkExpectation"]) {
    if (server.listenerCount(event) > 0) server.prependListener(event, onRequest);
  }
  if (server.listenerCount("connect") > 0) server.prependListener("connect", onConnect);
}

/** The address of the other end. A socket that is closed has none any more. */
function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress?.replace(/^::ffff:/, "") ?? "-";
}

/** The bytes of the head of a response, which Node keeps as the text that it has sent. */
function headBytesOf(response: ServerResponse & { readonly _header?: unknown }): number {
  return typeof response._header === "string" ? Buffer.byteLength(response._header, "latin1") : 0;
}

function createTextLines(output: Output): (request: LoggedRequest) => string {
  const colors = colorsOf(output);
  return ({ time, address, account, id, trace, method, path, status, ...request }) => {
    const { sent, received, milliseconds, aborted, header } = request;
    const shown = status === undefined ? "-" : colorStatus(status, colors);
    const end = aborted ? " aborted" : "";
    const who = `${time.toISOString()} ${toWord(address)} ${toWord(account)}`;
    const what = `${toWord(method)} ${toWord(path)} ${shown} ${sent} B ${milliseconds} ms${end}`;
    const agent = escapeQuoted(header("user-agent") ?? "-");
    return `${who} ${what}, ${received} B in "${agent}" ${id}${trace === undefined ? "" : ` trace=${trace}`}`;
  };
}

/** A text of a client as one word. Without quotation marks it cannot look like the JSON of a message. */
function toWord(text: string | undefined): string {
  return text === undefined ? "-" : escapeQuoted(text).replaceAll(" ", "\\x20");
}

function toJsonLine({ time, header, protocol: _protocol, trace, ...request }: LoggedRequest): string {
  const own = { time: time.toISOString(), level: "info", message: "request" };
  return toJsonText({ ...own, ...request, trace_id: trace, agent: header("user-agent") }) ?? "";
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
