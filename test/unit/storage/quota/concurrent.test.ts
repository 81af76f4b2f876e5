import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, describe, expect, it, vi } from "vitest";
import { isStorageError, type StorageAdapter, StorageError } from "../../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { createQuotaStorage, type QuotaStorage } from "../../../../src/storage/quota.ts";
import { createTrashStorage } from "../../../../src/storage/trash.ts";
import { createMemoryKeyValueStore } from "../../../../src/stores/memory.ts";

const root = mkdtempSync(join(tmpdir(), "quota-"));
afterAll(() => rmSync(root, { recursive: true }));

const HOME = { path: "/h", bytes: 1500, files: 30 };
/** A limit with so much room that small files are reserved whole. */
const WIDE_HOME = { path: "/h", bytes: 1_000_000, files: 1000 };
const PATHS = [
  "/h/a",
  "/h/d",
  "/h/d/a",
  "/h/d/b",
  "/h/d/e",
  "/h/d/e/x",
  "/h/sub/a",
  "/h/sub/d",
  "/v/a",
  "/v/d",
  "/v/d/a",
];

async function* bytes(count: number): AsyncGenerator<Uint8Array> {
  for (let left = count; left > 0; left -= 37) {
    await setImmediate();
    yield new Uint8Array(Math.min(left, 37));
  }
}

/** A generator of numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What is in a folder, and in the trash from there. */
async function measure(storage: StorageAdapter, folder: string): Promise<{ bytes: number; files: number }> {
  let [size, files] = [0, 0];
  const waiting = [folder, `/__svc__/trash${folder}`];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if ((await storage.stat(path)) === undefined) continue;
    for await (const entry of storage.list(path)) {
      if (entry.kind === "folder") waiting.push(`${path}/${entry.name}`);
      else if (entry.name !== "info.json") [size, files] = [size + entry.size, files + 1];
    }
  }
  return { bytes: size, files };
}

/** One change that a caller makes, which may fail as any call of a storage. */
async function change(storage: StorageAdapter, quota: typeof HOME, random: () => number): Promise<void> {
  const pick = (): string => PATHS[Math.floor(random() * PATHS.length)] ?? "/h/a";
  const [path, other, action] = [pick(), pick(), Math.floor(random() * 8)];
  const [size, isKnown, replace, permanent] = [
    Math.floor(random() * 400),
    random() < 0.5,
    random() < 0.6,
    random() < 0.5,
  ];
  try {
    if (action < 3) await storage.write(path, bytes(size), { ...(isKnown && { size }), quota });
    else if (action < 4) await storage.createFolder(path);
    else if (action < 6) await storage.remove(path, { permanent });
    else await storage[action < 7 ? "copy" : "move"](path, other, { replace, quota });
  } catch (error) {
    if (!isStorageError(error)) throw error;
  }
}

