/**
 * The part of an R2 bucket's binding that the storage uses, such as `env.FILES`. Callers therefore do not need the
 * types of a runtime.
 */
export interface R2Bucket {
  head(key: string): Promise<R2Object | null>;
  get(key: string, options?: { range?: { offset: number; length: number } }): Promise<R2ObjectBody | null>;
  /** Resolves with `null` if the condition is not met. */
  put(key: string, value: Uint8Array, options?: R2Metadata & { onlyIf?: R2Condition }): Promise<R2Object | null>;
  /** Removes at most 1,000 keys. */
  delete(keys: string[]): Promise<void>;
  list(options: R2ListOptions): Promise<R2Page>;
  createMultipartUpload(key: string, options?: R2Metadata): Promise<R2MultipartUpload>;
  /** Returns an upload that was created before, without a request. */
  resumeMultipartUpload(key: string, uploadId: string): R2MultipartUpload;
}

/**
 * What must exist when a key is written: one version, by its tag without quotes, or nothing. Only `*` matches all
 * versions.
 */
export type R2Condition = { readonly etagMatches: string } | { readonly etagDoesNotMatch: "*" };

/** What an object has in addition to its content. Listings do not report it. */
export interface R2Metadata {
  readonly httpMetadata?: R2HttpMetadata;
  readonly customMetadata?: Record<string, string>;
}

/** The headers with which R2 itself would serve an object. */
export interface R2HttpMetadata {
  contentType?: string;
  contentLanguage?: string;
  contentDisposition?: string;
  contentEncoding?: string;
  cacheControl?: string;
  cacheExpiry?: Date;
}

/** An object without its content. */
export interface R2Object extends R2Metadata {
  readonly key: string;
  readonly size: number;
  /** Entity-tag with quotes. */
  readonly httpEtag: string;
  readonly uploaded: Date;
}

/** An object with its content, or with the requested part. */
export interface R2ObjectBody extends R2Object {
  readonly body: ReadableStream<Uint8Array>;
}

/** Selects the keys of a listing. */
export interface R2ListOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  readonly cursor?: string;
  readonly limit?: number;
  /** Only keys after this one. */
  readonly startAfter?: string;
}

/** One page of keys, in byte order. */
export interface R2Page {
  readonly objects: readonly R2Object[];
  /** Prefixes of keys, up to and including the delimiter. */
  readonly delimitedPrefixes: readonly string[];
  readonly truncated: boolean;
  readonly cursor?: string;
}

/** A multipart upload. All parts except the last have the same size. */
export interface R2MultipartUpload {
  readonly uploadId: string;
  uploadPart(partNumber: number, value: Uint8Array): Promise<R2UploadedPart>;
  abort(): Promise<void>;
  complete(parts: R2UploadedPart[]): Promise<R2Object>;
}

/** A part that was uploaded. */
export interface R2UploadedPart {
  readonly partNumber: number;
  readonly etag: string;
}
