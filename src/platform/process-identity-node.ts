import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/*
 * Names of unfinished files say which process made them: whoever finds one later knows whether it was left behind.
 */

/** What will be otherwise in a moment. */
const PASSING = ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EINTR", "EIO"];

let ownIdentity: string | undefined;

/** What processes have in common that see each other by their numbers, as eight digits: machine, host name, PID namespace. */
export function hostIdentity(): string {
  if (ownIdentity !== undefined) return ownIdentity;
  const { identity, isSure } = identifyHost();
  // Without a descriptor to spare nothing can be read: another time it can.
  if (isSure) ownIdentity = identity;
  return identity;
}

/**
 * Whether the process that made a file has ended, as far as that can be told: not of a process elsewhere. In this
 * process another thread may be the writer, so only what is older than the process was left behind.
 *
 * @param modified when the file was changed last, in milliseconds since 1970.
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
    readOnce(() => readFileSync("/etc/machine-id", "utf8")),
    hostname(),
    readOnce(() => readlinkSync("/proc/self/ns/pid")),
  ];
  const text = found.map((part) => part ?? "").join("\n");
  return { identity: createHash("sha256").update(text).digest("hex").slice(0, 8), isSure: !found.includes(undefined) };
}

/** Nothing where a system has no such file, `undefined` where it could not be read just now. */
function readOnce(read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return PASSING.includes(code) ? undefined : "";
  }
}
