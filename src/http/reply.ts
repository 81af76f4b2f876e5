import type { ByteSource } from "../contracts/byte-source.ts";
import type { StoredFile } from "../contracts/storage-adapter.ts";
import type { SafeHtml } from "./html.ts";

/** Header fields of a response. */
export type HeaderFields = Readonly<Record<string, string | undefined>>;

/** The content of a {@link Reply}. The runtime that gets the reply sends or releases it. */
export type ReplyBody = string | Uint8Array | ByteSource | ReadableStream<Uint8Array>;

/** A response as a plain object, which costs less than a `Response`. */
export interface Reply {
  readonly status: number;
  /** Names and values, one pair for each field line. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: ReplyBody | undefined;
}

/** The header of JSON. */
export const JSON_FIELDS = { "Content-Type": "application/json; charset=utf-8" } as const;
/** The header of a page. */
export const HTML_FIELDS = { "Content-Type": "text/html; charset=utf-8" } as const;

/** A reply with `body` as JSON in UTF-8. */
export function jsonReply(status: number, body: unknown, fields: HeaderFields = {}): Reply {
  return textReply(status, JSON.stringify(body), { ...fields, ...JSON_FIELDS });
}

/** A reply with HTML. */
export function htmlReply(status: number, content: SafeHtml, fields: HeaderFields): Reply {
  return textReply(status, String(content), { ...fields, ...HTML_FIELDS });
}

/** A reply without content. */
export function emptyReply(status: number, fields: HeaderFields = {}): Reply {
  return { status, headers: toLines(fields) };
}

/** A reply whose content is read from a source while it is sent. */
export function sourceReply(status: number, source: ByteSource, fields: HeaderFields): Reply {
  return { status, headers: toLines(fields), body: source };
}

/** A reply with the content of a file, in the form that is fastest to send. */
export function fileReply(status: number, file: StoredFile, fields: HeaderFields): Reply {
  return { status, headers: toLines(fields), body: file.source ?? file.body };
}

/**
 * The response to HEAD for a response to GET: the same status and header fields without the content (RFC 9110 9.3.2).
 */
export function withoutContent({ status, headers, body }: Reply): Reply {
  releaseBody(body);
  return { status, headers };
}

/**
 * As {@link withoutContent}, for a POST that stands for HEAD. A client would wait for the content that `Content-Length`
 * announces.
 */
export function withoutAnyContent(reply: Reply): Reply {
  const { status, headers } = withoutContent(reply);
  return { status, headers: headers.filter(([name]) => name !== "Content-Length" && name !== "Content-Type") };
}

/** A reply with a text in UTF-8. The fields must have its `Content-Type`. */
export function textReply(status: number, text: string, fields: HeaderFields): Reply {
  return bytesReply(status, new TextEncoder().encode(text), fields);
}

/** A reply with bytes. The fields must have their `Content-Type`. */
export function bytesReply(status: number, bytes: Uint8Array, fields: HeaderFields): Reply {
  return { status, headers: toLines({ ...fields, "Content-Length": String(bytes.byteLength) }), body: bytes };
}

function toLines(fields: HeaderFields): Reply["headers"] {
  const lines: [string, string][] = [];
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) lines.push([name, value]);
  }
  return lines;
}

/** Releases a body that is not sent. */
export function releaseBody(body: ReplyBody | undefined): void {
  if (typeof body !== "object" || "byteLength" in body) return;
  try {
    ("readInto" in body ? body.close() : body.cancel()).catch(() => undefined);
  } catch {
    // A locked body belongs to another reader.
  }
}
