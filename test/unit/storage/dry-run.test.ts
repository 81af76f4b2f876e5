import { describe, expect, it } from "vitest";
import type { Trash } from "../../../src/contracts/kept/trash.ts";
import type { FileVersion, Versions } from "../../../src/contracts/kept/versions.ts";
import type { StorageAdapter, StorageEntry } from "../../../src/contracts/storage-adapter.ts";
import { toStoredFile } from "../../../src/contracts/stored-file.ts";
import { createDryRun } from "../../../src/storage/dry-run.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { createDryRecords, createOwnRecords } from "../../../src/storage/quota/records.ts";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { createTrashStorage, type TrashStorage } from "../../../src/storage/trash.ts";
import { createVersionsStorage } from "../../../src/storage/versions.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";
import { namesIn, put, readFileText } from "../../../src/testing/storage/content.ts";
import { fillStorage, overrideStorage, withLinks } from "../../support/storage.ts";
import { codeOf, entriesOf } from "./trash/setup.ts";
import { versionsOf } from "./versions/setup.ts";

const TEBIBYTE = 2 ** 40;

/** A storage that counts its calls, and how many are running at the same time at most. */
function createCounted(base: StorageAdapter) {
  const calls = new Map<string, number>();
  let [running, most] = [0, 0];
  const storage = overrideStorage(base, {
    async stat(path) {
      calls.set("stat", (calls.get("stat") ?? 0) + 1);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return base.stat(path);
    },
    list(path, options) {
      calls.set("list", (calls.get("list") ?? 0) + 1);
      return base.list(path, options);
    },
  });
  return { storage, countOf: (verb: string) => calls.get(verb) ?? 0, most: () => most };
}

/** A storage with one file of a tebibyte, whose bytes nobody may read. */
function createHuge(): StorageAdapter {
  const base = createMemoryStorage();
  const toHuge = (entry: StorageEntry): StorageEntry => (entry.kind === "file" ? { ...entry, size: TEBIBYTE } : entry);
  const fail = async (): Promise<never> => {
    throw new Error("The content was read.");
  };
  return overrideStorage(base, {
    async stat(path) {
      const entry = await base.stat(path);
      return entry && toHuge(entry);
    },
    async read(path) {
      const { entry } = await base.read(path);
      return toStoredFile(toHuge(entry), { readInto: fail, close: async () => undefined });
    },
  });
}

describe("createDryRun: what it holds", () => {
  it("is bounded where folders are copied into one another, again and again", async () => {
    const base = createMemoryStorage();
    await fillStorage(base, { "/a/file": "1", "/b/file": "2" });
    const storage = createDryRun().storage(base);

    /** Without a bound each round would double what is held, or more. */
    async function copyRounds(): Promise<void> {
      for (let round = 0; round < 15; round += 1) {
        await storage.copy("/a", `/b/${round}`);
        await storage.copy("/b", `/a/${round}`);
      }
    }

    expect(await codeOf(copyRounds())).toBe("too-large");
    expect(await namesIn(base, "/a")).toEqual(["file"]);
    await storage.remove("/a");
    expect(await namesIn(storage, "/")).toEqual(["b"]);
  });

  it("is one change for the removal of a folder of any size", async () => {
    const { storage: base, countOf } = createCounted(createMemoryStorage());
    await base.createFolder("/many");
    for (let index = 0; index < 2000; index += 1) await put(base, `/many/${index}`, "");
    const storage = createDryRun().storage(base);
    const before = countOf("stat") + countOf("list");
    await storage.remove("/many");
    expect(await namesIn(storage, "/")).toEqual([]);
    expect(countOf("stat") + countOf("list") - before).toBeLessThan(5);
    expect(await namesIn(base, "/many")).toHaveLength(2000);
  });

  it("keeps the records of the trash, whatever was copied from another storage before", async () => {
    const other = createMemoryStorage();
    for (let index = 0; index < 70; index += 1) await put(other, `/${index}`, "x".repeat(65_000));
    const trashed = createTrashStorage(createMemoryStorage());
    // Only the record has the whole path.
    const path = `/${"m".repeat(255)}`;
    await put(trashed, path, "mine");
    const dry = createDryRun();
    const tree = dry.storage(mountStorage({ "/": trashed, "/other": other }));
    await tree.copy("/other", "/copied");
    await tree.remove(path);
    const trash = dry.trash(trashed.trash);
    expect((await entriesOf({ trash })).map((entry) => entry.path)).toEqual([path]);
  });

  it("asks for no entry again that it has seen: a folder with moved members is listed by one call", async () => {
    const base = createMemoryStorage();
    await base.createFolder("/to");
    for (let index = 0; index < 100; index += 1) await put(base, `/${index}`, "");
    const { storage: counted, countOf, most } = createCounted(base);
    const storage = createDryRun().storage(counted);
    for (let index = 0; index < 100; index += 1) await storage.move(`/${index}`, `/to/${index}`);
    const before = countOf("stat");
    expect(await namesIn(storage, "/to")).toHaveLength(100);
    expect([countOf("stat") - before, most()]).toEqual([0, 1]);
  });
});

