import { toEtag, toSecond } from "../object-store/object-entry.ts";

/** Header by which a write recognizes its own object if the response to it was lost. */
export const WRITER_HEADER = "x-amz-meta-fileferry-write";
/** Header of a copy: the entity-tag of the version that was copied. */
export const SOURCE_HEADER = "x-amz-meta-fileferry-source";

/** What the store reports about an object without its content. */
export interface S3Head {
  readonly size: number;
  readonly modified: Date;
  /** Entity-tag with quotes. */
  readonly etag: string;
  /** Tag of the write that created the object; `undefined` if other software created it. */
  readonly writer: string | undefined;
  /** Entity-tag of the version that it is a copy of; `undefined` if it was not copied. */
  readonly source: string | undefined;
  /** The version, in a bucket that keeps versions. */
  readonly versionId: string | undefined;
  /** Whether other software stored it with a `Content-Encoding`, by which clients decode it. */
  readonly isEncoded: boolean;
}

/** Reads the headers of a response about an object of this size. */
export function toHead(headers: Headers, size: number): S3Head {
  return {
    size,
    modified: toSecond(headers.get("last-modified") ?? ""),
    etag: toEtag(headers.get("etag") ?? ""),
    writer: headers.get(WRITER_HEADER) ?? undefined,
    source: headers.get(SOURCE_HEADER) ?? undefined,
    versionId: toVersionId(headers.get("x-amz-version-id")),
    isEncoded: hasContentEncoding(headers),
  };
}

/** Whether a response has a `Content-Encoding` other than that of an upload in chunks, which some stores keep. */
export function hasContentEncoding(headers: Headers): boolean {
  return !/^(?:|identity|aws-chunked)$/i.test(headers.get("content-encoding") ?? "");
}

/** `null` is the version of an object from before the bucket kept versions. It can be replaced, so it is none. */
function toVersionId(text: string | null): string | undefined {
  return text === null || text === "" || text === "null" ? undefined : text;
}
