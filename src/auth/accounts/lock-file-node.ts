import { randomBytes } from "node:crypto";
import { open, realpath, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { threadId } from "node:worker_threads";
import { isAbandoned, processIdentity } from "../../platform/process-identity-node.ts";
import { isSystemError, readRegularFile } from "./file-content-node.ts";

/** How long a change waits for those of others, and how often it looks, in milliseconds. */
const WAIT_MS = 10_000;
const LOOK_MS = 10;
/** The age from which a lock is a leftover if its process cannot be asked. No change takes that long. */
const LEFTOVER_MS = 60_000;
/** A process that is killed between two calls leaves an empty lock. No process takes that long between them. */
const EMPTY_MS = 1000;
/** Two processes may remove the same leftover, and the later one the new lock in its place. Both wait for that. */
const SETTLE_MS = 100;

/** The locks that this thread has. */
const own = new Set<string>();

/**
 * Runs `work` while no other process that uses this function works on the file. The lock is a file next to it, which
 * names its process: what a killed one has left is removed. Rejects if another change takes more than ten seconds, and
 * with the error of the system if the lock cannot be created.
 */
export async function withLockedFile<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = await toLock(file);
  const mark = await take(lock);
  try {
    return await work();
  } finally {
    if ((await readMark(lock).catch(() => mark)) === mark) await unlink(lock).catch(() => undefined);
    // Not before: from then on the lock is one that this thread could not remove.
    own.delete(mark);
  }
}

/** Removes a lock that no process has any more, for which it may wait a second. Never rejects. */
export async function removeLeftoverLock(file: string): Promise<void> {
  try {
    const lock = await toLock(file);
    if ((await removeLeftover(lock)) || (await readMark(lock)) !== "") return;
    await sleep(EMPTY_MS + LOOK_MS);
    await removeLeftover(lock);
  } catch {
    // Without the file there is no lock, and what cannot be read is left to the next change.
  }
}

async function toLock(file: string): Promise<string> {
  const target = await realpath(file);
  return join(dirname(target), `.${basename(target)}.lock`);
}

/** Returns what the lock contains now. */
async function take(lock: string): Promise<string> {
  const mark = `${toHolder()} ${randomBytes(8).toString("hex")}`;
  const until = performance.now() + WAIT_MS;
  let hasRemoved = false;
  for (;;) {
    if (await create(lock, mark)) {
      if (hasRemoved) await sleep(SETTLE_MS);
      if ((await readMark(lock).catch(() => undefined)) === mark) return mark;
      own.delete(mark);
    }
    if (await removeLeftover(lock)) hasRemoved = true;
    else if (performance.now() > until) throw new Error("Another process goes on changing the accounts file.");
    else await sleep(LOOK_MS);
  }
}

/** The process and the thread of a lock. */
function toHolder(): string {
  return `${processIdentity()} ${threadId}`;
}

/** Returns `false` if there is a lock. */
async function create(lock: string, mark: string): Promise<boolean> {
  own.add(mark);
  let isCreated = false;
  try {
    const handle = await open(lock, "wx", 0o600);
    isCreated = true;
    try {
      await handle.writeFile(mark);
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    const isTaken = !isCreated && isSystemError(error) && error.code === "EEXIST";
    if (!isTaken) await (isCreated ? unlink(lock).catch(() => undefined) : removeEmpty(lock));
    own.delete(mark);
    if (isTaken) return false;
    throw error;
  }
}

/** On a network file system the lock may exist although its creation has failed. */
async function removeEmpty(lock: string): Promise<void> {
  await sleep(SETTLE_MS);
  if ((await readMark(lock).catch(() => undefined)) === "") await unlink(lock).catch(() => undefined);
}

/** Returns whether there was a lock that no process has any more. */
async function removeLeftover(lock: string): Promise<boolean> {
  try {
    const mark = await readMark(lock);
    const { mtimeMs } = await stat(lock);
    if (mark === undefined || !(await isLeftover(mark, mtimeMs)) || (await readMark(lock)) !== mark) return false;
    await unlink(lock);
    return true;
  } catch {
    // Another process has removed it, or it is looked at again.
    return false;
  }
}

async function isLeftover(mark: string, modified: number): Promise<boolean> {
  if (Date.now() - modified > (mark === "" ? EMPTY_MS : LEFTOVER_MS)) return true;
  // What this thread could not remove.
  if (mark.startsWith(`${toHolder()} `)) return !own.has(mark);
  const [creator = ""] = mark.split(" ");
  return creator !== "" && isAbandoned(creator, modified, LEFTOVER_MS);
}

/** Returns `undefined` if there is no lock. */
async function readMark(lock: string): Promise<string | undefined> {
  try {
    return String(await readRegularFile(lock));
  } catch (error) {
    if (isSystemError(error) && error.code === "ENOENT") return undefined;
    throw error;
  }
}
