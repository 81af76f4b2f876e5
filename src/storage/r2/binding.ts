/** What of an R2 bucket's binding is used, so that nobody needs the types of a runtime to call us. `env.FILES` has it. */
export interface R2Bucket {
  head(key: string): Promise<R2Object | null>;
  get(key: string, options?: { range?: { offset: number; length: number } }): Promise<R2ObjectBody | null>;
  /** `null` when the condition is not met. */
  put(key: string, value: Uint8Array, options?: { onlyIf?: R2Condition }): Promise<R2Object | null>;
  /** At most 1,000 keys. */
  delete(keys: string[]): Promise<void>;
  list(options: R2ListOptions): Promise<R2Page>;
  createMultipartUpload(key: string): Promise<R2MultipartUpload>;
}

/** What is to be there: one version, by its tag without quotes, or nothing, as nothing but `*` matches everything. */
export type R2Condition = { readonly etagMatches: string } | { readonly etagDoesNotMatch: "*" };

/** An object without its content. */
export interface R2Object {
  readonly key: string;
  readonly size: number;
  /** With its quotes. */
  readonly httpEtag: string;
  readonly uploaded: Date;
}

/** An object with its content, or with the part that was asked for. */
export interface R2ObjectBody extends R2Object {
  readonly body: ReadableStream<Uint8Array>;
}

/** Which keys are listed. */
export interface R2ListOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  readonly cursor?: string;
  readonly limit?: number;
}

/** Some keys, in the order of their bytes. */
export interface R2Page {
  readonly objects: readonly R2Object[];
  /** What keys begin with, up to the delimiter. */
  readonly delimitedPrefixes: readonly string[];
  readonly truncated: boolean;
  readonly cursor?: string;
}

/** An object that comes in parts, all of one size but the last. */
export interface R2MultipartUpload {
  uploadPart(partNumber: number, value: Uint8Array): Promise<R2UploadedPart>;
  abort(): Promise<void>;
  complete(parts: R2UploadedPart[]): Promise<R2Object>;
}

/** A part that has arrived. */
export interface R2UploadedPart {
  readonly partNumber: number;
  readonly etag: string;
}
