import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";

/*
 * The name of an unfinished file contains the identity of the process that created it, so that other processes can see
 * whether that one has ended: `<host>-<process ID>-<start>`.
 *
 * The host is eight hexadecimal digits. Processes have the same host if they see each other by process ID: same
 * machine, same PID namespace, and the machine has not restarted in between. The start tells a process from a later one
 * with the same ID. It is empty on systems other than Linux.
 */

interface OwnIdentity {
  readonly host: string;
  readonly start: string;
}

/** The host of a process that cannot identify it. No process takes it for its own host. */
const UNKNOWN_HOST = "00000000";
/** Codes of temporary errors. */
const TEMPORARY_CODES = ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EINTR", "EIO"];
/** Process ID, state and start of `/proc/<process ID>/stat` (proc(5)). The program's name may contain anything. */
const STAT = /^(\d+) \(.*\) (\S)(?: \S+){18} (\d+) /s;
/** States of a process that has ended, but that its parent has not waited for. */
const ENDED_STATES = ["Z", "X"];

let ownIdentity: OwnIdentity | undefined;

/** Identifies this process, for the name of a file. */
export function processIdentity(): string {
  const { host, start } = identify() ?? { host: UNKNOWN_HOST, start: "" };
  return `${host}-${process.pid}-${start}`;
}

/**
 * Whether the process that created a file has ended. If that process cannot be asked, because it runs on another host,
 * the file's age decides.
 *
 * @param creator the identity of the process.
 * @param modified when the file was last changed, in milliseconds since 1970.
 * @param maxAge the age in milliseconds from which a file counts as abandoned if its process cannot be asked.
 */
export async function isAbandoned(creator: string, modified: number, maxAge: number): Promise<boolean> {
  const own = identify();
  // The file may be one of this host.
  if (own === undefined) return false;
  const [host, id, start] = creator.split("-");
  const isOwnHost = host === own.host && host !== UNKNOWN_HOST;
  const state = isOwnHost ? await findState(Number(id), { start, ownStart: own.start, modified }) : "unknown";
  return state === "unknown" ? Date.now() - modified > maxAge : state === "ended";
}

/**
 * What distinguishes the creator of a file from another process with the same ID. Starts are empty if they are not
 * known.
 */
interface Creation {
  readonly start: string | undefined;
  readonly ownStart: string;
  readonly modified: number;
}

async function findState(id: number, creation: Creation): Promise<"running" | "ended" | "unknown"> {
  const code = codeOfSignal(id);
  if (code === "ESRCH") return "ended";
  // EPERM: the process exists and belongs to another user. Any other code: the runtime does not allow the question.
  if (code !== undefined && code !== "EPERM") return "unknown";
  return (await isOtherProcess(id, creation)) ? "ended" : "running";
}

/** Whether the process of an ID is not the creator of a file, or has ended. False if this is not known. */
async function isOtherProcess(id: number, { start, ownStart, modified }: Creation): Promise<boolean> {
  // The creator may be another thread of this process.
  if (!start || !ownStart) return id === process.pid && modified < Date.now() - process.uptime() * 1000;
  // The system may hide the processes of other users.
  const [, , state = "", found] = STAT.exec(await readFile(`/proc/${id}/stat`, "utf8").catch(() => "")) ?? [];
  return found !== undefined && (found !== start || ENDED_STATES.includes(state));
}

/** The code of the error if a process cannot be sent a signal. Sends none. */
function codeOfSignal(id: number): string | undefined {
  try {
    process.kill(id, 0);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

/** Returns `undefined` if it cannot be read now: without a free descriptor. A later call may succeed. */
function identify(): OwnIdentity | undefined {
  if (ownIdentity !== undefined) return ownIdentity;
  const machine = readIfThere(() => readFileSync("/etc/machine-id", "utf8"));
  const boot = readIfThere(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  const processes = readIfThere(() => readlinkSync("/proc/self/ns/pid"));
  // Starts of processes count from an origin that a time namespace can move.
  const time = readIfThere(() => readlinkSync("/proc/self/ns/time"));
  const stat = readIfThere(() => readFileSync("/proc/self/stat", "utf8"));
  const parts = [machine, hostname(), boot, processes, time];
  if ([...parts, stat].includes(undefined)) return undefined;
  // If the PID namespace is not known, an ID may mean another process.
  const isKnown = process.platform !== "linux" || processes !== "";
  ownIdentity = { host: isKnown ? toHost(parts.join("\n")) : UNKNOWN_HOST, start: toOwnStart(stat) };
  return ownIdentity;
}

function toHost(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** Returns the start of this process, or an empty text if `/proc` belongs to another PID namespace. */
function toOwnStart(stat = ""): string {
  const [, id, , start = ""] = STAT.exec(stat) ?? [];
  return Number(id) === process.pid ? start : "";
}

/** Reads a file: an empty text if the system has none, `undefined` if it cannot be read now. */
function readIfThere(read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    return TEMPORARY_CODES.includes(codeOf(error)) ? undefined : "";
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
