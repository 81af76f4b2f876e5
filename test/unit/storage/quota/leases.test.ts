import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StorageAdapter, StorageError, TransferOptions } from "../../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { createQuotaStorage } from "../../../../src/storage/quota.ts";
import { createMemoryKeyValueStore } from "../../../../src/stores/memory.ts";
import { overrideStorage } from "../../../support/storage.ts";

const HOME = { path: "/h", bytes: 1000, files: 10 };
const MINUTE = 60_000;
const VERBS = ["copy", "move"] as const;
type Verb = (typeof VERBS)[number];

async function* bytes(count: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(count);
}

async function* toContent(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/**
 * Two processes with one storage, which has a folder of 600 bytes outside of the limit. `during`: what happens before
 * the first one has copied or moved that into the limit.
 */
async function openTwo(during: (options: TransferOptions) => Promise<void>) {
  let now = 1;
  let isBroken = false;
  const [inner, memory] = [createMemoryStorage(), createMemoryKeyValueStore()];
  const store = {
    ...memory,
    get: async (key: string) => (isBroken ? Promise.reject(new Error("The connection is lost.")) : memory.get(key)),
  };
  for (const folder of ["/h", "/v", "/v/d"]) await inner.createFolder(folder);
  for (const name of ["a", "b"]) await inner.write(`/v/d/${name}`, bytes(300));
  const slowly =
    (verb: Verb): StorageAdapter[Verb] =>
    async (from, to, options = {}) => {
      if (from.startsWith("/v")) await during(options);
      return inner[verb](from, to, options);
    };
  const slow = overrideStorage(inner, { copy: slowly("copy"), move: slowly("move") });
  const options = { folders: [HOME], store, clock: () => now };
  const pass = async (minutes: number, isRunning = true): Promise<void> => {
    now += minutes * MINUTE;
    if (isRunning) await vi.advanceTimersByTimeAsync(minutes * MINUTE);
  };
  const setBroken = (broken: boolean): void => {
    isBroken = broken;
  };
  const [one, other] = [createQuotaStorage(slow, options), createQuotaStorage(inner, options)];
  return { inner, one, other, pass, setBroken };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

describe.each(VERBS)("a %s below a quota that takes longer than others wait for its process", (verb) => {
  it("keeps its room", async () => {
    const { one, other, pass } = await openTwo(async () => {
      for (let minute = 0; minute < 60; minute += 1) {
        await pass(1);
        const writing = other.write("/h/other", bytes(401), { size: 401 });
        await expect(writing, `minute ${minute}`).rejects.toMatchObject({ code: "no-space" });
      }
      await other.write("/h/other", bytes(400), { size: 400 });
    });
    await one[verb]("/v/d", "/h/d");
    expect(await other.quota.usage("/h")).toEqual({ bytes: 1000, files: 3, reservedBytes: 0, reservedFiles: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is undone if another process has had its room", async () => {
    const { inner, one, other, pass } = await openTwo(async () => {
      // The process is stopped, and goes on.
      await pass(11, false);
      await other.write("/h/other", bytes(900), { size: 900 });
    });
    await expect(one[verb]("/v/d", "/h/d")).rejects.toMatchObject({ code: "no-space" });
    expect(await inner.stat("/h/d")).toBeUndefined();
    for (const name of ["a", "b"]) expect(await inner.stat(`/v/d/${name}`)).toMatchObject({ size: 300 });
    await other.write("/h/last", bytes(100), { size: 100 });
    expect(await one.quota.usage("/h")).toEqual({ bytes: 1000, files: 2, reservedBytes: 0, reservedFiles: 0 });
  });

  it("is aborted as soon as it cannot have its room again", async () => {
    let isAborted = false;
    const { inner, one, other, pass } = await openTwo(async ({ signal }) => {
      await pass(11, false);
      await other.write("/h/other", bytes(900), { size: 900 });
      await pass(2);
      isAborted = signal?.aborted === true;
    });
    await expect(one[verb]("/v/d", "/h/d", { replace: true })).rejects.toMatchObject({ code: "no-space" });
    expect([isAborted, await inner.stat("/h/d")]).toEqual([true, undefined]);
    expect(await one.quota.usage("/h")).toEqual({ bytes: 900, files: 1, reservedBytes: 0, reservedFiles: 0 });
  });

  it("is done if no other process has had its room", async () => {
    const { one, pass } = await openTwo(() => pass(11, false));
    await one[verb]("/v/d", "/h/d");
    expect(await one.quota.recount("/h")).toEqual({ bytes: 600, files: 2, reservedBytes: 0, reservedFiles: 0 });
  });

  it("ends with the signal of its caller", async () => {
    const controller = new AbortController();
    const { inner, one } = await openTwo(async () => controller.abort(new Error("The client has left.")));
    const { signal } = controller;
    await expect(one[verb]("/v/d", "/h/d", { signal })).rejects.toThrow("The client has left.");
    expect(await inner.stat("/h/d")).toBeUndefined();
    expect(await one.quota.usage("/h")).toEqual({ bytes: 0, files: 0, reservedBytes: 0, reservedFiles: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("keeps its room if the store of the counts fails for some minutes", async () => {
    const { one, other, pass, setBroken } = await openTwo(async () => {
      setBroken(true);
      await pass(6);
      setBroken(false);
      await pass(6);
      const writing = other.write("/h/other", bytes(401), { size: 401 });
      await expect(writing).rejects.toMatchObject({ code: "no-space" });
    });
    await one[verb]("/v/d", "/h/d");
    expect(await other.quota.usage("/h")).toEqual({ bytes: 600, files: 2, reservedBytes: 0, reservedFiles: 0 });
  });
});

describe("a copied folder below a quota that is undone", () => {
  it("loses nothing that others have stored in it since it was measured", async () => {
    const inner = createMemoryStorage();
    for (const folder of ["/h", "/v", "/v/d", "/v/d/deep"]) await inner.createFolder(folder);
    for (const path of ["/v/d/a", "/v/d/b", "/v/d/deep/c"]) await inner.write(path, bytes(300));
    let looks = 0;
    const busy = overrideStorage(inner, {
      async copy(from, to, options) {
        await inner.write("/v/d/grown", bytes(200));
        const placement = await inner.copy(from, to, options);
        // The source looks different again when the copy is undone.
        await inner.remove("/v/d/b");
        await inner.write("/v/d/deep/c", bytes(301));
        return placement;
      },
      async *list(path) {
        yield* inner.list(path);
        if (path !== "/h/d") return;
        looks += 1;
        if (looks === 1) for (const name of ["a", "late"]) await inner.write(`/h/d/${name}`, bytes(300));
      },
    });
    const storage = createQuotaStorage(busy, { folders: [HOME] });
    await expect(storage.copy("/v/d", "/h/d")).rejects.toMatchObject({ code: "no-space" });
    const names: string[] = [];
    for await (const { name } of inner.list("/h/d")) names.push(name);
    expect(names.sort()).toEqual(["a", "late"]);
  });
});

describe.each(["complete", "join"] as const)("%s of an upload that takes longer than others wait for it", (verb) => {
  it("keeps the room of its file", async () => {
    let now = 1;
    const [inner, store] = [createMemoryStorage(), createMemoryKeyValueStore()];
    const { uploads } = inner;
    if (uploads?.join === undefined) throw new Error("The storage has no uploads.");
    const options = { folders: [{ path: "/", files: 1 }], store, clock: () => now };
    const other = createQuotaStorage(inner, options);
    const pass = async (): Promise<void> => {
      for (let minute = 0; minute < 15; minute += 1) {
        now += MINUTE;
        await vi.advanceTimersByTimeAsync(MINUTE);
        await expect(other.write("/other", bytes(1), { size: 1 })).rejects.toMatchObject({ code: "no-space" });
      }
    };
    const slow = overrideStorage(inner, {
      uploads: {
        ...uploads,
        complete: (key, options) => pass().then(() => uploads.complete(key, options)),
        join: async (keys, path, options) => pass().then(() => uploads.join?.(keys, path, options) as never),
      },
    });
    const own = createQuotaStorage(slow, options).uploads;
    const key = { owner: "alice", id: "0123456789abcdef0123456789abcdef" };
    await own?.create(key, "/a", { size: 10, note: "", expires: new Date(Date.now() + MINUTE) });
    await own?.append(key, 0, bytes(10));
    await (verb === "join" ? own?.join?.([key], "/a") : own?.complete(key));
    expect(await other.quota.usage("/")).toMatchObject({ bytes: 10, files: 1, reservedFiles: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("needs no more room than its file after the process was stopped for too long", async () => {
    let now = 1;
    const [inner, store] = [createMemoryStorage(), createMemoryKeyValueStore()];
    const { uploads } = inner;
    if (uploads?.join === undefined) throw new Error("The storage has no uploads.");
    const options = { folders: [{ path: "/", bytes: 10 }], store, clock: () => now };
    const other = createQuotaStorage(inner, options);
    const stop = async (signal: AbortSignal | undefined): Promise<void> => {
      now += 11 * MINUTE;
      await other.quota.recount("/");
      await vi.advanceTimersByTimeAsync(2 * MINUTE);
      signal?.throwIfAborted();
    };
    const slow = overrideStorage(inner, {
      uploads: {
        ...uploads,
        complete: (key, options) => stop(options?.signal).then(() => uploads.complete(key, options)),
        join: (keys, path, options) => stop(options?.signal).then(() => uploads.join?.(keys, path, options) as never),
      },
    });
    const own = createQuotaStorage(slow, options).uploads;
    const key = { owner: "alice", id: "0123456789abcdef0123456789abcdef" };
    await own?.create(key, "/a", { size: 10, note: "", expires: new Date(Date.now() + MINUTE) });
    await own?.append(key, 0, bytes(10));
    await (verb === "join" ? own?.join?.([key], "/a") : own?.complete(key));
    expect(await other.quota.usage("/")).toMatchObject({ bytes: 10, files: 1, reservedBytes: 0 });
  });
});

describe("uploads of a process that go on together after it was stopped for too long", () => {
  const LIMIT = { path: "/", bytes: 10_000, files: 20 };

  /** Two processes. The first one is stopped in the middle of its files, and the other one stores a file meanwhile. */
  async function resume(sizes: readonly number[], size: number, isKnown: boolean) {
    let now = 1;
    const [inner, store] = [createMemoryStorage(), createMemoryKeyValueStore()];
    const options = { folders: [LIMIT], store, stepBytes: 500, clock: () => now };
    const [stopped, other] = [createQuotaStorage(inner, options), createQuotaStorage(inner, options)];
    let goOn = (): void => undefined;
    const going = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    async function* content(size: number): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(size - 1);
      await going;
      yield new Uint8Array(1);
    }
    const outcomes = sizes.map((size, index) =>
      stopped.write(`/${index}`, content(size), isKnown ? { size } : {}).then(
        () => "stored",
        ({ code }: StorageError) => code,
      ),
    );
    const total = sizes.reduce((sum, one) => sum + one, 0);
    await vi.waitUntil(async () => (await other.quota.usage("/")).reservedBytes >= total - sizes.length);
    now += 11 * MINUTE;
    await other.write("/other", bytes(size), { size });
    goOn();
    const found = await Promise.all(outcomes);
    const usage = await other.quota.usage("/");
    expect(await other.quota.recount("/")).toEqual(usage);
    expect(usage).toMatchObject({ reservedBytes: 0, reservedFiles: 0 });
    return { found, usage, stopped };
  }

  it.each([
    ["one of three that are alike", [2000, 2000, 2000], 8000, ["stored", "no-space", "no-space"]],
    ["the small ones", [3000, 1000, 3000, 1000], 8000, ["no-space", "stored", "no-space", "stored"]],
    ["all", [1000, 1000], 8000, ["stored", "stored"]],
    ["none", [1000, 1000], 9001, ["no-space", "no-space"]],
  ])("are stored as far as they fit: %s", async (_which, sizes, size, expected) => {
    const { found, usage, stopped } = await resume(sizes, size, true);
    expect(found).toEqual(expected);
    expect(usage.bytes).toBeLessThanOrEqual(LIMIT.bytes);
    // Nothing is held that was given back twice, or never.
    const left = LIMIT.bytes - usage.bytes;
    await expect(stopped.write("/last", bytes(left + 1), { size: left + 1 })).rejects.toMatchObject({
      code: "no-space",
    });
    await stopped.write("/last", bytes(left), { size: left });
  });

  it("are stored as far as they fit, without a length", async () => {
    const { found, usage } = await resume([2000, 2000, 2000], 8000, false);
    expect(found.filter((one) => one === "stored")).toHaveLength(1);
    expect(usage.bytes).toBe(10_000);
  });
});

describe("what a process has reserved", () => {
  it("is kept while the storage takes long to append to an upload without a length", async () => {
    let now = 1;
    const [inner, store] = [createMemoryStorage(), createMemoryKeyValueStore()];
    const { uploads } = inner;
    if (uploads === undefined) throw new Error("The storage has no uploads.");
    const options = { folders: [{ path: "/", bytes: 1000 }], store, stepBytes: 100, clock: () => now };
    const other = createQuotaStorage(inner, options);
    const slow = overrideStorage(inner, {
      uploads: {
        ...uploads,
        append: async (...call) => {
          const state = await uploads.append(...call);
          for (let minute = 0; minute < 15; minute += 1) {
            now += MINUTE;
            await vi.advanceTimersByTimeAsync(MINUTE);
            await expect(other.write("/b", bytes(600), { size: 600 })).rejects.toMatchObject({ code: "no-space" });
          }
          return state;
        },
      },
    });
    const own = createQuotaStorage(slow, options).uploads;
    const key = { owner: "alice", id: "0123456789abcdef0123456789abcdef" };
    await own?.create(key, "/a", { note: "", expires: new Date(Date.now() + MINUTE) });
    await own?.append(key, 0, bytes(500));
    expect(await other.quota.usage("/")).toMatchObject({ bytes: 0, reservedBytes: 500 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([["with", { size: 100_000 }] as const, ["without", {}] as const])(
    "is kept while the storage takes long to place a file %s a length",
    async (_which, sized) => {
      let now = 1;
      const [inner, store] = [createMemoryStorage(), createMemoryKeyValueStore()];
      const options = { folders: [{ path: "/", bytes: 150_000 }], store, clock: () => now };
      const other = createQuotaStorage(inner, options);
      const slow = overrideStorage(inner, {
        write: async (path, content, writeOptions) => {
          const chunks: Uint8Array[] = [];
          for await (const chunk of content) chunks.push(chunk);
          for (let minute = 0; minute < 15; minute += 1) {
            now += MINUTE;
            await vi.advanceTimersByTimeAsync(MINUTE);
            await expect(other.write("/b", bytes(60_000), { size: 60_000 })).rejects.toMatchObject({
              code: "no-space",
            });
          }
          return inner.write(path, toContent(chunks), writeOptions);
        },
      });
      await createQuotaStorage(slow, options).write("/a", bytes(100_000), sized);
      expect(await other.quota.usage("/")).toEqual({ bytes: 100_000, files: 1, reservedBytes: 0, reservedFiles: 0 });
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it("is kept for longer when the process removes something below the limit", async () => {
    let now = 1;
    const [inner, store] = [createMemoryStorage(), createMemoryKeyValueStore()];
    await inner.write("/former", bytes(1));
    const options = { folders: [{ path: "/", bytes: 1000 }], store, clock: () => now };
    const [own, other] = [createQuotaStorage(inner, options), createQuotaStorage(inner, options)];
    let goOn = (): void => undefined;
    const going = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    async function* content(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(599);
      await going;
      yield new Uint8Array(1);
    }
    const written = own.write("/a", content(), { size: 600 });
    await vi.waitUntil(async () => (await other.quota.usage("/")).reservedBytes === 600);
    now += 9 * MINUTE;
    await own.remove("/former");
    now += 2 * MINUTE;
    await expect(other.write("/b", bytes(600), { size: 600 })).rejects.toMatchObject({ code: "no-space" });
    goOn();
    await written;
    expect(await other.quota.usage("/")).toMatchObject({ bytes: 600, files: 1, reservedBytes: 0 });
  });
});

describe("what a process had reserved that has ended", () => {
  /** Two processes with one store, of which the first one ends in the middle of a write with a limit of its caller. */
  async function openAfterCrash(asked: boolean) {
    let now = 1;
    const [inner, store] = [createMemoryStorage(), createMemoryKeyValueStore()];
    await inner.createFolder("/h");
    const open = () => createQuotaStorage(inner, { store, clock: () => now });
    const [ended, other] = [open(), open()];
    if (asked) await other.quota.usage("/h");
    const reserved = new Promise<void>((resolve) => {
      async function* content(): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(1);
        resolve();
        await new Promise(() => undefined);
      }
      void ended.write("/h/a", content(), { size: 600, quota: HOME });
    });
    await reserved;
    return { other, pass: (minutes: number) => (now += minutes * MINUTE) };
  }

  const usage = { bytes: 0, files: 0, reservedBytes: 0, reservedFiles: 0 };

  it("is freed by a sweep in a folder that its process was asked about, after the lease", async () => {
    const { other, pass } = await openAfterCrash(true);
    pass(9);
    expect(await other.quota.sweep()).toBe(0);
    expect(await other.quota.usage("/h")).toEqual({ ...usage, reservedBytes: 600, reservedFiles: 1 });
    pass(2);
    expect(await other.quota.sweep()).toBe(1);
    expect(await other.quota.usage("/h")).toEqual(usage);
    expect([await other.quota.sweep(), await other.quota.sweep()]).toEqual([0, 0]);
  });

  it("leaves other requests their time, however many folders a process was asked about", async () => {
    const storage = createQuotaStorage(createMemoryStorage());
    for (let index = 0; index < 10_000; index += 1) await storage.quota.usage(`/${index}`);
    const startedAt = performance.now();
    expect(await storage.quota.sweep()).toBe(0);
    // 10,000 promises that were waited for again after each folder took 8 seconds.
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it("is freed by a look in a process that has just started", async () => {
    const { other, pass } = await openAfterCrash(false);
    pass(11);
    // Nobody waits for the walk.
    expect(await other.quota.usage("/h")).toEqual({ ...usage, reservedBytes: 600, reservedFiles: 1 });
    await vi.waitFor(async () => expect(await other.quota.usage("/h")).toEqual(usage));
  });
});