describe.each(["memory", "disk"])("quotas of a storage in %s", (kind) => {
  const createInner = (name: string): StorageAdapter => {
    if (kind === "memory") return createMemoryStorage();
    return createDiskStorage({ root: mkdtempSync(join(root, name)), durability: "rename" });
  };

  it.each([
    [true, HOME],
    [false, HOME],
    [false, WIDE_HOME],
  ])("count exactly what callers change in folders at the same time (trash: %s, limit: %o)", async (hasTrash, home) => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const inner = createInner("random-");
      for (const folder of ["/h", "/v", "/h/sub"]) await inner.createFolder(folder);
      let now = Date.now();
      const counted = createQuotaStorage(inner, {
        folders: [{ path: "/v", bytes: 800 }],
        stepBytes: 64,
        clock: () => now,
      });
      const storage = hasTrash ? createTrashStorage(counted) : counted;
      const random = createRandom(seed);
      for (const folder of ["/h", "/v"]) await counted.quota.usage(folder);
      for (let round = 0; round < 6; round += 1) {
        const callers = Array.from({ length: 8 }, async () => {
          for (let count = 0; count < 5; count += 1) await change(storage, home, random);
        });
        await Promise.all(callers);
        // What could not be counted is counted before the next admission.
        now += 61_000;
        for (const folder of ["/h", "/v"]) {
          await counted.write(`${folder}/last`, bytes(0), { size: 0, quota: home }).catch(() => undefined);
          const real = await measure(inner, folder);
          expect(await counted.quota.usage(folder)).toEqual({ ...real, reservedBytes: 0, reservedFiles: 0 });
        }
      }
    }
  });

  it("put no file into a folder that has been moved or removed while it came", async () => {
    const inner = createInner("moved-");
    for (const folder of ["/h", "/h/d", "/v"]) await inner.createFolder(folder);
    const storage = createTrashStorage(createQuotaStorage(inner));
    for (const leave of [() => storage.move("/h/d", "/v/d"), () => storage.remove("/v/d")]) {
      const folder = (await inner.stat("/h/d")) === undefined ? "/v/d" : "/h/d";
      let leaveNow: (() => Promise<unknown>) | undefined = leave;
      async function* content(): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(10);
        await leaveNow?.();
        leaveNow = undefined;
      }
      await expect(storage.write(`${folder}/new`, content())).rejects.toMatchObject({ code: "parent-missing" });
    }
    expect(await measure(inner, "/v")).toEqual({ bytes: 0, files: 0 });
  });

  it.each([{}, { replace: true }])(
    "leave no copy of a folder that has grown above the limit meanwhile: %o",
    async (options) => {
      const inner = createInner(`grown-${options.replace}-`);
      for (const folder of ["/h", "/v", "/v/d", "/v/lost"]) await inner.createFolder(folder);
      await inner.write("/v/d/a", bytes(1000));
      const growing: StorageAdapter = {
        ...inner,
        copy: async (from, ...given) => {
          if (from === "/v/lost") throw new StorageError("unavailable");
          await inner.write("/v/d/b", bytes(501));
          // The folder has to be counted again from here on.
          await expect(storage.copy("/v/lost", "/h/lost", { quota: HOME })).rejects.toMatchObject({
            code: "unavailable",
          });
          return inner.copy(from, ...given);
        },
      };
      // What is undone does not go to the trash.
      const storage = createQuotaStorage(createTrashStorage(growing));
      await expect(storage.copy("/v/d", "/h/d", { ...options, quota: HOME })).rejects.toMatchObject({
        code: "no-space",
      });
      expect(await inner.stat("/h/d")).toBeUndefined();
      await storage.write("/h/a", bytes(1500), { size: 1500, quota: HOME });
      await storage.remove("/h/a", { permanent: true });
      await storage.copy("/v/d", "/h/d", { ...options, quota: { ...HOME, bytes: 1501 } });
      expect(await storage.quota.recount("/h")).toMatchObject({ bytes: 1501, files: 2 });
    },
  );

  it("keep no caller waiting for a count that waits for a long copy", async () => {
    const inner = createInner("long-");
    for (const folder of ["/h", "/v", "/v/d", "/v/lost"]) await inner.createFolder(folder);
    let goOn = (): void => undefined;
    const going = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow: StorageAdapter = {
      ...inner,
      copy: async (from, ...given) => {
        if (from === "/v/lost") throw new StorageError("unavailable");
        await going;
        return inner.copy(from, ...given);
      },
    };
    const storage = createQuotaStorage(slow);
    await storage.write("/h/b", bytes(1), { size: 1, quota: HOME });
    const copying = storage.copy("/v/d", "/h/d", { quota: HOME });
    await expect(storage.copy("/v/lost", "/h/lost", { quota: HOME })).rejects.toMatchObject({ code: "unavailable" });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const writing = storage.write("/h/a", bytes(100), { size: 100, quota: HOME });
      await vi.waitUntil(() => vi.getTimerCount() > 0);
      await vi.advanceTimersByTimeAsync(5000);
      await writing;
    } finally {
      vi.useRealTimers();
      goOn();
    }
    await copying;
    expect(await storage.quota.recount("/h")).toMatchObject({ bytes: 101, files: 2 });
  });
});

describe("a recount", () => {
  it("starts after a walk that may have passed what the caller has changed", async () => {
    const inner = createMemoryStorage();
    for (const folder of ["/h", "/h/first", "/h/second"]) await inner.createFolder(folder);
    await inner.write("/h/first/a", bytes(10), { size: 10 });
    const [hasPassed, goOn] = [createSignal(), createSignal()];
    const { quota } = createQuotaStorage({
      ...inner,
      async *list(path, options) {
        yield* inner.list(path, options);
        if (path !== "/h/first") return;
        hasPassed.give();
        await goOn.given;
      },
    });
    const walk = quota.usage("/h");
    await hasPassed.given;
    // As a job beside the service does.
    await inner.remove("/h/first/a");
    const recounts = [quota.recount("/h"), quota.recount("/h")];
    goOn.give();
    expect(await walk).toMatchObject({ bytes: 10 });
    for (const recount of recounts) expect(await recount).toMatchObject({ bytes: 0, files: 0 });
  });
});

