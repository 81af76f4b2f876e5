import { type ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { Connection } from "../../contracts/connection.ts";
import type { Exchange } from "./exchange.ts";

type Fields = Readonly<Record<string, string>>;

/** A response of a Node that writes any interim response by itself (Node 26). */
type InformingResponse = ServerResponse & {
  readonly writeInformation?: (status: number, headers: Fields) => unknown;
};

/** An interim response has no content, and says nothing about the connection (RFC 9110 8.6, RFC 9112 6.1). */
const FORBIDDEN: readonly string[] = [
  "connection",
  "content-length",
  "keep-alive",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** Reason phrases of statuses that Node does not know. */
const REASONS: Readonly<Record<number, string>> = { 104: "Upload Resumption Supported" };

/** Runtimes that have the modules of Node, and sockets of their own. */
const isOtherRuntime = "bun" in process.versions || "deno" in process.versions;

/** Returns the connection of a request, with `sendInterim` if its client can get interim responses. */
export function withInterimResponses(exchange: Exchange): Connection {
  const { req, state } = exchange;
  const { connection } = state;
  // A host may simulate a request: it has no socket to write to.
  const isParsed = state.server !== undefined || req.httpVersionMajor === 2;
  const understands = req.httpVersionMajor === 2 || (req.httpVersionMajor === 1 && req.httpVersionMinor >= 1);
  if (isOtherRuntime || !isParsed || !understands) return connection;
  const send = (status: number, headers: Fields): void => sendInterim(exchange, status, headers);
  // A spread costs ten times as much, and every request pays for it.
  return Object.assign({ sendInterim: send }, connection);
}

function sendInterim({ res, isDisconnected }: Exchange, status: number, headers: Fields): void {
  checkInterim(status, headers);
  if (isDisconnected || res.headersSent) return;
  if (isHttp2(res)) writeToStream(res, status, headers);
  else writeToSocket(res, status, headers);
}

/** @throws RangeError or TypeError. */
function checkInterim(status: number, headers: Fields): void {
  // `100 Continue` is sent when the body is read, and 101 would change the protocol.
  if (!Number.isInteger(status) || status < 102 || status > 199) throw new RangeError("Not an interim status");
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    if (FORBIDDEN.includes(name.toLowerCase())) throw new TypeError(`An interim response cannot have ${name}`);
  }
}

/**
 * Writes to the socket, which belongs to this response, as the responses before it are sent. So the order is right also
 * with `100 Continue`, which Node writes to the socket as well.
 */
function writeToSocket(res: InformingResponse, status: number, headers: Fields): void {
  if (res.socket?.writable !== true) return;
  if (res.writeInformation !== undefined) {
    res.writeInformation(status, headers);
    return;
  }
  const reason = REASONS[status] ?? STATUS_CODES[status] ?? "";
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  res.socket.write(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n`, "latin1");
}

function isHttp2(res: object): res is Http2ServerResponse {
  return "stream" in res;
}

function writeToStream({ stream }: Http2ServerResponse, status: number, headers: Fields): void {
  if (!stream.headersSent && !stream.closed && !stream.destroyed) {
    stream.additionalHeaders({ ...headers, ":status": status });
  }
}
