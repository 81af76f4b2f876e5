import { Headers, Response } from "./fetch.ts";
import type { SafeHtml } from "./html.ts";

/** Header fields of an answer; an array is sent as one field line for each value. */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Our own pages: no script, no style, no frame, forms to ourselves only (SECURITY 21). */
const PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** An answer with `body` as JSON in UTF-8. */
export function jsonResponse(status: number, body: unknown, fields: HeaderFields = {}): Response {
  return textResponse(status, JSON.stringify(body), { ...fields, "Content-Type": "application/json; charset=utf-8" });
}

/** An answer with one of our own pages, whole or sent as it is read. */
export function pageResponse(
  status: number,
  page: SafeHtml | ReadableStream<Uint8Array>,
  fields: HeaderFields = {},
): Response {
  const pageFields = {
    ...fields,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": PAGE_POLICY,
    "Referrer-Policy": "same-origin",
  };
  return "getReader" in page
    ? streamResponse(status, page, pageFields)
    : textResponse(status, String(page), pageFields);
}

/** An answer without content. */
export function emptyResponse(status: number, fields: HeaderFields = {}): Response {
  return new Response(null, { status, headers: toHeaders(fields) });
}

/** An answer whose content is sent as it is read. */
export function streamResponse(status: number, body: ReadableStream<Uint8Array>, fields: HeaderFields): Response {
  return new Response(body, { status, headers: toHeaders(fields) });
}

/** The answer to HEAD that stands for `response`: the same status and header fields without the content (RFC 9110 9.3.2). */
export function withoutContent(response: Response): Response {
  response.body?.cancel().catch(() => undefined);
  return new Response(null, { status: response.status, headers: response.headers });
}

function textResponse(status: number, text: string, fields: HeaderFields): Response {
  const bytes = new TextEncoder().encode(text);
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