describe("createDryRun: links", () => {
  it("are not copied, go along with a folder, and are removed with it", async () => {
    const base = createMemoryStorage();
    await fillStorage(base, { "/a/file": "1", "/a/in/": "", "/b/": "" });
    const storage = createDryRun().storage(withLinks(base, ["/a/in/link"]));
    await storage.copy("/a", "/b/copy");
    expect(await namesIn(storage, "/b/copy/in")).toEqual([]);
    expect(await codeOf(storage.copy("/a/in/link", "/b/link"))).toBe("not-found");
    await storage.move("/a", "/b/moved");
    expect((await storage.stat("/b/moved/in/link"))?.kind).toBe("link");
    await storage.move("/b/moved/in/link", "/b/link");
    expect(await namesIn(storage, "/b/moved/in")).toEqual([]);
    await storage.copy("/b", "/c");
    expect(await namesIn(storage, "/c")).toEqual(["copy", "moved"]);
    expect(await codeOf(put(storage, "/b/link", "2", { ifMatch: "*" }))).toBe("precondition-failed");
    await put(storage, "/b/link", "2", { ifNoneMatch: "*" });
    expect((await storage.stat("/b/link"))?.kind).toBe("file");
    await storage.remove("/b");
    expect(await namesIn(storage, "/")).toEqual(["c"]);
  });
});

describe("createDryRun: content", () => {
  it("of any size is copied from one storage into another in no time, also over a file of that size", async () => {
    const [source, target] = [createHuge(), createHuge()];
    await put(source, "/huge", "");
    await put(target, "/huge", "");
    const versioned = createVersionsStorage(target);
    const tree = createDryRun().storage(mountStorage({ "/": source, "/other": versioned }));
    expect(await tree.copy("/huge", "/other/new")).toBe("created");
    expect(await tree.copy("/huge", "/other/huge", { replace: true })).toBe("replaced");
    expect((await tree.stat("/other/new"))?.size).toBe(TEBIBYTE);
  });

  it("is replaced by no write that wants a new file, also if it is a copy, which has no tag", async () => {
    const base = createMemoryStorage();
    await put(base, "/one", "1");
    const storage = createDryRun().storage(base);
    await storage.copy("/one", "/two");
    expect(await codeOf(put(storage, "/two", "2", { ifNoneMatch: "*" }))).toBe("precondition-failed");
    expect(await readFileText(storage, "/two")).toBe("1");
  });
});

describe("createDryRun: a trash with a size", () => {
  it("is not walked", async () => {
    const { storage: base, countOf } = createCounted(createMemoryStorage());
    await fillStorage(base, { "/a": "1", "/b": "1" });
    const trashed = createTrashStorage(base, { maxBytes: 1000 });
    await trashed.remove("/a");
    const before = countOf("list");
    await createDryRun().storage(trashed).remove("/b");
    expect(countOf("list") - before).toBe(0);
  });
});

