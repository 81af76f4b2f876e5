import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";

/** What a call of Node's is to the system. */
export type FileCall =
  | "open new file"
  | "open file"
  | "open folder"
  | "close file"
  | "close folder"
  | "opendir"
  | "readdir"
  | "closedir"
  | "lstat"
  | "stat"
  | "fstat"
  | "readlink"
  | "realpath"
  | "read"
  | "write"
  | "futimes"
  | "fchmod"
  | "fchown"
  | "lchown"
  | "fsync file"
  | "fsync folder"
  | "rename"
  | "link"
  | "clone"
  | "unlink"
  | "mkdir"
  | "rmdir";

/** An error of the system, by its name. */
export type Errno = keyof typeof constants.errno;

/** Which call fails, and how. */
export interface Fault {
  readonly call: FileCall;
  readonly errno: Errno;
  /** The first such call, or a later one, from 1. */
  readonly nth: number;
  /** This one alone, or all from it on. */
  readonly lasts: "once" | "on";
  /**
   * `after`: what was asked for is done, half of it of a write, and said not to be. What is closed is closed, as on
   * Linux, either way.
   */
  readonly effect: "before" | "after";
}

/** The calls that change something, or close it: when they fail, the change may have been made. */
const CHANGES: readonly FileCall[] = [
  ...(["open new file", "open file", "open folder", "opendir", "write", "futimes", "fchmod", "fchown"] as const),
  ...(["lchown", "fsync file", "fsync folder", "rename", "link", "clone", "unlink", "mkdir", "rmdir"] as const),
];

let watched: string | undefined;
let faults: readonly Fault[] = [];
const fired = new Set<FileCall>();
const counts = new Map<FileCall, number>();
/** What the descriptors are of that were opened below the watched folder. */
const descriptors = new Map<number, "file" | "folder">();

/** Counts the calls to what is below a folder from now on; no others are touched. */
export function watchCalls(folder: string): void {
  watched = folder;
}

/** Counts from the start again, and makes these calls fail. */
export function strike(...next: readonly Fault[]): void {
  faults = next;
  fired.clear();
  counts.clear();
}

/** How often each call was made since the last {@link strike}, and which of them have failed that were to. */
export function struck(): { readonly counts: ReadonlyMap<FileCall, number>; readonly fired: ReadonlySet<FileCall> } {
  return { counts: new Map(counts), fired: new Set(fired) };
}

let isCloning = false;

/** Has files below the watched folder cloned, as by a file system that can; else the system refuses each of them. */
export function setCloning(isPossible: boolean): void {
  isCloning = isPossible;
}

/** Whether files are cloned. */
export function canClone(): boolean {
  return isCloning;
}

/** How many descriptors are open below the watched folder. */
export function openDescriptors(): number {
  return descriptors.size;
}

/** Whether a call that fails may have been done: not where there is nothing to be done. */
export function hasEffect(call: FileCall): boolean {
  return CHANGES.includes(call);
}

/** Counts a call; its fault, where it is to fail. */
export function meet(call: FileCall): Fault | undefined {
  const count = (counts.get(call) ?? 0) + 1;
  counts.set(call, count);
  const fault = faults.find((one) => one.call === call);
  if (fault === undefined || (fault.lasts === "once" ? count !== fault.nth : count < fault.nth)) return undefined;
  fired.add(call);
  return fault;
}

/** Creates the error as Node does: libuv has no names for some errors, and the message has the path. */
export function toError({ errno, call }: Pick<Fault, "errno" | "call">, args: readonly unknown[]): Error {
  const number = -constants.errno[errno];
  const code = getSystemErrorMap().get(number)?.[0] ?? `Unknown system error ${number}`;
  const path = args.find((arg) => typeof arg === "string" || Buffer.isBuffer(arg));
  const message = `${code}: injected, ${call}${path === undefined ? "" : ` '${path}'`}`;
  return Object.assign(new Error(message), { errno: number, code, syscall: call });
}

/** Whether a path leads below the watched folder. */
export function isWatched(path: unknown): boolean {
  if (watched === undefined) return false;
  const text = String(path);
  const [, descriptor] = /^\/proc\/self\/fd\/(\d+)/.exec(text) ?? [];
  return descriptor === undefined ? `${text}/`.startsWith(`${watched}/`) : descriptors.has(Number(descriptor));
}

/** What a descriptor is of, if it was opened below the watched folder. */
export function kindOf(descriptor: unknown): "file" | "folder" | undefined {
  return descriptors.get(Number(descriptor));
}

/** Remembers what a call has opened, or closes: the system forgets a descriptor, whatever it says then. */
export function note(call: FileCall, descriptor: unknown): void {
  if (typeof descriptor !== "number") return;
  if (call.startsWith("open ")) descriptors.set(descriptor, call === "open folder" ? "folder" : "file");
  if (call === "close file" || call === "close folder") descriptors.delete(descriptor);
}
