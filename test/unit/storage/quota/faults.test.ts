import { describe, expect, it } from "vitest";
import { type StorageAdapter, StorageError } from "../../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { createQuotaStorage, type QuotaStorage } from "../../../../src/storage/quota.ts";
import { noteReplacingWrite } from "../../../../src/storage/replacing-write.ts";
import { createMemoryKeyValueStore } from "../../../../src/stores/memory.ts";
import { createFaultyStorage } from "../../../../src/testing/faulty-storage.ts";
import { overrideStorage } from "../../../support/storage.ts";
import { createFailing, TRIED } from "../trials.ts";

const key = { owner: "account:alice", id: "0".repeat(32) };
const folders = [{ path: "/", bytes: 10_000, files: 20 }];

async function* bytes(count: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(count);
}

/** Changes that use every verb. */
const CHANGES: Readonly<Record<string, (storage: QuotaStorage) => Promise<unknown>>> = {
  "a write": (storage) => storage.write("/folder/new", bytes(100), { size: 100 }),
  "a write without a length": (storage) => storage.write("/folder/a", bytes(100)),
  "a removal": (storage) => storage.remove("/folder"),
  "a copy": (storage) => storage.copy("/folder", "/copy"),
  "a move": (storage) => storage.move("/folder/a", "/b", { replace: true }),
  "an upload in several requests": async ({ uploads }) => {
    await uploads?.create(key, "/folder/upload", { note: "", expires: new Date(Date.now() + 60_000) });
    await uploads?.append(key, 0, bytes(50));
    await uploads?.append(key, 50, bytes(50));
    await uploads?.complete(key);
  },
};

async function sumOf(storage: StorageAdapter, folder = "/"): Promise<{ bytes: number; files: number }> {
  let [bytes, files] = [0, 0];
  for await (const { name, kind, size } of storage.list(folder)) {
    const inner = kind === "folder" ? await sumOf(storage, `${folder === "/" ? "" : folder}/${name}`) : undefined;
    bytes += inner?.bytes ?? size;
    files += inner?.files ?? 1;
  }
  return { bytes, files };
}

describe.each(TRIED)("a storage with quotas %s, if a step below it fails", (_where, create, failable) => {
  it.each(Object.entries(CHANGES))("has the right count after a recount: %s", async (_name, change) => {
    for (let failing = 1; ; failing += 1) {
      const inner = create();
      await inner.createFolder("/folder");
      for (const name of ["/folder/a", "/folder/c", "/b"]) await inner.write(name, bytes(1000));
      const faulty = createFailing(inner, failable, failing);
      const storage = createQuotaStorage(faulty.storage, { folders });
      await storage.quota.usage("/");
      faulty.arm();
      const isDone = await change(storage).then(
        () => true,
        () => false,
      );
      const steps = faulty.disarm();
      const counted = await storage.quota.recount("/");
      expect(counted, `step ${failing}`).toMatchObject(await sumOf(inner));
      await storage.uploads?.discard(key);
      expect(await storage.quota.recount("/")).toMatchObject({ reservedBytes: 0, reservedFiles: 0 });
      if (steps < failing) {
        expect(isDone).toBe(true);
        break;
      }
    }
  });
});