describe("createDryRun: quotas", () => {
  it("starts no walk for a count that is old: no other dry run would have it", async () => {
    let now = 1_000_000;
    const { storage: base, countOf } = createCounted(createMemoryStorage());
    const quota = { path: "/", bytes: 100 };
    const counted = createQuotaStorage(base, { clock: () => now });
    await put(counted, "/file", "12345", { quota });
    now += 3 * 86_400_000;
    const before = countOf("list");
    await createDryRun().storage(counted).copy("/file", "/copy", { quota });
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(countOf("list") - before).toBe(0);
  });

  it("count changes of records that come at the same time", async () => {
    const records = createDryRecords(createOwnRecords(Date.now));
    const amount = { bytes: 0, files: 0 };
    const first = {
      used: amount,
      countedAt: 1,
      changes: 0,
      isStale: false,
      uploads: { amount, changes: 0 },
      leases: [],
    };
    await Promise.all(
      Array.from({ length: 10 }, () =>
        records.update("/", (record = first) => ({ ...record, changes: record.changes + 1 })),
      ),
    );
    expect((await records.find("/"))?.changes).toBe(10);
  });

  it("stay as they are, in the store and for writers, while several dry runs are under way", async () => {
    const store = createMemoryKeyValueStore();
    const limit = { path: "/", bytes: 20 };
    const counted = createQuotaStorage(createMemoryStorage(), { store, folders: [limit] });
    await put(counted, "/file", "12345");
    const before = await counted.quota.usage("/");
    let changes = 0;
    const { set, replace } = store;
    Object.assign(store, {
      set(...args: Parameters<typeof set>) {
        changes += 1;
        return set(...args);
      },
      replace(...args: Parameters<typeof replace>) {
        changes += 1;
        return replace(...args);
      },
    });
    const runs = Array.from({ length: 5 }, async () => {
      const dry = createDryRun().storage(counted);
      const copies = ["a", "b", "c", "d"].map((name) => codeOf(dry.copy("/file", `/${name}`)));
      return Promise.all(copies);
    });
    // 15 of 20 bytes are left for each of them.
    for (const codes of await Promise.all(runs)) {
      expect(codes.filter((code) => code === "no-space")).toHaveLength(1);
    }
    expect([changes, await counted.quota.usage("/")]).toEqual([0, before]);
    Object.assign(store, { set, replace });
    await put(counted, "/real", "x".repeat(15));
    expect((await counted.quota.usage("/")).bytes).toBe(20);
  });
});

describe("createDryRun: a storage that fails", () => {
  it("fails the dry run at each call, and has nothing changed", async () => {
    let [calls, failing] = [0, Number.POSITIVE_INFINITY];
    const base = createMemoryStorage();
    await fillStorage(base, { "/a/one": "1", "/a/two": "22", "/b": "333" });
    const verbs = new Set<string>();
    const faulty = createFaultyStorage(base, ({ verb, step }) => {
      if (step !== "call") return undefined;
      verbs.add(verb);
      calls += 1;
      return calls === failing ? { fault: "error" } : undefined;
    });
    const counted = createQuotaStorage(faulty, { folders: [{ path: "/", bytes: 100 }] });
    const versioned = createVersionsStorage(counted);
    const trashed = createTrashStorage(versioned);
    const before = await counted.quota.usage("/");

    async function run(): Promise<void> {
      const storage = createDryRun().storage(trashed);
      await storage.copy("/a", "/c");
      await storage.remove("/a");
      await storage.move("/b", "/c/one", { replace: true });
      await storage.remove("/c");
    }

    verbs.clear();
    calls = 0;
    await run();
    expect([...verbs].filter((verb) => !["stat", "list", "read"].includes(verb))).toEqual([]);
    const total = calls;
    expect(total).toBeGreaterThan(10);
    for (failing = 1; failing <= total; failing += 1) {
      calls = 0;
      await run().catch(() => undefined);
    }
    expect(await namesIn(base, "/")).toEqual(["a", "b"]);
    expect(await counted.quota.usage("/")).toEqual(before);
  });
});

