import type { ListingEntry } from "../schemas/listing.ts";

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

/** What a search has found. */
export interface FoundEntries {
  /** The nearest ones first. */
  readonly entries: readonly FoundEntry[];
  /** Whether a limit of the service has ended the search: there may be more. */
  readonly truncated: boolean;
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
   * begin anew. Not called for uploads in one request.
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

/** A member of a folder, as the JSON API has it. */
export interface Entry extends Omit<ListingEntry, "modified"> {
  /** POSIX seconds; `null` if the storage does not know the time. */
  readonly modified: number | null;
}

/** A member below a folder that a search has found. */
export interface FoundEntry extends Entry {
  /** The names from the folder of the search on, separated by `/`. */
  readonly path: string;
}

/** Some members of a folder. */
export interface EntryPage {
  /** Sorted by the code points of their names. */
  readonly entries: readonly Entry[];
  /** The cursor of the next page; `undefined` on the last one. */
  readonly cursor: string | undefined;
}

/** A file or folder. Of a folder, only the name is known. */
export interface EntryDetails extends Entry {
  /** The entity tag of the file's version, if the storage has one. */
  readonly etag: string | undefined;
}

/** The stored version of an uploaded file, as far as the storage knows it. */
export interface PutResult {
  readonly etag: string | undefined;
  /** POSIX seconds. */
  readonly modified: number | null;
}

/** A command of a folder: `delete`, `create-folder`, `create-folder-if-missing`, or a trigger of the service. */
export interface FolderCommand {
  readonly command: string;
  /** The name of a member; a trigger takes several, too. */
  readonly target: string | readonly string[];
}

/** The result of a command for one target. */
export interface FolderCommandOutcome {
  readonly target: string;
  /** Why it failed; `null` if it succeeded. */
  readonly message: string | null;
  /** The ID of the entry in the trash, if the target was moved there. */
  readonly trash?: string;
}

/** An earlier version of a file. */
export interface FileVersionEntry {
  readonly id: string;
  /** When the file got this content, in POSIX seconds. */
  readonly modified: number;
  /** Bytes. */
  readonly size: number;
}

/** A command on versions of a file: restores one, or removes some for good. */
export interface FileVersionCommand {
  readonly command: "restore" | "purge";
  /** The ID of a version, or several. */
  readonly target: string | readonly string[];
}

/** The account of a request, as the service describes it. */
export interface AccountDescription {
  readonly name: string;
  readonly groups: readonly string[];
  /** How the request was identified: `basic`, `bearer`, `session`, `cookie`, `certificate` or `identity`. */
  readonly login: string;
  /** How requests can be identified, in addition to client certificates. */
  readonly logins: readonly string[];
  /** The operations that the account may do in its root folder, such as `read` and `write`. */
  readonly permissions: readonly string[];
  /** The size limit of a file in bytes; `null` if there is none. */
  readonly maxFileBytes: number | null;
  /** What the service can do for the account. */
  readonly capabilities: {
    readonly archive: boolean;
    readonly passwordChange: boolean;
    /** The home folder's URL can be mounted by WebDAV clients. */
    readonly webdav: boolean;
    readonly triggers: readonly string[];
  };
}

/**
 * The files of an account. Paths are the account's, such as `/reports/2026.pdf`, not encoded, without a `/` at the end;
 * the root is `/`. A path with an empty segment, `.` or `..` is a TypeError.
 *
 * Methods reject with {@link FileferryError}, or with the reason of an aborted signal.
 */
export interface FileClient {
  /** Yields the members of a folder while they arrive, in the order of the storage. */
  list(path: string, options?: RequestOptions): AsyncGenerator<Entry, void, undefined>;
  /**
   * Returns a page of the members of a folder, which stays complete while other members are created or removed. Rejects
   * with code `cursor-outdated` if the cursor is of another folder.
   */
  listPage(path: string, options: ListPageOptions): Promise<EntryPage>;
  /**
   * Returns what is below a folder and has a text in its name, the nearest first. The text has 1 to 255 characters;
   * letters count the same in both cases, and with or without accents.
   */
  search(path: string, text: string, options?: RequestOptions): Promise<FoundEntries>;
  /** Returns what is known of a file or folder. */
  stat(path: string, options?: RequestOptions): Promise<EntryDetails>;
  /** Downloads a file. The status of the response is 200, 206 for a range, or 304. */
  get(path: string, options?: GetOptions): Promise<Response>;
  /**
   * Uploads a file. It replaces an existing one, unless a condition prevents this. Large content that can be read again
   * continues after a broken connection, for as long as something arrives every five minutes.
   */
  put(path: string, content: UploadContent, options?: PutOptions): Promise<PutResult>;
  /**
   * Continues an upload with the same content. If the service does not know the upload any more, it begins anew.
   * Rejects with a TypeError for a stream, and for content of another size.
   */
  resume(saved: SavedUpload, content: UploadContent, options?: ResumeOptions): Promise<PutResult>;
  /** Deletes a file, or a folder with everything in it. */
  remove(path: string, options?: RemoveRequestOptions): Promise<void>;
  /** Creates a folder, whose parent must exist. */
  createFolder(path: string, options?: RequestOptions): Promise<void>;
  /** Downloads a folder, or some of its members, as a ZIP archive. */
  archive(path: string, options?: ArchiveRequestOptions): Promise<Response>;
  /**
   * Runs commands on members of a folder in order. Rejects if any of them failed; `outcomes` of the error then has the
   * result of each target.
   */
  run(
    folder: string,
    commands: readonly FolderCommand[],
    options?: RequestOptions,
  ): Promise<readonly FolderCommandOutcome[]>;
  /** Returns the earlier versions of a file, the newest first. Rejects with status 404 if the service has none. */
  versions(path: string, options?: RequestOptions): Promise<readonly FileVersionEntry[]>;
  /** Runs commands on versions of a file in order. Rejects as {@link run} does. */
  runOnVersions(
    path: string,
    commands: readonly FileVersionCommand[],
    options?: RequestOptions,
  ): Promise<readonly FolderCommandOutcome[]>;
  /** Returns the account of the credentials. */
  whoami(options?: RequestOptions): Promise<AccountDescription>;
}
