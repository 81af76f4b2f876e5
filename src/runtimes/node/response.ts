import { ServerResponse } from "node:http";
import { toByteStream } from "../../contracts/byte-source.ts";
import type { ChunkReader } from "../chunk-reader.ts";
import type { Exchange } from "./exchange.ts";
import { closeLingering } from "./lingering-close.ts";
import { discardBody, openBody, openSource } from "./response-body.ts";
import { sendSource } from "./send-source.ts";
import { failResponse, type Head, MAX_WRITE_BYTES, sendChunks } from "./send-stream.ts";
import { isDraining } from "./shutdown.ts";

/**
 * Sends a response together with all others that are ready (docs/decisions/0013-small-requests.md). Never throws. By
 * then the parser has also seen a small request body that arrived with its head. If a response cannot be sent, the
 * client gets a blank 500, or after the head a broken connection.
 */
export function sendResponse(exchange: Exchange, response: Response, lingerMilliseconds: number): void {
  setImmediate(writeResponse, exchange, response, lingerMilliseconds);
}

function writeResponse(exchange: Exchange, response: Response, lingerMilliseconds: number): void {
  if (exchange.gone || exchange.res.writableEnded) {
    discardBody(response);
    return;
  }
  const closes = closeLingering(exchange, lingerMilliseconds) || isDraining(exchange.state);
  try {
    writeBody(exchange, response, toHead(response, closes));
  } catch {
    discardBody(response);
    failResponse(exchange, { closes, length: undefined });
  }
}

function writeBody(exchange: Exchange, response: Response, head: Head): void {
  const { req, res } = exchange;
  const { status, fields } = head;
  if (req.method === "HEAD" || status === 204 || status === 304) {
    res.writeHead(status, fields);
    res.end();
    discardBody(response);
    return;
  }
  const source = openSource(response);
  if (source !== undefined && isPlain(res)) return void sendSource(exchange, source, head);
  const body = source === undefined ? openBody(response) : toByteStream(source).getReader();
  if (body === undefined || typeof body === "string" || "byteLength" in body) writeComplete(exchange, head, body);
  else void sendChunks(exchange, body, head);
}

/**
 * Whether the response writes directly to its socket. A middleware that compresses, counts or keeps the body replaces
 * these methods. It may keep chunks, so their buffers must not be reused, and may not call back after a write.
 */
function isPlain({ write, end }: ServerResponse): boolean {
  return write === ServerResponse.prototype.write && end === ServerResponse.prototype.end;
}

function writeComplete(exchange: Exchange, head: Head, body: string | Uint8Array = ""): void {
  const { res } = exchange;
  const { status, fields, length } = head;
  const size = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  if (length === undefined) fields.push("Content-Length", `${size}`);
  else if (length !== size) throw new RangeError("Content-Length is not the length of the body");
  if (size > MAX_WRITE_BYTES) return void sendChunks(exchange, toReader(body), { ...head, length: size });
  res.writeHead(status, fields);
  if (size === 0) res.end();
  else res.end(body);
}

/** A complete body as its only chunk. */
function toReader(body: string | Uint8Array): ChunkReader {
  const chunks = [body];
  return {
    async read() {
      const value = chunks.pop();
      return { done: value === undefined, value };
    },
    cancel: async () => undefined,
  };
}

function toHead(response: Response, closes: boolean): Head {
  const { status } = response;
  // After an interim status the client would wait for another response.
  if (!(status >= 200)) throw new RangeError("Not a final status");
  const fields: string[] = [];
  let length: number | undefined;
  response.headers.forEach((value, name) => {
    if (isNamed(name, "content-length")) {
      // A 204 has none (RFC 9110 8.6).
      if (status === 204) return;
      length = Number(value);
    } else if (closes && isNamed(name, "connection")) return;
    fields.push(name, value);
  });
  if (closes) fields.push("Connection", "close");
  return { status, fields, length, closes };
}

function isNamed(name: string, lowercase: string): boolean {
  return name.length === lowercase.length && name.toLowerCase() === lowercase;
}
