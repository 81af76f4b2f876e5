/** Settings of a client. */
export interface ClientOptions {
  /**
   * Where the service is, with its `basePath`: `https://example.org/files`. In a browser it may be relative to the
   * page's origin, or empty.
   */
  readonly baseUrl: string | URL;
  readonly credentials: ClientCredentials;
  /** Sends the requests. With it, uploads in browsers do not use XMLHttpRequest. Default: the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** The header for the metadata of uploads, which the service's option `metadataFields` names. Default: none. */
  readonly metadataHeader?: string;
  /**
   * Creates a SHA-256 for the options `digest` and `verify`, such as `sha256.create` of `@noble/hashes`. Default: that
   * of Node 20.16, Deno or Bun; browsers and Workers have none.
   */
  readonly createSha256?: () => Sha256Hash;
}

/** A SHA-256 of content that comes in parts. */
export interface Sha256Hash {
  /** Adds bytes, which may change afterwards. */
  update(bytes: Uint8Array): unknown;
  /** Returns the hash of all bytes, 32 bytes. It is called once. */
  digest(): Uint8Array | Promise<Uint8Array>;
}

/**
 * How requests are authenticated: HTTP Basic, a session's ID, a bearer token, or the session cookie that the browser
 * has for the service's origin.
 */
export type ClientCredentials =
  | { readonly username: string; readonly password: string }
  | { readonly session: string }
  | { readonly token: string }
  | "cookie";

/** What every request can have. */
export interface RequestOptions {
  /** Ends the request. It then rejects with the signal's reason, by default an `AbortError`. */
  readonly signal?: AbortSignal | undefined;
}

/** Settings of a page of a listing. */
export interface ListPageOptions extends RequestOptions {
  /** The maximum number of entries, 1 to 10,000. */
  readonly limit: number;
  /** The cursor of the previous page. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** Settings of a download. */
export interface GetOptions extends RequestOptions {
  /** The bytes from `start` to `end` inclusive; to the end of the file without `end`. */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined;
  /** Get the range only from the version with this entity tag, otherwise the whole file. */
  readonly ifRange?: string | undefined;
  /** Fail with status 412 unless the file has one of these entity tags. */
  readonly ifMatch?: string | undefined;
  /** Respond with status 304 and no content if the file has one of these entity tags. */
  readonly ifNoneMatch?: string | undefined;
  /**
   * Whether the content is verified by the digest that the service sends: reading it to the end fails with code
   * `digest-mismatch` if it differs. The request fails with code `digest-missing` if the service sends none. Not for a
   * range. Default: false.
   */
  readonly verify?: boolean | undefined;
  /** The ID of an earlier version of the file. Default: its present content. */
  readonly version?: string | undefined;
}

/** Settings of an upload, and of one that goes on. */
export interface ResumeOptions extends RequestOptions {
  /**
   * Receives the number of bytes sent, and of all bytes if it is known. After a broken connection it continues with the
   * number that has arrived. After a success a last call has the number of all bytes twice.
   */
  readonly onProgress?: ((sent: number, total: number | undefined) => void) | undefined;
  /**
   * Receives what {@link FileClient.resume} needs, once the service keeps what arrives, and again if the upload has to
   * start from the beginning. Not called for uploads in one request.
   */
  readonly onSaved?: ((saved: SavedUpload) => void) | undefined;
  /** Whether the service keeps what has arrived if the upload is aborted or fails. Default: false, it is discarded. */
  readonly keep?: boolean | undefined;
}

/** Settings of an upload. */
export interface PutOptions extends ResumeOptions {
  /**
   * Whether the upload continues after a broken connection. This needs one more request, and content that can be read
   * again. Default: for content of 8 MiB or more, and for functions.
   */
  readonly resumable?: boolean | undefined;
  /** The number of bytes of content that is a function. Default: unknown. */
  readonly size?: number | undefined;
  /** Fail with status 412 unless the file has one of these entity tags. */
  readonly ifMatch?: string | undefined;
  /** `*`: fail with status 412 if the file exists. */
  readonly ifNoneMatch?: string | undefined;
  /**
   * Whether the content is read first, to send its SHA-256. The service stores nothing if other content arrives. Not
   * for a stream; the upload is one request. Default: false.
   */
  readonly digest?: boolean | undefined;
  /** Metadata by key, for the header that `metadataHeader` names. */
  readonly metadata?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

/** Settings of a deletion. */
export interface RemoveRequestOptions extends RequestOptions {
  /** Fail with status 412 unless the file has one of these entity tags. */
  readonly ifMatch?: string | undefined;
}

/** Settings of an archive. */
export interface ArchiveRequestOptions extends RequestOptions {
  /** The names of the folder's members to be archived. Default: all. */
  readonly members?: readonly string[] | undefined;
}

/** What can be uploaded. A stream can be read once: an upload of it does not continue after a broken connection. */
export type UploadContent = Blob | ArrayBuffer | ArrayBufferView<ArrayBuffer> | string | ByteStream | OpenContent;

/** A stream of bytes. */
export type ByteStream = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Opens content at an offset in bytes. */
export type OpenContent = (offset: number) => ByteStream | Promise<ByteStream>;

/**
 * An upload that can go on in another process, or after the page was closed: plain data, to be stored as JSON. It works
 * for the account that began the upload, and is no secret.
 */
export interface SavedUpload extends Pick<PutOptions, "ifMatch" | "ifNoneMatch" | "metadata"> {
  /** The ID that the service has given to the upload. */
  readonly id: string;
  /** The path of the file. */
  readonly path: string;
  /** The number of bytes of the file; absent if it is not known. */
  readonly size?: number | undefined;
}

/**
 * A command of a folder: `delete`, `purge`, `create-folder`, `create-folder-if-missing`, or a trigger of the service.
 */
export interface FolderCommand {
  readonly command: string;
  /** The name of a member; a trigger takes several, too. */
  readonly target: string | readonly string[];
}

/** A command on versions of a file: restores one, or removes some for good. */
export interface FileVersionCommand {
  readonly command: "restore" | "purge";
  /** The ID of a version, or several. */
  readonly target: string | readonly string[];
}
