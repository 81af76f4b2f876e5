/** Why a storage refused an operation. */
export type StorageErrorCode =
  | "not-found"
  | "already-exists"
  | "parent-missing"
  | "not-a-folder"
  | "not-a-file"
  | "precondition-failed"
  /** The storage cannot use this name: it is too long, or has characters that are not possible. */
  | "bad-name"
  /** The content does not have the announced size. */
  | "incomplete"
  /** The storage's own permissions do not allow it. */
  | "denied"
  | "no-space"
  | "too-large"
  /** The storage is temporarily unavailable: a retry may help. */
  | "unavailable"
  /** The storage keeps no such attribute. */
  | "unsupported"
  /** The upload has another offset. */
  | "offset-mismatch"
  /** Another call uses the upload. */
  | "locked"
  /** The upload has ended, and its bytes are gone. */
  | "gone";

/**
 * A failure whose cause clients may learn. The message is for the log only: it may contain paths and errors of the
 * system, and the service never sends it to clients.
 */
export class StorageError extends Error {
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string = code, options?: ErrorOptions) {
    super(message, options);
    this.name = "StorageError";
    this.code = code;
  }
}

/** Whether a thrown value is a {@link StorageError}. It also recognizes those of another copy of this package. */
export function isStorageError(error: unknown): error is StorageError {
  return error instanceof Error && error.name === "StorageError" && "code" in error;
}

/** Whether a thrown value is a {@link StorageError} with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly StorageErrorCode[]): error is StorageError {
  return isStorageError(error) && codes.includes(error.code);
}