describe("a storage with quotas, if a write fails after it has replaced the file", () => {
  const fail = () => Promise.reject(new StorageError("unavailable"));
  const failings: Readonly<Record<string, (inner: StorageAdapter) => StorageAdapter>> = {
    "the storage tells what it replaces": (inner) => {
      noteReplacingWrite(inner, async (path, content, options, onReplaced) => {
        const replaced = await inner.stat(path);
        await inner.write(path, content, options);
        onReplaced(replaced);
        return fail();
      });
      return inner;
    },
    "the storage does not": (inner) =>
      overrideStorage(inner, {
        async write(...write) {
          await inner.write(...write);
          return fail();
        },
      }),
  };

  it("counts nothing again if the storage is full", async () => {
    let lists = 0;
    const full = overrideStorage(createMemoryStorage(), {
      async write(_path, content) {
        for await (const chunk of content) expect(chunk).toBeInstanceOf(Uint8Array);
        throw new StorageError("no-space");
      },
    });
    const listed = createFaultyStorage(full, ({ verb }) => {
      if (verb === "list") lists += 1;
      return undefined;
    });
    const storage = createQuotaStorage(listed, { folders });
    await storage.quota.usage("/");
    lists = 0;
    for (const path of ["/a", "/b"]) {
      await expect(storage.write(path, bytes(10), { size: 10 })).rejects.toMatchObject({ code: "no-space" });
    }
    expect(lists).toBe(0);
  });

  it.each(Object.entries(failings))("counts again before the next write: %s", async (_name, wrap) => {
    const inner = createMemoryStorage();
    await inner.write("/a", bytes(10));
    const storage = createQuotaStorage(wrap(inner), { folders });
    expect(await storage.quota.usage("/")).toMatchObject({ bytes: 10 });
    await expect(storage.write("/a", bytes(6000), { size: 6000 })).rejects.toMatchObject({ code: "unavailable" });
    await expect(storage.write("/b", bytes(5000), { size: 5000 })).rejects.toMatchObject({ code: "no-space" });
    expect(await storage.quota.usage("/")).toMatchObject({ bytes: 6000, files: 1, reservedBytes: 0 });
  });
});

describe("a sweep of quotas, if one folder cannot be counted", () => {
  it("counts the others, and that one when it can", async () => {
    const memory = createMemoryStorage();
    for (const path of ["/a", "/b"]) await memory.createFolder(path);
    let broken = "";
    const faulty = createFaultyStorage(memory, ({ verb, path }) =>
      verb === "list" && path === broken ? { fault: "error" } : undefined,
    );
    let now = 1;
    const { quota } = createQuotaStorage(faulty, {
      folders: ["/a", "/b"].map((path) => ({ path, files: 9 })),
      recountSeconds: 60,
      clock: () => now,
    });
    for (const path of ["/a", "/b"]) await quota.usage(path);
    // Another program.
    for (const path of ["/a/new", "/b/new"]) await memory.write(path, bytes(1));
    now += 60_000;
    broken = "/a";
    await expect(quota.sweep()).rejects.toMatchObject({ code: "unavailable" });
    expect([await quota.usage("/a"), await quota.usage("/b")]).toMatchObject([{ files: 0 }, { files: 1 }]);
    broken = "";
    expect(await quota.sweep()).toBe(1);
    expect(await quota.usage("/a")).toMatchObject({ files: 1 });
  });
});

describe("a sweep of quotas that is aborted", () => {
  it("ends no count that another caller waits for", async () => {
    const memory = createMemoryStorage();
    await memory.createFolder("/a");
    await memory.createFolder("/a/deep");
    const stopping = new AbortController();
    let [isSwept, now] = [false, 1];
    let recounted: Promise<unknown> | undefined;
    const storage = overrideStorage(memory, {
      async *list(path) {
        if (isSwept && path === "/a") {
          recounted ??= quota.recount("/a");
          stopping.abort();
        }
        yield* memory.list(path);
      },
    });
    const options = { folders: [{ path: "/a", files: 9 }], recountSeconds: 60, clock: () => now };
    const { quota } = createQuotaStorage(storage, options);
    await quota.usage("/a");
    // Another program.
    await memory.write("/a/deep/new", bytes(1));
    now += 60_000;
    isSwept = true;
    await expect(quota.sweep({ signal: stopping.signal })).rejects.toThrow("aborted");
    expect(await recounted).toMatchObject({ files: 1 });
  });
});

