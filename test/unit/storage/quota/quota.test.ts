import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import type { AtomicKeyValueStore } from "../../../../src/contracts/atomic-store.ts";
import { isQuotaError } from "../../../../src/contracts/quota.ts";
import { isStorageError, type StorageAdapter, type WriteOptions } from "../../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { createQuotaStorage, type QuotaOptions, type QuotaStorage } from "../../../../src/storage/quota.ts";
import { createTrashStorage } from "../../../../src/storage/trash.ts";
import { createMemoryKeyValueStore } from "../../../../src/stores/memory.ts";

const key = (number: number) => ({ owner: "account:alice", id: number.toString(16).padStart(32, "0") });

async function* bytes(count: number, chunk = 1024): AsyncGenerator<Uint8Array> {
  for (let left = count; left > 0; left -= chunk) yield new Uint8Array(Math.min(left, chunk));
}

function put(storage: StorageAdapter, path: string, count: number, options: WriteOptions = {}): Promise<unknown> {
  return storage.write(path, bytes(count), { size: count, ...options });
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "done",
    (error: unknown) => (isStorageError(error) ? error.code : String(error)),
  );
}

function open(options: QuotaOptions = { folders: [{ path: "/", bytes: 10_000, files: 5 }] }): {
  inner: StorageAdapter;
  storage: QuotaStorage;
} {
  const inner = createMemoryStorage();
  return { inner, storage: createQuotaStorage(inner, options) };
}

