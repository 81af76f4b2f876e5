import type { FileferryError } from "fileferry/client";

/** What this page says for codes of the service; docs/errors.md lists all of them. */
const MESSAGES: Readonly<Record<string, string>> = {
  "already-exists": "A file with this name already exists.",
  "credentials-wrong": "The user name or the password is wrong.",
  denied: "You are not allowed to do this.",
  "login-ended": "Your session has ended. Please log in again.",
  "not-a-file": "A folder with this name already exists.",
  "not-found": "This no longer exists.",
  "session-invalid": "Your session has ended. Please log in again.",
  "storage-full": "There is no space left.",
  "too-large": "The file is too large.",
  "too-many-transfers": "The service is busy. Please try again later.",
};

/** The sentence that a user reads about a failure. */
export function toMessage({ code, status, message }: FileferryError): string {
  if (status === undefined) return "The service cannot be reached, or the file cannot be read.";
  return MESSAGES[code ?? ""] ?? message;
}
