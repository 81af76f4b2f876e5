import { describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../../../src/contracts/storage-adapter.ts";
import { createQuotaStorage } from "../../../../src/storage/quota.ts";
import { createTrashStorage, type TrashStorage } from "../../../../src/storage/trash.ts";
import { readFileText } from "../../../../src/testing/storage/content.ts";
import { fillStorage } from "../../../support/storage.ts";
import { createFailing, TRIED } from "../trials.ts";
import { entriesOf, pathsIn } from "./setup.ts";

const FILES = { "/a": "a", "/b": "b", "/folder/c": "c", "/folder/d": "d", "/other/e": "e" };
const quota = { path: "/" };
const CONTENT = new Uint8Array(90);

async function* content(): AsyncGenerator<Uint8Array> {
  yield CONTENT;
}

/** Changes that use every verb. Before them `/old` and `/older` are in the trash. */
const CHANGES: Readonly<Record<string, (storage: TrashStorage) => Promise<unknown>>> = {
  "the removal of a file": (storage) => storage.remove("/a"),
  "the removal of a folder": (storage) => storage.remove("/folder", { kind: "folder" }),
  "a copy over a folder": (storage) => storage.copy("/folder", "/other", { replace: true }),
  "a move over a folder": (storage) => storage.move("/folder", "/other", { replace: true }),
  "a restoration": async (storage) => storage.trash.restore(await idOf(storage, "/old"), "/new/folder/x"),
  "a file that needs room": (storage) => storage.write("/new", content(), { size: 90, quota }),
  "a sweep": (storage) => storage.trash.sweep(),
};

async function idOf(storage: TrashStorage, path: string): Promise<string> {
  return (await entriesOf(storage)).find((entry) => entry.path === path)?.id ?? "";
}

/** The texts of all files, in their places and in the trash. */
async function textsIn(storage: StorageAdapter): Promise<readonly string[]> {
  const paths = (await pathsIn(storage)).filter((path) => !/\/$|info\.json$|trash-purges/.test(path));
  return (await Promise.all(paths.map((path) => readFileText(storage, path)))).sort();
}

/** What makes room for a file goes for good. */
function mayNotGo(change: string, text: string): boolean {
  return !(change.startsWith("a file") && text.startsWith("old"));
}

function mayBeTwice(change: string, text: string): boolean {
  return change.startsWith("a copy") && (text === "c" || text === "d");
}

function toUnique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

describe.each(TRIED)("a storage with a trash %s, if a step below it fails", (_where, create, failable) => {
  it.each(Object.entries(CHANGES))("loses nothing and has nothing twice: %s", async (name, change) => {
    for (let failing = 1; ; failing += 1) {
      const inner = create();
      let now = Date.UTC(2026, 0, 1);
      const faulty = createFailing(inner, failable, failing);
      const counted = createQuotaStorage(faulty.storage, { folders: [{ path: "/", bytes: 100 }] });
      const storage = createTrashStorage(counted, { clock: () => (now += 1000) });
      await fillStorage(storage, { ...FILES, "/older/x": "older", "/old": "old" });
      await storage.remove("/older");
      await storage.remove("/old");
      const before = await textsIn(inner);
      faulty.arm();
      const isDone = await change(storage).then(
        () => true,
        () => false,
      );
      const steps = faulty.disarm();
      const message = `step ${failing}`;
      const after = await textsIn(inner);
      expect(toUnique(after), message).toEqual(expect.arrayContaining(before.filter((text) => mayNotGo(name, text))));
      expect(
        after.filter((text) => !mayBeTwice(name, text)),
        message,
      ).toEqual(toUnique(after).filter((text) => !mayBeTwice(name, text)));
      // Nothing is half done: a folder is whole, in its place or in the trash.
      const members = (await pathsIn(storage)).filter((path) => path.startsWith("/folder"));
      expect([0, 2], message).toContain(members.length);
      now += 4_000_000;
      for (let sweeps = 0; sweeps < 2; sweeps += 1) await storage.trash.sweep();
      // What a failure has left goes with a sweep, and nothing else.
      const left = await textsIn(inner);
      expect(
        left.filter((text) => mayNotGo(name, text)),
        message,
      ).toEqual(after.filter((text) => mayNotGo(name, text)));
      const infos = (await pathsIn(inner)).filter((path) => /info\.json$|trash-purges\/2/.test(path));
      expect(infos.length, message).toBe((await entriesOf(storage)).length);
      expect(await counted.quota.recount("/"), message).toMatchObject({ files: left.length });
      if (steps < failing) {
        expect(isDone).toBe(true);
        break;
      }
    }
  });
});
