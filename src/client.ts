/** A client of the service's JSON API, for browsers and for all runtimes that have `fetch`. */

export { createClient } from "./client/client.ts";
export { FileferryError, type FileferryErrorDetails } from "./client/error.ts";
export type {
  AccountDescription,
  ArchiveRequestOptions,
  ByteStream,
  ClientCredentials,
  ClientOptions,
  Entry,
  EntryDetails,
  EntryPage,
  FileClient,
  FileVersionCommand,
  FileVersionEntry,
  FolderCommand,
  FolderCommandOutcome,
  FoundEntries,
  FoundEntry,
  GetOptions,
  ListPageOptions,
  OpenContent,
  PutOptions,
  PutResult,
  RemoveRequestOptions,
  RequestOptions,
  ResumeOptions,
  SavedUpload,
  Sha256Hash,
  UploadContent,
} from "./client/types.ts";
