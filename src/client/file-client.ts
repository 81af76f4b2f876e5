import type {
  ArchiveRequestOptions,
  FileVersionCommand,
  FolderCommand,
  GetOptions,
  ListPageOptions,
  PutOptions,
  RemoveRequestOptions,
  RequestOptions,
  ResumeOptions,
  SavedUpload,
  UploadContent,
} from "./options.ts";
import type {
  AccountDescription,
  Entry,
  EntryDetails,
  EntryPage,
  FileVersionEntry,
  FolderCommandOutcome,
  FoundEntries,
  PutResult,
} from "./results.ts";

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
   * continues after a broken connection, unless nothing more arrives for five minutes after a failure.
   */
  put(path: string, content: UploadContent, options?: PutOptions): Promise<PutResult>;
  /**
   * Continues an upload with the same content. If the service does not know the upload any more, it starts from the
   * beginning. Rejects with a TypeError for a stream, and for content of another size.
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