describe("quotas of two processes with one store", () => {
  it("count no file twice that one process stores while both count the folder", async () => {
    const store = createMemoryKeyValueStore();
    const inner = createMemoryStorage();
    await inner.createFolder("/h");
    let otherUsage: Promise<unknown> | undefined;
    const isStored = createSignal();
    const one = createQuotaStorage(
      {
        ...inner,
        write: async (...given) => {
          const entry = await inner.write(...given);
          isStored.give();
          await otherUsage;
          return entry;
        },
      },
      { store },
    );
    const other = createQuotaStorage(
      {
        ...inner,
        list: async function* (...given) {
          await isStored.given;
          yield* inner.list(...given);
        },
      },
      { store },
    );
    otherUsage = other.quota.usage("/h");
    await setImmediate();
    await one.write("/h/a", bytes(100), { size: 100, quota: HOME });
    for (const { quota } of [one, other])
      expect(await quota.usage("/h")).toEqual({ bytes: 100, files: 1, reservedBytes: 0, reservedFiles: 0 });
  });

  it("count no file twice that one process stores after it has counted the folder for both", async () => {
    const store = createMemoryKeyValueStore();
    const inner = createMemoryStorage();
    await inner.createFolder("/h");
    const [hasLooked, isStored] = [createSignal(), createSignal()];
    const late = {
      ...store,
      get: async (key: string) => {
        const text = await store.get(key);
        hasLooked.give();
        await isStored.given;
        return text;
      },
    };
    const other = createQuotaStorage(inner, { store: late });
    const otherUsage = other.quota.usage("/h");
    await hasLooked.given;
    const write: StorageAdapter["write"] = async (...given) => {
      const entry = await inner.write(...given);
      isStored.give();
      await otherUsage;
      return entry;
    };
    const one = createQuotaStorage({ ...inner, write }, { store });
    await one.write("/h/a", bytes(100), { size: 100, quota: HOME });
    for (const { quota } of [one, other])
      expect(await quota.usage("/h")).toEqual({ bytes: 100, files: 1, reservedBytes: 0, reservedFiles: 0 });
  });
});

/** Something that one caller waits for, and another one gives. */
function createSignal(): { readonly given: Promise<void>; give(): void } {
  let give: () => void = () => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

describe("a write with a quota that is aborted", () => {
  /** A storage whose counts are in a store that takes its time. */
  async function createSlow(): Promise<{ readonly storage: QuotaStorage; readonly pause: () => () => void }> {
    const store = createMemoryKeyValueStore();
    let paused = Promise.resolve();
    const slow = {
      ...store,
      replace: async (...change: Parameters<typeof store.replace>) => {
        await paused;
        return store.replace(...change);
      },
    };
    const inner = createMemoryStorage();
    await inner.createFolder("/h");
    const pause = (): (() => void) => {
      let resume: () => void = () => undefined;
      paused = new Promise((resolve) => {
        resume = resolve;
      });
      return resume;
    };
    return { storage: createQuotaStorage(inner, { store: slow }), pause };
  }

  it("keeps nothing reserved, and no path taken", async () => {
    const { storage, pause } = await createSlow();
    await storage.quota.usage("/h");
    for (const size of [1000, undefined]) {
      const resume = pause();
      const aborting = new AbortController();
      const options = { ...(size !== undefined && { size }), quota: HOME, signal: aborting.signal };
      const written = expect(storage.write("/h/a", bytes(1000), options)).rejects.toThrow("The client has left.");
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      aborting.abort(new Error("The client has left."));
      await setImmediate();
      resume();
      await written;
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
      expect(await storage.quota.usage("/h")).toEqual({ bytes: 0, files: 0, reservedBytes: 0, reservedFiles: 0 });
    }
    await storage.write("/h/a", bytes(10), { quota: HOME });
    await storage.remove("/h/a");
  });
});
