import fs from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isStorageError, type StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { readFileText } from "../../../src/testing/storage/content.ts";

/** What the files inside and outside hold, of other sizes. */
const INSIDE = "inside";
const OUTSIDE = "from outside";

const real = { lstatSync: fs.lstatSync, openSync: fs.openSync, realpathSync: fs.realpathSync };
const plain = { ...fs };
const promised = { lstat: fs.promises.lstat, realpath: fs.promises.realpath };
/** How many calls there were, and at which of them a link stands in place of the folder. */
let calls = 0;
let swapped: ReadonlySet<number> = new Set();
let base: string;
let storage: StorageAdapter;

/** Makes a call while a link to outside stands in place of the folder, if it is its turn. */
function inTurn<T>(path: unknown, call: () => T): T {
  const [folder, away] = [join(base, "root/folder"), join(base, "away")];
  if (!String(path).startsWith(folder)) return call();
  calls += 1;
  if (!swapped.has(calls)) return call();
  fs.renameSync(folder, away);
  fs.symlinkSync(join(base, "outside"), folder);
  try {
    return call();
  } finally {
    fs.unlinkSync(folder);
    fs.renameSync(away, folder);
  }
}

type Done = (error: unknown, result?: unknown) => void;

/** Calls back with what is done at once. */
function later(call: () => unknown, done: Done): void {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    setImmediate(done, error);
    return;
  }
  setImmediate(done, null, result);
}

/** Puts the swaps between the storage and the calls that look at paths and open them. */
function wrapCalls(): void {
  const own = {
    lstatSync: (...args: Parameters<typeof fs.lstatSync>) => inTurn(args[0], () => real.lstatSync(...args)),
    openSync: (...args: Parameters<typeof fs.openSync>) => inTurn(args[0], () => real.openSync(...args)),
    lstat: (path: string, options: object, done: Done) =>
      later(() => inTurn(path, () => real.lstatSync(path, options)), done),
    open: (path: string, flags: number, mode: number | undefined, done: Done) =>
      later(() => inTurn(path, () => real.openSync(path, flags, mode)), done),
  };
  Object.assign(fs, own);
  Object.assign(fs.promises, {
    lstat: async (path: string, options: object) => inTurn(path, () => real.lstatSync(path, options)),
    realpath: async (path: string) => inTurn(path, () => real.realpathSync(path)),
  });
  syncBuiltinESMExports();
}

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "fileferry-moments-"));
  await mkdir(join(base, "root/folder"), { recursive: true });
  await mkdir(join(base, "outside"));
  await writeFile(join(base, "root/folder/file"), INSIDE);
  await writeFile(join(base, "outside/file"), OUTSIDE);
  const actual = process.platform;
  Object.defineProperty(process, "platform", { value: "freebsd" });
  storage = createDiskStorage({ root: join(base, "root"), durability: "rename" });
  Object.defineProperty(process, "platform", { value: actual });
  wrapCalls();
});

afterAll(async () => {
  const { lstatSync, openSync, lstat, open } = plain;
  Object.assign(fs, { lstatSync, openSync, lstat, open });
  Object.assign(fs.promises, promised);
  syncBuiltinESMExports();
  await rm(base, { recursive: true });
});

type Ask = () => Promise<unknown>;

/**
 * What a client learns of the file, its size or its text, unless it is refused; and the true answer when nothing is
 * swapped.
 */
const QUESTIONS: readonly (readonly [question: string, ask: Ask, truth: unknown])[] = [
  ["stat", async () => (await storage.stat("/folder/file"))?.size, INSIDE.length],
  [
    "list",
    async () => {
      for await (const { size } of storage.list("/folder")) return size;
      return undefined;
    },
    INSIDE.length,
  ],
  ["read", async () => readFileText(storage, "/folder/file"), INSIDE],
];

/**
 * Asks while a link replaces the folder at these calls. Only the true answer or a refusal may come back. Returns the
 * number of calls.
 */
async function expectNothingElse(ask: Ask, truth: unknown, at: readonly number[]): Promise<number> {
  calls = 0;
  swapped = new Set(at);
  const told = await ask().catch((error: unknown) => {
    if (!isStorageError(error)) throw error;
    return undefined;
  });
  expect(at.length === 0 ? [truth] : [undefined, truth], `told with a link at the calls ${at.join(" and ")}`).toContain(
    told,
  );
  return calls;
}

describe("a folder that is a link to outside at one or two of the calls that look at it, where paths are compared", () => {
  it.each(QUESTIONS)("%s tells neither the size nor the text of a file outside", async (_, ask, truth) => {
    const count = await expectNothingElse(ask, truth, []);
    expect(count, "calls").toBeGreaterThan(5);
    for (let one = 1; one <= count; one += 1) {
      await expectNothingElse(ask, truth, [one]);
      for (let other = one + 1; other <= Math.min(count, one + 8); other += 1)
        await expectNothingElse(ask, truth, [one, other]);
    }
  });
});
