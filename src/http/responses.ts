import type { ByteSource } from "../contracts/byte-source.ts";
import type { StoredFile } from "../contracts/storage-adapter.ts";
import { Headers, Response } from "../platform/fetch.ts";
import type { SafeHtml } from "./html.ts";
import { createSourceResponse, createStreamResponse } from "./source-response.ts";

/** Header fields of a response. Each text of an array becomes a field line of its own. */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A response with `body` as JSON in UTF-8. */
export function jsonResponse(status: number, body: unknown, fields: HeaderFields = {}): Response {
  return textResponse(status, JSON.stringify(body), { ...fields, "Content-Type": "application/json; charset=utf-8" });
}

/** A response with HTML. */
export function htmlResponse(status: number, content: SafeHtml, fields: HeaderFields): Response {
  return textResponse(status, String(content), { ...fields, "Content-Type": "text/html; charset=utf-8" });
}

/** A response without content. */
export function emptyResponse(status: number, fields: HeaderFields = {}): Response {
  return new Response(null, { status, headers: toHeaders(fields) });
}

/** A response whose content is sent while it is read. */
export function streamResponse(status: number, body: ReadableStream<Uint8Array>, fields: HeaderFields): Response {
  return createStreamResponse(body, { status, headers: toHeaders(fields) });
}

/**
 * A response whose content is read from a source while it is sent. No stream is created if the runtime can read
 * sources.
 */
export function sourceResponse(status: number, source: ByteSource, fields: HeaderFields): Response {
  return createSourceResponse(source, { status, headers: toHeaders(fields) });
}

/** A response with the content of a file, in the form that is fastest to send. */
export function fileResponse(status: number, file: StoredFile, fields: HeaderFields): Response {
  const { source } = file;
  if (source === undefined) return streamResponse(status, file.body, fields);
  if ("readInto" in source) return sourceResponse(status, source, fields);
  return new Response(source as BodyInit & Uint8Array, { status, headers: toHeaders(fields) });
}

/**
 * The response to HEAD for a response to GET: the same status and header fields without the content (RFC 9110 9.3.2).
 */
export function withoutContent(response: Response): Response {
  response.body?.cancel().catch(() => undefined);
  return new Response(null, { status: response.status, headers: response.headers });
}

/** A response with a text in UTF-8. The fields must have its `Content-Type`. */
export function textResponse(status: number, text: string, fields: HeaderFields): Response {
  return bytesResponse(status, new TextEncoder().encode(text), fields);
}

/** A response with bytes. The fields must have their `Content-Type`. */
export function bytesResponse(status: number, bytes: Uint8Array<ArrayBuffer>, fields: HeaderFields): Response {
  return new Response(bytes, { status, headers: toHeaders({ ...fields, "Content-Length": String(bytes.byteLength) }) });
}

function toHeaders(fields: HeaderFields): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    for (const line of typeof value === "string" ? [value] : value) headers.append(name, line);
  }
  return headers;
}
