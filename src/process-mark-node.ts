import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/*
 * Names of unfinished files say which process made them: whoever finds one later knows whether it was left behind.
 */

let ownMark: string | undefined;

/** What processes have in common that see each other by their numbers, as eight digits: machine, host name, PID namespace. */
export function hostMark(): string {
  ownMark ??= identifyHost();
  return ownMark;
}

/**
 * Whether the process that made a file has ended, as far as that can be told: not of a process elsewhere. In this
 * process another thread may be the writer, so only what is older than the process was left behind.
 *
 * @param modified when the file was changed last, in milliseconds since 1970.
 */
export function hasEnded(mark: string, writer: number, modified: number): boolean {
  if (mark !== hostMark()) return false;
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

function identifyHost(): string {
  const parts = [
    readOr("", () => readFileSync("/etc/machine-id", "utf8")),
    hostname(),
    readOr("", () => readlinkSync("/proc/self/ns/pid")),
  ];
  return createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 8);
}

function readOr(otherwise: string, read: () => string): string {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
