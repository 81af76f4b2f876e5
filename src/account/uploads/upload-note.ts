import type { Trace } from "../../contracts/connection.ts";
import type { EventLink } from "../../contracts/events/envelope.ts";
import type { Metadata } from "../../contracts/events/transfers.ts";
import type { EntityTags } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { UploadProtocol } from "../../http/uploads/request-types.ts";

/** The link of an upload, with the account that it belongs to, for events that no request causes. */
export interface UploadLink extends EventLink {
  readonly username: string;
  /** The path of the account that is the root of the link. The path of the note is below it. */
  readonly root: readonly string[];
}

/** What the service keeps with an upload, for whichever process and request continues it. */
export interface UploadNote {
  /** The virtual path of the file: segments below the root of the account, or of the link. */
  readonly path: readonly string[];
  readonly protocol: UploadProtocol;
  /** The account at creation, for events that no request causes. */
  readonly account: { readonly uuid: string; readonly email: string };
  /** The ID of the API key that alone of all restricted keys sees the upload. */
  readonly key?: string;
  /** The link that the upload came by. Absent: it came by none. */
  readonly link?: UploadLink;
  /** The file gets a name that is free when it is complete, as near to that of `path` as possible. */
  readonly isNamedLater?: true;
  /** The protocol of the creating request, for the same events. */
  readonly component: "http" | "https";
  readonly trace?: Trace;
  /** `Upload-Metadata` as it was received. */
  readonly uploadMetadata?: string;
  /** The metadata of the file (4.4). */
  readonly metadata?: Metadata;
  /** The conditions of the creating request, which are checked again at completion. */
  readonly ifMatch?: EntityTags;
  readonly ifNoneMatch?: EntityTags;
  /** The lock tokens of the creating request, which are submitted again at completion. */
  readonly tokens?: readonly string[];
  /** `partial`: it only becomes a part of a file. Otherwise the field that joined it, without the token of a link. */
  readonly concat?: string;
  /** Event 40017 was emitted. Without it, the process that made the file may have ended too early. */
  readonly isReported?: true;
  /** The file that was made by joining; its bytes are not in the upload. */
  readonly joined?: { readonly etag?: string; readonly size: number; readonly modified: number };
}

/**
 * The path that an upload has in the storage. That of a partial one, and of one that is named later, is a path that no
 * other upload has.
 */
export function toKeptPath(id: string, { path, concat, isNamedLater }: UploadNote): readonly string[] {
  if (concat === "partial") return [...path, id];
  return isNamedLater === true ? [...path.slice(0, -1), id] : path;
}

/** As storages allow it. */
const MAX_BYTES = 16 * 1024;
/** What is added to a note later: conditions that depend on the file, lock tokens, and the joined file. */
const RESERVED_BYTES = 1024;

/** @throws HttpError `malformed` if the header fields of the request make the note too large. */
export function toNoteText(note: UploadNote, max = MAX_BYTES): string {
  const text = JSON.stringify(note);
  if (new TextEncoder().encode(text).byteLength <= max) return text;
  throw createError("upload-fields-too-large", { values: { max } });
}

/** Checks the note of a request before anything is done: nothing may be too large later. @throws as `toNoteText`. */
export function checkNoteSize(note: UploadNote): void {
  toNoteText(note, MAX_BYTES - RESERVED_BYTES);
}

/** Returns `undefined` for a text that no service has written. */
export function parseNote(text: string): UploadNote | undefined {
  try {
    const note: unknown = JSON.parse(text);
    return isNote(note) ? note : undefined;
  } catch {
    return undefined;
  }
}

function isNote(note: unknown): note is UploadNote {
  if (typeof note !== "object" || note === null) return false;
  const { path, protocol, account } = note as Partial<UploadNote>;
  return Array.isArray(path) && (protocol === "tus" || protocol === "draft") && typeof account === "object";
}