describe("createQuotaStorage", () => {
  it("refuses what exceeds the bytes or the files, and changes nothing", async () => {
    const { storage } = open();
    await put(storage, "/a", 6000);
    expect(await codeOf(put(storage, "/b", 4001))).toBe("no-space");
    await put(storage, "/b", 4000);
    expect(await codeOf(put(storage, "/b", 4001))).toBe("no-space");
    expect((await storage.stat("/b"))?.size).toBe(4000);
    await put(storage, "/b", 1);
    for (const name of ["/c", "/d", "/e"]) await put(storage, name, 0);
    expect(await codeOf(put(storage, "/f", 0))).toBe("no-space");
    expect(await storage.stat("/f")).toBeUndefined();
    expect(await storage.quota.usage("/")).toEqual({ bytes: 6001, files: 5, reservedBytes: 0, reservedFiles: 0 });
  });

  it("refuses a store without the atomic step, in which no count could be kept", () => {
    const message = /^The option store must be a store with `replace`, as those of /;
    for (const store of [new Keyv(), {}, null, "redis://127.0.0.1"]) {
      expect(() => open({ store: store as AtomicKeyValueStore })).toThrow(message);
    }
  });

  it("reserves content without a length as it comes, to the last byte", async () => {
    const { storage } = open();
    await storage.write("/a", bytes(10_000));
    expect(await codeOf(storage.write("/b", bytes(1)))).toBe("no-space");
    await storage.remove("/a");
    expect(await codeOf(storage.write("/b", bytes(10_001)))).toBe("no-space");
    expect(await storage.quota.usage("/")).toEqual({ bytes: 0, files: 0, reservedBytes: 0, reservedFiles: 0 });
  });

  it("never exceeds a limit with 200 writers of any size at once", async () => {
    const { inner, storage } = open({ folders: [{ path: "/", bytes: 100_000, files: 120 }] });
    let most = 0;
    const watch = async (): Promise<void> => {
      let [sum, files] = [0, 0];
      for await (const { size } of inner.list("/")) [sum, files] = [sum + size, files + 1];
      most = Math.max(most, sum);
      expect(files).toBeLessThanOrEqual(120);
    };
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const size = (index * 7919) % 3000;
        const options = index % 2 === 0 ? { size } : {};
        await codeOf(storage.write(`/${index % 150}`, bytes(size, 500), options));
        await watch();
      }),
    );
    expect(most).toBeLessThanOrEqual(100_000);
    const before = await storage.quota.usage("/");
    expect(await storage.quota.recount("/")).toEqual(before);
  });

  it("never exceeds a limit with two processes on one store", async () => {
    const store = createMemoryKeyValueStore();
    const inner = createMemoryStorage();
    const options = { store, folders: [{ path: "/", bytes: 50_000 }] };
    const storages = [createQuotaStorage(inner, options), createQuotaStorage(inner, options)];
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const size = (index * 7919) % 3000;
        const storage = storages[index % 2] as QuotaStorage;
        await codeOf(storage.write(`/${index}`, bytes(size, 500), index % 3 === 0 ? {} : { size }));
        let sum = 0;
        for await (const entry of inner.list("/")) sum += entry.size;
        expect(sum).toBeLessThanOrEqual(50_000);
      }),
    );
    const before = await storages[0]?.quota.usage("/");
    expect(await storages[1]?.quota.recount("/")).toEqual(before);
  });

  it("gives nothing for replacing a file that is removed meanwhile", async () => {
    const { storage } = open();
    await put(storage, "/a", 9000);
    await put(storage, "/b", 1000);
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(4500);
      await storage.remove("/a");
      await put(storage, "/c", 5000);
      yield new Uint8Array(4500);
    }
    // With 9,000 bytes in place of 9,000 nothing was reserved. Now /b and /c take 6,000.
    expect(await codeOf(storage.write("/a", slow(), { size: 9000 }))).toBe("no-space");
    expect(await storage.stat("/a")).toBeUndefined();
    expect(await storage.quota.usage("/")).toMatchObject({ bytes: 6000, files: 2, reservedBytes: 0 });
  });

  it("refuses a restore beyond the limit, and what was removed stays in the trash", async () => {
    const counted = createQuotaStorage(createMemoryStorage(), { folders: [{ path: "/small", bytes: 100, files: 1 }] });
    const storage = createTrashStorage(counted);
    for (const folder of ["/small", "/other", "/large", "/large/two"]) await storage.createFolder(folder);
    await put(storage, "/large/bytes", 101);
    for (const name of ["a", "b"]) await put(storage, `/large/two/${name}`, 1);
    const ids: string[] = [];
    for (const path of ["/large/bytes", "/large/two"]) {
      await storage.remove(path, { onTrashed: (id) => ids.push(id) });
    }
    const [file = "", folder = ""] = ids;
    for (const id of [file, folder]) {
      await expect(storage.trash.restore(id, "/small/restored")).rejects.toSatisfy(isQuotaError);
    }
    const quota = { path: "/other", bytes: 100 };
    await expect(storage.trash.restore(file, "/other/restored", { quota })).rejects.toSatisfy(isQuotaError);
    for (const path of ["/small", "/other"]) expect(await storage.stat(`${path}/restored`)).toBeUndefined();
    expect(await counted.quota.usage("/small")).toEqual({ bytes: 0, files: 0, reservedBytes: 0, reservedFiles: 0 });
    for (const id of [file, folder]) await storage.trash.restore(id);
    expect([(await storage.stat("/large/bytes"))?.size, (await storage.stat("/large/two/b"))?.size]).toEqual([101, 1]);
  });

  it("has limits of callers beside those of folders, and counts what others write", async () => {
    const { storage } = open({});
    await storage.createFolder("/alice");
    const quota = { path: "/alice", bytes: 1000 };
    await put(storage, "/alice/a", 600, { quota });
    expect(await codeOf(put(storage, "/alice/b", 401, { quota }))).toBe("no-space");
    await put(storage, "/alice/b", 401);
    expect(await codeOf(put(storage, "/alice/c", 1, { quota }))).toBe("no-space");
    expect(await storage.quota.usage("/alice")).toMatchObject({ bytes: 1001, files: 2 });
  });

  it("refuses a rename over a file beyond the limit, and both files stay", async () => {
    const { storage } = open({ folders: [{ path: "/in", bytes: 100 }] });
    for (const folder of ["/in", "/out"]) await storage.createFolder(folder);
    const files = { "/in/a": 50, "/in/b": 40, "/out/c": 51 };
    for (const [path, size] of Object.entries(files)) await put(storage, path, size);
    const sizes = (): Promise<readonly (number | undefined)[]> =>
      Promise.all(Object.keys(files).map(async (path) => (await storage.stat(path))?.size));
    for (const verb of ["move", "copy"] as const) {
      await expect(storage[verb]("/out/c", "/in/b", { replace: true })).rejects.toSatisfy(isQuotaError);
      expect(await sizes()).toEqual([50, 40, 51]);
    }
    expect(await storage.quota.usage("/in")).toEqual({ bytes: 90, files: 2, reservedBytes: 0, reservedFiles: 0 });
    await put(storage, "/out/c", 50);
    await storage.move("/out/c", "/in/b", { replace: true });
    expect([await sizes(), (await storage.quota.usage("/in")).bytes]).toEqual([[50, 50, undefined], 100]);
    // Within the limit it needs no room.
    await storage.move("/in/a", "/in/b", { replace: true });
    expect([await sizes(), (await storage.quota.usage("/in")).bytes]).toEqual([[undefined, 50, undefined], 50]);
  });

  it("counts copies, moves and removals of folders", async () => {
    const { storage } = open({ folders: [{ path: "/in", bytes: 5000 }] });
    for (const folder of ["/in", "/in/x", "/out", "/out/x"]) await storage.createFolder(folder);
    await put(storage, "/in/x/a", 2000);
    await put(storage, "/out/x/b", 3001);
    expect(await codeOf(storage.copy("/out/x", "/in/y"))).toBe("no-space");
    expect(await codeOf(storage.move("/out/x", "/in/y"))).toBe("no-space");
    expect(await storage.stat("/in/y")).toBeUndefined();
    await storage.move("/out/x", "/in/x", { replace: true });
    expect(await storage.quota.usage("/in")).toMatchObject({ bytes: 3001, files: 1 });
    await storage.move("/in/x", "/in/z");
    await storage.copy("/in/z", "/out/x");
    expect(await storage.quota.usage("/in")).toMatchObject({ bytes: 3001, files: 1 });
    await storage.remove("/in/z");
    expect(await storage.quota.usage("/in")).toMatchObject({ bytes: 0, files: 0 });
  });

  it("counts what the trash and the versions keep where it came from", async () => {
    const { inner, storage } = open({ folders: [{ path: "/home", bytes: 1000 }] });
    for (const path of ["/home", "/__svc__", "/__svc__/trash", "/__svc__/trash/home", "/__svc__/trash/home/a~t"]) {
      await inner.createFolder(path);
    }
    await put(inner, "/__svc__/trash/home/a~t/data", 900);
    expect(await codeOf(put(storage, "/home/b", 101))).toBe("no-space");
    await put(storage, "/home/b", 100);
    expect(await storage.quota.usage("/home")).toMatchObject({ bytes: 1000, files: 2 });
  });

  it("hides the area of the wrappers", async () => {
    const { inner, storage } = open();
    await inner.createFolder("/__svc__");
    expect(await storage.stat("/__svc__")).toBeUndefined();
    for await (const { name } of storage.list("/")) expect(name).toBe("");
    expect(await codeOf(storage.list("/__svc__")[Symbol.asyncIterator]().next())).toBe("not-found");
    expect(await codeOf(put(storage, "/__svc__/a", 1))).toBe("denied");
    expect(await codeOf(storage.remove("/__svc__"))).toBe("not-found");
  });

  it("lets what is above a limit be read, removed and replaced by what is not larger", async () => {
    const { inner, storage } = open({ folders: [{ path: "/", bytes: 1000 }] });
    await put(inner, "/a", 2000);
    await put(inner, "/b", 2000);
    expect(await codeOf(put(storage, "/a", 2001))).toBe("no-space");
    await put(storage, "/a", 2000);
    await put(storage, "/a", 500);
    await storage.remove("/b");
    expect(await storage.quota.usage("/")).toMatchObject({ bytes: 500, files: 1 });
  });

  it("reserves the length of an upload in several requests, as long as it exists", async () => {
    const { storage } = open();
    const { uploads } = storage;
    if (uploads === undefined) throw new Error("The storage has no uploads.");
    const draft = { note: "", expires: new Date(Date.now() + 60_000) };
    await uploads.create(key(1), "/a", { ...draft, size: 6000 });
    expect(await codeOf(uploads.create(key(2), "/b", { ...draft, size: 4001 }))).toBe("no-space");
    expect(await uploads.find(key(2))).toBeUndefined();
    await uploads.create(key(3), "/c", draft);
    expect(await codeOf(uploads.append(key(3), 0, bytes(4001)))).toBe("no-space");
    const { offset = 0 } = (await uploads.find(key(3))) ?? {};
    await uploads.append(key(3), offset, bytes(4000 - offset));
    expect(await storage.quota.usage("/")).toMatchObject({ bytes: 0, reservedBytes: 10_000 });
    await uploads.append(key(1), 0, bytes(6000));
    await uploads.complete(key(1));
    expect(await storage.quota.usage("/")).toMatchObject({ bytes: 6000, files: 1, reservedBytes: 4000 });
    await uploads.discard(key(3));
    expect(await storage.quota.usage("/")).toEqual({ bytes: 6000, files: 1, reservedBytes: 0, reservedFiles: 0 });
  });

  it.each(["completed", "discarded"])(
    "reserves the length of an upload with the key of one that was %s",
    async (end) => {
      const { storage } = open();
      const { uploads } = storage;
      if (uploads === undefined) throw new Error("The storage has no uploads.");
      const draft = { note: "", expires: new Date(Date.now() + 60_000) };
      await uploads.create(key(1), "/a", { ...draft, size: 0 });
      if (end === "completed") await uploads.complete(key(1));
      await uploads.discard(key(1));
      await uploads.create(key(1), "/b", { ...draft, size: 6000 });
      expect(await storage.quota.usage("/")).toMatchObject({ reservedBytes: 6000 });
      expect(await codeOf(uploads.create(key(2), "/c", { ...draft, size: 4001 }))).toBe("no-space");
      await storage.quota.recount("/");
      expect(await storage.quota.usage("/")).toMatchObject({ reservedBytes: 6000 });
    },
  );

  it("renews what a slow write has reserved every two minutes, so that no other process gets its room", async () => {
    const start = 1_000_000;
    let now = start;
    const store = createMemoryKeyValueStore({ clock: () => now });
    const changes = new Set<number>();
    const watched: AtomicKeyValueStore = {
      ...store,
      replace(...change) {
        changes.add((now - start) / 60_000);
        return store.replace(...change);
      },
    };
    const inner = createMemoryStorage();
    const options = { folders: [{ path: "/", bytes: 10_000 }], clock: () => now };
    const slow = createQuotaStorage(inner, { ...options, store: watched });
    const other = createQuotaStorage(inner, { ...options, store });
    async function* content(): AsyncGenerator<Uint8Array> {
      for (let minute = 0; minute < 30; minute += 1) {
        yield new Uint8Array(100);
        now += 60_000;
        expect(await codeOf(put(other, "/b", 7001))).toBe("no-space");
      }
    }
    await slow.write("/a", content(), { size: 3000 });
    expect([...changes]).toEqual(Array.from({ length: 16 }, (_, index) => 2 * index));
    await put(other, "/b", 7000);
    expect(await slow.quota.usage("/")).toEqual({ bytes: 10_000, files: 2, reservedBytes: 0, reservedFiles: 0 });
  });

  it("counts anew at the next admission, after a process was lost", async () => {
    let now = 1_000_000;
    const store = createMemoryKeyValueStore({ clock: () => now });
    const inner = createMemoryStorage();
    const options = { store, folders: [{ path: "/", bytes: 10_000 }], clock: () => now };
    const [lost, storage] = [createQuotaStorage(inner, options), createQuotaStorage(inner, options)];
    void codeOf(lost.write("/a", endless(), { size: 9000 }));
    await expect.poll(async () => (await storage.quota.usage("/")).reservedBytes).toBe(9000);
    expect(await codeOf(put(storage, "/b", 1001))).toBe("no-space");
    now += 600_001;
    await put(storage, "/b", 10_000);
    expect(await storage.quota.usage("/")).toEqual({ bytes: 10_000, files: 1, reservedBytes: 0, reservedFiles: 0 });
  });

  it("counts while others write, and has every byte", async () => {
    const { inner, storage } = open({ folders: [{ path: "/", bytes: 10_000_000 }] });
    for (let folder = 0; folder < 20; folder += 1) {
      await storage.createFolder(`/${folder}`);
      for (let file = 0; file < 20; file += 1) await put(inner, `/${folder}/${file}`, 100);
    }
    await storage.quota.usage("/");
    const changes = Array.from({ length: 300 }, async (_, index) => {
      const path = `/${index % 20}/${index % 23}`;
      await new Promise((resolve) => setTimeout(resolve, index % 7));
      if (index % 3 === 0) await codeOf(storage.remove(path));
      else if (index % 3 === 1) await put(storage, path, index);
      else await codeOf(storage.move(path, `/${(index + 7) % 20}/moved-${index}`));
    });
    const counts = Array.from({ length: 20 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index));
      await storage.quota.recount("/");
    });
    await Promise.all([...changes, ...counts]);
    const counted = await storage.quota.usage("/");
    expect(await storage.quota.recount("/")).toEqual(counted);
  });
});

async function* endless(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1);
  await new Promise(() => undefined);
}
