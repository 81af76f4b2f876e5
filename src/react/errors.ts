import { FileferryError } from "../client/error.ts";

/** The error that a page shows: what is not the client's own, such as a TypeError for a wrong path, is its cause. */
export function toShownError(cause: unknown): FileferryError {
  if (cause instanceof FileferryError) return cause;
  return new FileferryError(cause instanceof Error ? cause.message : String(cause), { cause });
}

/** The error of an upload that must not overwrite: its only condition is that the file does not exist. */
export function toCreationError(cause: unknown): FileferryError {
  const error = toShownError(cause);
  if (error.code !== "precondition-failed") return error;
  const { status } = error;
  return new FileferryError("A file with that name already exists.", { code: "already-exists", status, cause });
}
