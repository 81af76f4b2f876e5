import { encodeKey } from "../object-store/http/encode.ts";
import type { S3Client } from "./client.ts";
import { SOURCE_HEADER, WRITER_HEADER } from "./entries.ts";

/** Metadata that a copy keeps, in addition to that of this storage. */
const KEPT = /^(?:cache-control|content-(?:disposition|encoding|language|type)|expires|x-amz-meta-.+)$/;

/** One version of an object that is copied. */
export interface S3CopySource {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  /** Its metadata, as headers of the copy. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the headers that name the version to copy. */
export function toCopyHeaders(
  { settings }: S3Client,
  { key, etag }: Pick<S3CopySource, "key" | "etag">,
): Record<string, string> {
  return {
    "x-amz-copy-source": `/${settings.bucket}/${encodeKey(key)}`,
    ...(etag !== "" && { "x-amz-copy-source-if-match": etag }),
    "x-amz-metadata-directive": "REPLACE",
  };
}

/** Returns the metadata of a copy. */
export function toTagHeaders({ headers, etag }: S3CopySource, writer: string): Record<string, string> {
  return { ...headers, [WRITER_HEADER]: writer, [SOURCE_HEADER]: etag };
}

/** Returns the metadata of an object as headers of a request. Only ASCII arrives everywhere as it was sent. */
export function toKeptHeaders(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of headers) {
    const isChunked = name === "content-encoding" && value.includes("aws-chunked");
    if (KEPT.test(name) && !isChunked && /^[\x20-\x7e]*$/.test(value)) kept[name] = value;
  }
  return kept;
}