describe("a storage with quotas, if an upload stalls for longer than a process is waited for", () => {
  it("keeps its reservation in this process, also when others are counted meanwhile", async () => {
    let now = 1;
    const storage = createQuotaStorage(createMemoryStorage(), { folders, clock: () => now });
    async function* stalled(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(4500);
      now += 3_600_000;
      await expect(storage.write("/b", bytes(9000), { size: 9000 })).rejects.toMatchObject({ code: "no-space" });
      yield new Uint8Array(4500);
    }
    await storage.write("/a", stalled(), { size: 9000 });
    expect(await storage.quota.usage("/")).toMatchObject({ bytes: 9000, files: 1, reservedBytes: 0 });
  });
});

describe("a storage with quotas, if its process stops for longer than others wait for it", () => {
  const SIZE = 4500;
  const LATE_MS = 660_000;

  /** Two processes with one storage and one store. */
  function openTwo() {
    let now = 1;
    const [inner, store] = [createMemoryStorage(), createMemoryKeyValueStore()];
    const [stopped, other] = [1, 2].map(() => createQuotaStorage(inner, { folders, store, clock: () => now }));
    if (stopped === undefined || other === undefined) throw new Error("two are needed");
    const stop = (): void => {
      now += LATE_MS;
    };
    return { inner, stopped, other, stop };
  }

  it.each([
    ["in the middle of its file", [1]],
    ["after the last byte of its file", [2]],
    ["twice", [1, 2]],
  ])("gets no room that was given to another process meanwhile: %s", async (_when, stops) => {
    const { inner, stopped, other, stop } = openTwo();
    let isFilled = false;
    async function* content(): AsyncGenerator<Uint8Array> {
      for (const chunk of [1, 2]) {
        yield new Uint8Array(SIZE);
        if (!stops.includes(chunk)) continue;
        stop();
        if (!isFilled) await other.write("/other", bytes(9000), { size: 9000 });
        isFilled = true;
      }
    }
    await expect(stopped.write("/late", content(), { size: 2 * SIZE })).rejects.toMatchObject({ code: "no-space" });
    expect(await inner.stat("/late")).toBeUndefined();
    expect(await other.quota.usage("/")).toEqual({ bytes: 9000, files: 1, reservedBytes: 0, reservedFiles: 0 });
  });

  it("gets none by a file that needs no room either", async () => {
    const { inner, stopped, other, stop } = openTwo();
    async function* content(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(SIZE);
      stop();
      await other.write("/other", bytes(9000), { size: 9000 });
      await stopped.write("/empty", bytes(0), { size: 0 }).catch(() => undefined);
      yield new Uint8Array(SIZE);
    }
    await expect(stopped.write("/late", content(), { size: 2 * SIZE })).rejects.toMatchObject({ code: "no-space" });
    expect((await sumOf(inner)).bytes).toBe(9000);
  });

  it("stores those of its files that still fit", async () => {
    const { inner, stopped, other, stop } = openTwo();
    let resume = (): void => undefined;
    const stopping = new Promise<void>((resolve) => (resume = resolve));
    async function* content(size: number): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(size / 2);
      await stopping;
      yield new Uint8Array(size / 2);
    }
    const writing = [2000, 4000, 1000].map((size, index) =>
      stopped.write(`/${index}`, content(size), { size }).then(
        () => "stored",
        ({ code }: StorageError) => code,
      ),
    );
    while ((await other.quota.usage("/")).reservedBytes < 7000) await new Promise(setImmediate);
    stop();
    await other.write("/other", bytes(8000), { size: 8000 });
    resume();
    const outcomes = await Promise.all(writing);
    expect(outcomes).toContain("no-space");
    expect((await sumOf(inner)).bytes).toBeLessThanOrEqual(10_000);
    expect(await other.quota.recount("/")).toMatchObject({ ...(await sumOf(inner)), reservedBytes: 0 });
  });

  it("keeps its room if no other process has had it", async () => {
    const { inner, stopped, stop } = openTwo();
    async function* content(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(SIZE);
      stop();
      yield new Uint8Array(SIZE);
    }
    await stopped.write("/late", content(), { size: 2 * SIZE });
    expect(await inner.stat("/late")).toMatchObject({ size: 2 * SIZE });
  });
});

