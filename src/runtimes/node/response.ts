import { ServerResponse } from "node:http";
import { toByteStream } from "../../contracts/byte-source.ts";
import { type Reply, releaseBody } from "../../http/reply.ts";
import type { ChunkReader } from "../chunk-reader.ts";
import { createBatch } from "./batch.ts";
import type { Exchange } from "./exchange.ts";
import { closeLingering } from "./lingering-close.ts";
import { sendSource } from "./send-source.ts";
import { failResponse, type Head, MAX_WRITE_BYTES, sendChunks } from "./send-stream.ts";
import { isDraining } from "./shutdown.ts";
import { writeHead } from "./write-head.ts";

/** Sends the responses that are ready when no promise can go on. */
const whenReady = createBatch((run) => process.nextTick(run));

/**
 * Sends a response together with all others that are ready when no promise can go on
 * (docs/decisions/0013-small-requests.md). Never throws. If a response cannot be sent, the client gets a blank 500, or
 * after the head a broken connection.
 */
export function sendReply(exchange: Exchange, reply: Reply, lingerMilliseconds: number): void {
  whenReady(exchange, () => writeReply(exchange, reply, lingerMilliseconds));
}

function writeReply(exchange: Exchange, reply: Reply, lingerMilliseconds: number): void {
  if (exchange.isDisconnected || exchange.res.writableEnded) {
    releaseBody(reply.body);
    return;
  }
  const closes = closeLingering(exchange, lingerMilliseconds) || isDraining(exchange.state);
  try {
    writeBody(exchange, reply, toHead(reply, closes));
  } catch {
    releaseBody(reply.body);
    failResponse(exchange, { closes, length: undefined });
  }
}

function writeBody(exchange: Exchange, reply: Reply, head: Head): void {
  const { req, res } = exchange;
  const { status, fields } = head;
  if (req.method === "HEAD" || status === 204 || status === 304) {
    writeHead(res, status, fields);
    res.end();
    releaseBody(reply.body);
    return;
  }
  const { body } = reply;
  if (body === undefined || typeof body === "string" || "byteLength" in body) writeComplete(exchange, head, body);
  else if (!("readInto" in body)) void sendChunks(exchange, body.getReader(), head);
  else if (isPlain(res)) void sendSource(exchange, body, head);
  else void sendChunks(exchange, toByteStream(body).getReader(), head);
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
  writeHead(res, status, fields);
  if (size === 0) return void res.end();
  exchange.sentBytes += size;
  res.end(body);
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

function toHead(reply: Reply, closes: boolean): Head {
  const { status, headers } = reply;
  // After an interim status the client would wait for another response.
  if (!(status >= 200)) throw new RangeError("Not a final status");
  const fields: string[] = [];
  let length: number | undefined;
  for (const [name, value] of headers) {
    if (isNamed(name, "content-length")) {
      // A 204 has none (RFC 9110 8.6).
      if (status === 204) continue;
      length = Number(value);
    } else if (closes && isNamed(name, "connection")) continue;
    fields.push(name, value);
  }
  if (closes) fields.push("Connection", "close");
  return { status, fields, length, closes };
}

function isNamed(name: string, lowercase: string): boolean {
  return name.length === lowercase.length && name.toLowerCase() === lowercase;
}