/** A trash as somebody else may write one. */
class OwnTrash implements Trash {
  readonly #trash: Trash;

  constructor({ trash }: TrashStorage) {
    this.#trash = trash;
  }
  list(below: string): ReturnType<Trash["list"]> {
    return this.#trash.list(below);
  }
  find(...args: Parameters<Trash["find"]>): ReturnType<Trash["find"]> {
    return this.#trash.find(...args);
  }
  members(id: string): ReturnType<Trash["members"]> {
    return this.#trash.members(id);
  }
  restore(...args: Parameters<Trash["restore"]>): Promise<string> {
    return this.#trash.restore(...args);
  }
  purge(id: string): Promise<boolean> {
    return this.#trash.purge(id);
  }
  sweep(): Promise<number> {
    return this.#trash.sweep();
  }
  watch(...args: Parameters<Trash["watch"]>): () => void {
    return this.#trash.watch(...args);
  }
}

/** Versions as somebody else may write them. */
class OwnVersions implements Versions {
  readonly #versions: Versions;

  constructor(versions: Versions) {
    this.#versions = versions;
  }
  list(path: string): AsyncIterable<FileVersion> {
    return this.#versions.list(path);
  }
  find(path: string, id: string): Promise<FileVersion | undefined> {
    return this.#versions.find(path, id);
  }
  read(...args: Parameters<Versions["read"]>): ReturnType<Versions["read"]> {
    return this.#versions.read(...args);
  }
  restore(...args: Parameters<Versions["restore"]>): Promise<StorageEntry> {
    return this.#versions.restore(...args);
  }
  purge(path: string, id: string): Promise<boolean> {
    return this.#versions.purge(path, id);
  }
  sweep(): Promise<number> {
    return this.#versions.sweep();
  }
  watch(...args: Parameters<Versions["watch"]>): () => void {
    return this.#versions.watch(...args);
  }
}

describe("createDryRun: a trash and versions of another kind", () => {
  it("are read, and each entry is restored or removed once, but not really", async () => {
    const trashed = createTrashStorage(createMemoryStorage());
    await fillStorage(trashed, { "/folder/file": "1", "/other": "2" });
    await trashed.remove("/folder");
    await trashed.remove("/other");
    const before = await entriesOf(trashed);
    const [folder, other] = ["folder", "file"].map((kind) => before.find((entry) => entry.kind === kind)?.id);
    const trash = createDryRun().trash(new OwnTrash(trashed));
    expect(await entriesOf({ trash })).toEqual(before);
    expect(await trash.find("/", [folder ?? ""])).toHaveLength(1);
    const members = [];
    for await (const { segments } of trash.members(folder ?? "")) members.push(segments);
    expect(members).toEqual([["file"]]);
    expect(await trash.restore(folder ?? "", "/there")).toBe("/there");
    expect(await codeOf(trash.purge(folder ?? ""))).toBe("not-found");
    expect(await trash.purge(other ?? "")).toBe(true);
    expect(await trash.sweep()).toBe(0);
    expect(await entriesOf(trashed)).toEqual(before);
  });

  it("have versions that are restored often, and removed once", async () => {
    const versioned = createVersionsStorage(createMemoryStorage());
    await put(versioned, "/file", "one");
    await put(versioned, "/file", "three");
    const [before] = await versionsOf(versioned, "/file");
    const id = before?.id ?? "";
    const versions = createDryRun().versions(new OwnVersions(versioned.versions));
    expect(await versionsOf({ versions }, "/file")).toEqual([before]);
    expect(await versions.find("/file", id)).toEqual(before);
    expect((await versions.restore("/file", id)).name).toBe("file");
    expect(await versions.purge("/file", id)).toBe(true);
    expect(await versions.find("/file", id)).toBeUndefined();
    expect(await codeOf(versions.purge("/file", id))).toBe("not-found");
    expect(await versioned.versions.find("/file", id)).toEqual(before);
    expect(await readFileText(versioned, "/file")).toBe("three");
  });
});