describe("a storage with quotas, if its store fails", () => {
  it("stores nothing that it cannot count, and goes on when the store is back", async () => {
    const memory = createMemoryKeyValueStore();
    let isBroken = false;
    const store = {
      ...memory,
      replace: async (...change: Parameters<typeof memory.replace>) => {
        if (isBroken) throw new Error("The connection is lost.");
        return memory.replace(...change);
      },
    };
    const inner = createMemoryStorage();
    const storage = createQuotaStorage(inner, { folders, store });
    await storage.write("/a", bytes(100), { size: 100 });
    isBroken = true;
    await expect(storage.write("/b", bytes(100), { size: 100 })).rejects.toMatchObject({ code: "unavailable" });
    expect(await inner.stat("/b")).toBeUndefined();
    await storage.remove("/a");
    isBroken = false;
    await storage.write("/b", bytes(10_000), { size: 10_000 });
    expect(await storage.quota.usage("/")).toMatchObject({ bytes: 10_000, files: 1, reservedBytes: 0 });
  });
});

describe("a storage with quotas, if a file is stored although its client has left", () => {
  it("counts it by a walk before the next admission", async () => {
    const inner = createMemoryStorage();
    const controller = new AbortController();
    const remote = overrideStorage(inner, {
      async write(path, content, { signal, ...options } = {}) {
        const entry = await inner.write(path, content, options);
        if (path === "/a") controller.abort();
        signal?.throwIfAborted();
        return entry;
      },
    });
    const storage = createQuotaStorage(remote, { folders });
    const { signal } = controller;
    await expect(storage.write("/a", bytes(6000), { size: 6000, signal })).rejects.toThrow("aborted");
    await expect(storage.write("/b", bytes(4001), { size: 4001 })).rejects.toMatchObject({ code: "no-space" });
    await storage.write("/b", bytes(4000), { size: 4000 });
    expect(await storage.quota.usage("/")).toMatchObject({ bytes: 10_000, files: 2, reservedBytes: 0 });
  });
});

describe("a storage with quotas, if its store fails when a file is in its place", () => {
  /** The store fails for a number of readings after each file, which the service has to find its counts. */
  async function open(readings: number) {
    const memory = createMemoryKeyValueStore();
    let failing = 0;
    const store = {
      ...memory,
      get: async (key: string) => {
        failing -= 1;
        if (failing >= 0) throw new Error("The connection is lost.");
        return memory.get(key);
      },
    };
    const inner = createMemoryStorage();
    await inner.createFolder("/folder");
    const late = overrideStorage(inner, {
      async write(...write) {
        const entry = await inner.write(...write);
        failing = readings;
        return entry;
      },
    });
    const storage = createQuotaStorage(late, { folders, store });
    for (const path of ["/", "/folder"]) await storage.quota.usage(path);
    return { inner, storage, heal: () => (failing = 0) };
  }

  it.each([
    ["a moment", 3],
    ["long", Number.POSITIVE_INFINITY],
  ])("says that it is there, and counts right with the next walk: for %s", async (_time, readings) => {
    const { inner, storage, heal } = await open(readings);
    const { quota } = storage;
    expect(await storage.write("/folder/a", bytes(100), { size: 100 })).toMatchObject({ name: "a", size: 100 });
    heal();
    expect(await inner.stat("/folder/a")).toMatchObject({ size: 100 });
    // Below a limit the next file is decided by what is there, whatever was lost.
    await expect(storage.write("/b", bytes(9901), { size: 9901 })).rejects.toMatchObject({ code: "no-space" });
    expect(await quota.usage("/")).toMatchObject({ bytes: 100, files: 1, reservedBytes: 0, reservedFiles: 0 });
    expect(await quota.recount("/folder")).toMatchObject({ bytes: 100, files: 1 });
    expect(await quota.usage("/folder")).toMatchObject({ bytes: 100, files: 1 });
  });
});
