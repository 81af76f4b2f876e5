import { FilesError, type FilesErrorCode } from "files-sdk";
import { isStorageError, type StorageErrorCode } from "../contracts/storage-adapter.ts";

const CODES: Partial<Record<StorageErrorCode, FilesErrorCode>> = {
  "not-found": "NotFound",
  "already-exists": "Conflict",
  "precondition-failed": "Conflict",
  "parent-missing": "Conflict",
  "not-a-folder": "Conflict",
  "not-a-file": "Conflict",
  locked: "Conflict",
  denied: "Unauthorized",
};

/** Errors that files-sdk would take for temporary ones, and that another try only repeats. */
const PERMANENT: readonly StorageErrorCode[] = ["bad-name", "incomplete", "too-large", "unsupported"];

/** Runs an operation whose errors become those of files-sdk. The first error is their `cause`. */
export async function mapToFilesErrors<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (!isStorageError(error)) throw FilesError.wrap(error);
    const permanent = PERMANENT.includes(error.code);
    throw new FilesError(CODES[error.code] ?? "Provider", `fileferry: ${error.message}`, error, { permanent });
  }
}

/** The error for what a storage cannot do. */
export function createUnsupported(what: string): FilesError {
  return new FilesError("Provider", `fileferry: ${what}`, undefined, { permanent: true });
}
