import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/*
 * The names of unfinished files identify the process that created them, so that others can see whether it has ended.
 */

/** Codes of temporary errors. */
const TEMPORARY_CODES = ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EINTR", "EIO"];

let ownIdentity: string | undefined;

/**
 * Identifies what processes that see each other by process ID share: machine, host name, PID namespace. Eight
 * hexadecimal digits.
 */
export function hostIdentity(): string {
  if (ownIdentity !== undefined) return ownIdentity;
  const { identity, isSure } = identifyHost();
  // Without a free descriptor nothing can be read; a later call may succeed.
  if (isSure) ownIdentity = identity;
  return identity;
}

/**
 * Whether the process that created a file has certainly ended. False for a process on another host. For this process,
 * only a file older than the process counts, because another thread may be the writer.
 *
 * @param modified when the file was last changed, in milliseconds since 1970.
 */
export function hasEnded(identity: string, writer: number, modified: number): boolean {
  if (identity !== hostIdentity()) return false;
  if (writer === process.pid) return modified < Date.now() - process.uptime() * 1000;
  return !isRunning(writer);
}

function isRunning(number: number): boolean {
  try {
    return process.kill(number, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function identifyHost(): { readonly identity: string; readonly isSure: boolean } {
  const found = [
    readIdentity(() => readFileSync("/etc/machine-id", "utf8")),
    hostname(),
    readIdentity(() => readlinkSync("/proc/self/ns/pid")),
  ];
  const text = found.map((part) => part ?? "").join("\n");
  return { identity: createHash("sha256").update(text).digest("hex").slice(0, 8), isSure: !found.includes(undefined) };
}

/** Reads a file: an empty text if the system has none, `undefined` if it cannot be read now. */
function readIdentity(read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return TEMPORARY_CODES.includes(code) ? undefined : "";
  }
}
