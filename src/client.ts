/** A client of the service's JSON API, for browsers and for all runtimes that have `fetch`. */

export { createClient } from "./client/client.ts";
export { FileferryError, type FileferryErrorDetails } from "./client/error.ts";
export type { FileClient } from "./client/file-client.ts";
export type {
  ArchiveRequestOptions,
  ByteStream,
  ClientCredentials,
  ClientOptions,
  FileVersionCommand,
  FolderCommand,
  GetOptions,
  ListPageOptions,
  OpenContent,
  PutOptions,
  RemoveRequestOptions,
  RequestOptions,
  ResumeOptions,
  SavedUpload,
  Sha256Hash,
  UploadContent,
} from "./client/options.ts";
export type {
  AccountDescription,
  Entry,
  EntryDetails,
  EntryPage,
  FileVersionEntry,
  FolderCommandOutcome,
  FoundEntries,
  FoundEntry,
  PutResult,
} from "./client/results.ts";
