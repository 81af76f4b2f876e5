import { describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../../../src/contracts/storage-adapter.ts";
import { moveByCopying } from "../../../../src/storage/fallbacks.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { createQuotaStorage } from "../../../../src/storage/quota.ts";
import { createTrashStorage, type TrashStorage } from "../../../../src/storage/trash.ts";
import { createVersionsStorage } from "../../../../src/storage/versions.ts";
import { put, readFileText } from "../../../../src/testing/storage/content.ts";
import { fillStorage, overrideStorage } from "../../../support/storage.ts";
import { createCrashing, createTriedDisk } from "../trials.ts";
import { entriesOf, pathsIn } from "./setup.ts";

const WEEKS = 3 * 7 * 86_400_000;
const MORE_THAN_HOUR = 4_000_000;

/** A storage that moves and removes a folder in many steps, as those with objects do: the last member goes first. */
function createStepwise(memory: StorageAdapter): StorageAdapter {
  const stepwise: StorageAdapter = overrideStorage(memory, {
    move: (from, to, options) => moveByCopying(stepwise, from, to, options),
    async remove(path, options) {
      if ((await memory.stat(path))?.kind === "folder") {
        const names: string[] = [];
        for await (const { name } of memory.list(path)) names.unshift(name);
        for (const name of names) await stepwise.remove(`${path}/${name}`);
      }
      await memory.remove(path, options);
    },
  });
  return stepwise;
}

async function* content(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(90);
}

/** A trash that keeps its entries for any time, with versions and a quota below it. */
function openTrash(inner: StorageAdapter, clock: () => number) {
  const counted = createQuotaStorage(inner, { folders: [{ path: "/", bytes: 100 }] });
  const storage = createTrashStorage(createVersionsStorage(counted, { clock }), { clock, keepSeconds: 0 });
  return { storage, quota: counted.quota };
}

const PURGES: Readonly<Record<string, (storage: TrashStorage) => Promise<unknown>>> = {
  "one by one": async (storage) => {
    for (const { id } of await entriesOf(storage)) await storage.trash.purge(id);
  },
  "to make room": (storage) => storage.write("/new", content(), { size: 90, quota: { path: "/" } }),
};

/** The texts of the files that should be there: those of entries, which are whole, and one that they made room for. */
async function expectedTexts(storage: TrashStorage): Promise<readonly string[]> {
  const texts = (await storage.stat("/new")) === undefined ? [] : ["\0".repeat(90)];
  for (const { id, kind } of await entriesOf(storage)) {
    const members: string[] = [];
    for await (const { segments } of storage.trash.members(id)) members.push(segments.join("/"));
    expect(members.sort()).toEqual(kind === "folder" ? ["c", "d"] : []);
    texts.push(...(kind === "folder" ? ["c", "d"] : ["1234567", "12345678"]));
  }
  return texts.sort();
}

/** The texts of the files in their places, in entries and in versions. */
async function textsIn(inner: StorageAdapter): Promise<readonly string[]> {
  const paths = (await pathsIn(inner)).filter((path) => !/\/$|info\.json$|trash-purges/.test(path));
  return (await Promise.all(paths.map((path) => readFileText(inner, path)))).sort();
}

const STORAGES: readonly (readonly [string, () => StorageAdapter, (storage: StorageAdapter) => StorageAdapter])[] = [
  ["in memory", createMemoryStorage, (storage) => storage],
  ["on a disk", createTriedDisk, (storage) => storage],
  ["that moves in many steps", createMemoryStorage, createStepwise],
];

describe.each(STORAGES)("a trash %s whose process crashes", (_where, create, around) => {
  it.each(Object.entries(PURGES))("while old entries are removed for good, %s, ends that", async (_how, purge) => {
    for (let crashing = 1, isDone = false; !isDone; crashing += 1) {
      const inner = create();
      let now = Date.UTC(2026, 0, 1);
      const clock = (): number => (now += 1000);
      const crash = createCrashing(inner, crashing);
      const { storage } = openTrash(around(crash.storage), clock);
      await fillStorage(storage, { "/folder/c": "c", "/folder/d": "d", "/file": "1234567" });
      await put(storage, "/file", "12345678");
      for (const path of ["/folder", "/file"]) await storage.remove(path);
      now += WEEKS;
      crash.arm();
      isDone = await purge(storage).then(
        () => true,
        () => false,
      );
      const after = openTrash(around(inner), clock);
      await expectedTexts(after.storage);
      now += MORE_THAN_HOUR;
      await after.storage.trash.sweep();
      const texts = await expectedTexts(after.storage);
      expect(await textsIn(inner), `a crash at step ${crashing}`).toEqual(texts);
      expect(await after.quota.recount("/")).toMatchObject({ files: texts.length });
      expect((await pathsIn(inner)).filter((path) => path.startsWith("/__svc__/trash-purges/2"))).toEqual([]);
    }
  });
});

describe("a sweep that ends what a crash has left", () => {
  const PLACE = "/__svc__/trash/folder~t";
  const [id, record] = ["20260101T000000000Z-0123456789abcdef", "20260301T000000000Z-0123456789abcdef"];

  it("shows no half of an entry if it crashes, too", async () => {
    for (let crashing = 1, isDone = false; !isDone; crashing += 1) {
      const inner = createMemoryStorage();
      await fillStorage(inner, {
        [`${PLACE}/${id}/info.json`]: "{}",
        [`${PLACE}/${id}/data/last`]: "half of a move",
        [`${PLACE}/${id}/purged/first`]: "half of a move",
        [`/__svc__/trash-purges/${record}`]: JSON.stringify({ folder: PLACE, id }),
      });
      const clock = (): number => Date.UTC(2026, 3, 1);
      const crash = createCrashing(inner, crashing);
      const { storage } = openTrash(createStepwise(crash.storage), clock);
      crash.arm();
      isDone = await storage.trash.sweep().then(
        () => true,
        () => false,
      );
      const after = openTrash(createStepwise(inner), clock).storage;
      expect(await entriesOf(after), `a crash at step ${crashing}`).toEqual([]);
      await after.trash.sweep();
      expect((await pathsIn(inner)).filter((path) => /Z-.*[^/]$/.test(path))).toEqual([]);
    }
  });

  it("ends others although one fails, and passes over what is no record of a purge", async () => {
    const inner = createMemoryStorage();
    const places = ["a", "b"].map((name) => `/__svc__/trash/${name}~t`);
    const odd = [{ folder: "/home", id }, { folder: PLACE, id: "../.." }, { folder: `${PLACE}/../x~t`, id }, null, 1];
    const records = [...places.map((folder) => ({ folder, id })), ...odd].map((value, index) => [
      `/__svc__/trash-purges/2026030${index + 1}T000000000Z-0123456789abcdef`,
      JSON.stringify(value),
    ]);
    await fillStorage(inner, {
      [`/home/${id}/file`]: "of somebody",
      ...Object.fromEntries(places.map((place) => [`${place}/${id}/purged/x`, "x"])),
      ...Object.fromEntries(records),
    });
    const failing = overrideStorage(inner, {
      async remove(path, options) {
        if (path.startsWith(places[0] ?? "")) throw new Error("This folder cannot be removed.");
        await inner.remove(path, options);
      },
    });
    const clock = (): number => Date.UTC(2026, 3, 1);
    await expect(openTrash(failing, clock).storage.trash.sweep()).rejects.toThrow("cannot be removed");
    const left = async () => (await pathsIn(inner)).filter((path) => /Z-.*[^/]$/.test(path));
    expect(await left()).toEqual([records[0]?.[0], `${places[0]}/${id}/purged/x`, `/home/${id}/file`].sort());
    await openTrash(inner, clock).storage.trash.sweep();
    expect(await left()).toEqual([`/home/${id}/file`]);
  });

  it("costs nothing for plain files, and a purge needs no room on a full disk", async () => {
    const paths: string[] = [];
    const inner = createMemoryStorage();
    const full = overrideStorage(inner, {
      async write(path, ...rest) {
        paths.push(path);
        if (path.includes("trash-purges")) throw new Error("The disk is full.");
        return inner.write(path, ...rest);
      },
    });
    const { storage } = openTrash(full, Date.now);
    await fillStorage(storage, { "/plain": "1", "/folder/a": "1" });
    await storage.remove("/plain");
    await storage.trash.purge((await entriesOf(storage))[0]?.id ?? "");
    expect(paths.filter((path) => path.includes("purges"))).toEqual([]);
    await storage.remove("/folder");
    expect(await storage.trash.purge((await entriesOf(storage))[0]?.id ?? "")).toBe(true);
    expect(paths.filter((path) => path.includes("purges")).length).toBeGreaterThan(0);
    expect((await pathsIn(inner)).filter((path) => /Z-.*[^/]$/.test(path))).toEqual([]);
  });
});
