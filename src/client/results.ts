import type { ListingEntry } from "../schemas/listing.ts";

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

/** What a search has found. */
export interface FoundEntries {
  /** The nearest ones first. */
  readonly entries: readonly FoundEntry[];
  /** Whether a limit of the service has ended the search: there may be more. */
  readonly truncated: boolean;
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
