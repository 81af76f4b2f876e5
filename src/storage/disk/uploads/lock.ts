import { randomUUID } from "node:crypto";
import { constants, readdirSync } from "node:fs";
import { lstat, utimes } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { StorageError } from "../../../contracts/storage-adapter.ts";
import { isAbandoned, processIdentity } from "../../../platform/process-identity-node.ts";
import { createSuperseded, throwIfSuperseded } from "../../upload-writers.ts";
import { ignoreErrors, mapSystemErrors, mapSystemErrorsSync } from "../errors.ts";
import type { OpenFolder } from "../open-folder.ts";
import { closeFile, readFewNames, unlinkSmall } from "../system-calls.ts";

/*
 * One process at a time uses an upload. Every process that wants it creates an entry in a folder, and then reads the
 * folder. Entries are ordered by their names, which begin with a number: 1 at first, as the folder is mostly empty.
 *
 * - A process with the lowest entry has the lock. The others wait until the entries below theirs are gone.
 * - A process that finds a higher entry just after it has created its own removes it and begins again, above all
 *   others: the other one may have read the folder before.
 * - An append that sees a higher entry later stops, stores what has arrived, and removes its entry.
 * - An entry of a process that has ended does not count. A process of another machine counts as ended when it has not
 *   touched its entry for a while.
 *
 * So nothing depends on hard links or on exclusive creation, which some file systems do not have.
 */

const ENTRY = /^[0-9]{12}-([0-9a-f]{8}-[0-9]+-[0-9]*)-[0-9a-f]{12}$/;
/** How long a process waits for another one that is running. */
const WAIT_MS = 10_000;
/** How often the holder looks for a higher entry, and how long others wait between two looks at most. */
const LOOK_MS = 250;
/** How often the holder, and who waits, touches its entry. */
const TOUCH_MS = 1_000;
/** An entry of another machine that was not touched for this time is one of an ended process. */
const FOREIGN_ENTRY_MS = 5_000;

/** A lock of an upload. */
export interface UploadLock {
  /** Throws `locked` if another process wants the upload. It looks at most every 250 ms. */
  check(): void;
  release(): Promise<void>;
}

