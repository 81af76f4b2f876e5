import type { StorageEntry } from "../../contracts/storage-adapter.ts";

/** The header by which a write knows its own object again, whose answer got lost. */
export const WRITER_HEADER = "x-amz-meta-fileferry-write";

/** What is known of an object without reading it. */
export interface S3Head {
  readonly size: number;
  readonly modified: Date;
  /** With its quotes. */
  readonly etag: string;
  /** Which write made it; `undefined` for one of somebody else. */
  readonly writer: string | undefined;
}

/** What the headers of an answer tell of an object of so many bytes. */
export function toHead(headers: Headers, size: number): S3Head {
  return {
    size,
    modified: toSecond(headers.get("last-modified") ?? ""),
    etag: toEtag(headers.get("etag") ?? ""),
    writer: headers.get(WRITER_HEADER) ?? undefined,
  };
}

/** The entry of a file. */
export function toFileEntry(name: string, { size, modified, etag }: Omit<S3Head, "writer">): StorageEntry {
  return { name, kind: "file", size, modified, ...(etag !== "" && { etag }) };
}

/** An entity-tag in quotes, whether the store sends them or not. */
export function toEtag(text: string): string {
  return text === "" || text.endsWith('"') ? text : `"${text}"`;
}

/** A time as every answer tells it: the ones of listings have milliseconds, those of headers do not. */
export function toSecond(text: string): Date {
  const time = Date.parse(text);
  return new Date(Number.isNaN(time) ? 0 : Math.floor(time / 1000) * 1000);
}
