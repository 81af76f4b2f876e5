import { HttpError, isHttpError, isStorageError, type StorageEntry, type StorageErrorCode } from "fileferry";
import ssh2, { type Attributes, type FileEntry } from "ssh2";

const { STATUS_CODE } = ssh2.utils.sftp;

/** A status of SFTP with the text that goes with it. */
export interface Status {
  readonly code: number;
  readonly message: string;
}

const INTERNAL_ERROR: Status = { code: STATUS_CODE.FAILURE, message: "Internal error" };

/** The statuses of storage errors. SFTP version 3 has few codes: most are a FAILURE that the text explains. */
const STATUS_OF_STORAGE_ERROR: Readonly<Record<StorageErrorCode, Status>> = {
  "not-found": { code: STATUS_CODE.NO_SUCH_FILE, message: "No such file or folder" },
  "parent-missing": { code: STATUS_CODE.NO_SUCH_FILE, message: "The parent folder does not exist" },
  denied: { code: STATUS_CODE.PERMISSION_DENIED, message: "Permission denied" },
  "already-exists": { code: STATUS_CODE.FAILURE, message: "A file or folder with that name already exists" },
  "not-a-folder": { code: STATUS_CODE.FAILURE, message: "It is not a folder" },
  "not-a-file": { code: STATUS_CODE.FAILURE, message: "It is not a file" },
  "precondition-failed": { code: STATUS_CODE.FAILURE, message: "The file already exists, or does not exist" },
  "bad-name": { code: STATUS_CODE.FAILURE, message: "The name is not valid" },
  incomplete: { code: STATUS_CODE.FAILURE, message: "The file is incomplete" },
  "no-space": { code: STATUS_CODE.FAILURE, message: "No space left" },
  "too-large": { code: STATUS_CODE.FAILURE, message: "The file is too large" },
  unsupported: { code: STATUS_CODE.OP_UNSUPPORTED, message: "The storage does not keep this" },
  unavailable: { code: STATUS_CODE.FAILURE, message: "The storage failed; try again later" },
  "offset-mismatch": { code: STATUS_CODE.FAILURE, message: "The upload continues at another offset" },
  locked: { code: STATUS_CODE.FAILURE, message: "The upload is in use" },
  gone: { code: STATUS_CODE.FAILURE, message: "The upload has expired" },
};

/** The status for a thrown error; `undefined` if clients may not learn about it. */
export function toStatus(error: unknown): Status | undefined {
  // The message of a StorageError is for the log only: it may contain paths of the machine.
  if (isStorageError(error)) return STATUS_OF_STORAGE_ERROR[error.code];
  if (!isHttpError(error)) return undefined;
  // The message of an HttpError is for the client.
  return { code: toCode(error), message: error.message };
}

/** The status for a thrown error. `report` gets the errors that clients may not learn about. */
export function toStatusOrReport(error: unknown, report: (error: unknown) => void): Status {
  const status = toStatus(error);
  if (status === undefined) report(error);
  return status ?? INTERNAL_ERROR;
}

function toCode({ failure }: HttpError): number {
  if (failure === "not-found") return STATUS_CODE.NO_SUCH_FILE;
  if (failure === "denied") return STATUS_CODE.PERMISSION_DENIED;
  return failure === "method-not-implemented" ? STATUS_CODE.OP_UNSUPPORTED : STATUS_CODE.FAILURE;
}

/**
 * The names of a path below the account's root, where relative paths start too. `.` and `..` are resolved as text, as
 * clients expect (`put a.txt .`), and never lead above the root; there are no links. Names that are not valid are
 * refused by the account's files.
 */
export function toSegments(path: string): readonly string[] {
  // ssh2 writes U+FFFD for bytes that are not UTF-8, so two different names could become one.
  if (path.includes("\ufffd")) throw new HttpError("malformed", "The path is not UTF-8.");
  const segments: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") segments.pop();
    else if (name !== "" && name !== ".") segments.push(name);
  }
  return segments;
}

/** A file or folder; of a file that the account may not read only the kind, which listings show too. */
export type Described = Pick<StorageEntry, "kind"> & Partial<StorageEntry>;

/** The types of a file in its mode, as POSIX has them (`S_IFDIR`, `S_IFREG`). */
const FOLDER_TYPE = 0o040000;
const FILE_TYPE = 0o100000;

/** The attributes that SFTP has for an entry. Owners and modes are not kept: permissions are the account's. */
export function toAttributes({ kind, size, modified }: Described): Attributes {
  const seconds = modified === undefined ? undefined : toSeconds(modified);
  return {
    mode: kind === "folder" ? FOLDER_TYPE | 0o755 : FILE_TYPE | 0o644,
    // Missing members are not sent, which the types of ssh2 do not say.
    ...(size !== undefined && { size }),
    ...(seconds !== undefined && { atime: seconds, mtime: seconds }),
  } as Attributes;
}

/** Version 3 counts unsigned 32-bit seconds. */
function toSeconds(date: Date): number {
  return Math.min(Math.max(Math.floor(date.getTime() / 1000), 0), 2 ** 32 - 1);
}

/** A member of a listing. */
export function toMember(entry: StorageEntry, username: string): FileEntry {
  return { filename: entry.name, longname: toLongName(entry, username), attrs: toAttributes(entry) };
}

/** The line of `ls -l`, which some clients show as it is. */
function toLongName({ name, kind, size, modified }: StorageEntry, username: string): string {
  const mode = kind === "folder" ? "drwxr-xr-x" : "-rw-r--r--";
  const owner = username.replace(/\s/g, "_").padEnd(8);
  return `${mode}    1 ${owner} ${owner} ${String(size).padStart(12)} ${toListedDate(modified)} ${name}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The time of day within the last half year, otherwise the year; in UTC. */
function toListedDate(date: Date): string {
  const age = Date.now() - date.getTime();
  const isRecent = age < 182 * 86_400_000 && age > -86_400_000;
  const timeOrYear = isRecent ? date.toISOString().slice(11, 16) : String(date.getUTCFullYear()).padStart(5);
  return `${MONTHS[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2)} ${timeOrYear}`;
}