/** Options of {@link lockUpload}. */
export interface UploadLockOptions {
  /** Called when another process wants the upload. Without it, the holder is a short call that others wait for. */
  readonly onTakeover?: () => void;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Takes the lock of an upload among all processes that have its folder of entries.
 * @throws StorageError `locked` if a running process does not give it back within 10 seconds, `offset-mismatch` if
 * another call takes over while an append waits.
 */
export async function lockUpload(entries: OpenFolder, options: UploadLockOptions = {}): Promise<UploadLock> {
  const until = performance.now() + WAIT_MS;
  let names: readonly string[] = [];
  for (;;) {
    const own = toEntry(names);
    try {
      await createEntry(entries, own);
      names = await readEntries(entries);
      if (names.every((name) => name <= own) && (await waitForLower(entries, { own, names, until }, options))) {
        return hold(entries, own, options);
      }
    } catch (error) {
      await removeEntry(entries, own);
      throw error;
    }
    await removeEntry(entries, own);
    if (performance.now() > until) throw new StorageError("locked");
    await pause(Math.random() * 20);
  }
}

/**
 * Takes the lock of an upload that no other process knows yet, so there is nothing to wait for. Returns the function
 * that gives it back.
 */
export async function lockNewUpload(entries: OpenFolder): Promise<() => Promise<void>> {
  const own = toEntry([]);
  const release = (): Promise<void> => removeEntry(entries, own);
  try {
    await createEntry(entries, own);
  } catch (error) {
    await release();
    throw error;
  }
  return release;
}

/** Removes the entries of processes that have ended. */
export async function removeEndedEntries(entries: OpenFolder): Promise<void> {
  for (const name of await readEntries(entries)) await isUsed(entries, name);
}

/** An entry that waits. */
interface Waiting {
  readonly own: string;
  /** The entries that were there just after its creation. */
  readonly names: readonly string[];
  readonly until: number;
}

/** Returns `false` if another process has removed the own entry meanwhile, because it took this process for ended. */
async function waitForLower(
  entries: OpenFolder,
  { own, names: first, until }: Waiting,
  { onTakeover, signal }: UploadLockOptions,
): Promise<boolean> {
  let names = first;
  let touchedAt = performance.now();
  for (let wait = 5; ; wait = Math.min(2 * wait, LOOK_MS)) {
    if (signal !== undefined) throwIfSuperseded(signal);
    const isTaken = onTakeover !== undefined && names.some((name) => name > own);
    if (isTaken) throw createSuperseded();
    const lower = await Promise.all(names.filter((name) => name < own).map((name) => isUsed(entries, name)));
    if (!names.includes(own)) return false;
    if (!lower.includes(true)) return true;
    if (performance.now() > until) throw new StorageError("locked");
    if (performance.now() - touchedAt >= TOUCH_MS) {
      touchedAt = performance.now();
      touchEntry(entries, own);
    }
    await pause(wait);
    names = await readEntries(entries);
  }
}

/** Whether the process of an entry is running. Removes the entry of one that has ended. */
async function isUsed(entries: OpenFolder, name: string): Promise<boolean> {
  const [, creator = ""] = ENTRY.exec(name) ?? [];
  const stats = await ignoreErrors(lstat(entries.at(name)), "ENOENT");
  if (stats === undefined) return false;
  if (!(await isAbandoned(creator, stats.mtimeMs, FOREIGN_ENTRY_MS))) return true;
  await removeEntry(entries, name);
  return false;
}

function hold(entries: OpenFolder, own: string, { onTakeover }: UploadLockOptions): UploadLock {
  let lookedAt = performance.now();
  let touchedAt = lookedAt;

  function isTaken(): boolean {
    lookedAt = performance.now();
    const names = mapSystemErrorsSync(() => readdirSync(String(entries.at("."))));
    return !names.includes(own) || names.some((name) => ENTRY.test(name) && name > own);
  }

  function look(): void {
    try {
      if (isTaken()) onTakeover?.();
    } catch {
      // The upload and its folder were removed, which the append finds out.
    }
    if (lookedAt - touchedAt < TOUCH_MS) return;
    touchedAt = lookedAt;
    touchEntry(entries, own);
  }

  const timer = setInterval(look, LOOK_MS);
  timer.unref();

  return {
    check() {
      if (performance.now() - lookedAt >= LOOK_MS && isTaken()) throw new StorageError("locked");
    },
    async release() {
      clearInterval(timer);
      await removeEntry(entries, own);
    },
  };
}

async function readEntries(entries: OpenFolder): Promise<readonly string[]> {
  await entries.confirm();
  return (await mapSystemErrors(readFewNames(String(entries.at("."))))).filter((name) => ENTRY.test(name));
}

async function createEntry(entries: OpenFolder, name: string): Promise<void> {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  await closeFile(await entries.openFile(name, O_CREAT | O_EXCL | O_WRONLY, 0o600), { isQuick: true });
}

/** The name of an entry above all others. Names are compared as texts. */
function toEntry(names: readonly string[]): string {
  const highest = names.reduce((most, name) => Math.max(most, Number(name.slice(0, 12))), 0);
  const random = randomUUID().replaceAll("-", "").slice(0, 12);
  return `${String(highest + 1).padStart(12, "0")}-${processIdentity()}-${random}`;
}

function touchEntry(entries: OpenFolder, name: string): void {
  const now = new Date();
  utimes(entries.at(name), now, now).catch(() => undefined);
}

async function removeEntry(entries: OpenFolder, name: string): Promise<void> {
  await ignoreErrors(unlinkSmall(entries.at(name)), "ENOENT").catch(() => undefined);
}
