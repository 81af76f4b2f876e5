import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { AtomicKeyValueStore } from "../../src/contracts/atomic-store.ts";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { atomicStoreCases } from "../../src/testing/atomic-store-cases.ts";
import { storeCases } from "../../src/testing/store-cases.ts";

describe("the store cases × the memory store", () => {
  let now = 0;
  const store = createMemoryKeyValueStore({ clock: () => now });
  const wait = async (milliseconds: number) => {
    now += milliseconds;
  };
  it.each([...storeCases, ...atomicStoreCases])("$name", ({ run }) => run({ store, wait }));
});

describe("the store cases × the memory store in real time", () => {
  const store = createMemoryKeyValueStore();
  const wait = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
  it.concurrent.each([...storeCases, ...atomicStoreCases])("$name", ({ run }) => run({ store, wait, ttl: 500 }));
});

describe("the store cases fail", () => {
  const memory = () => createMemoryKeyValueStore();
  const wait = async () => {};
  const broken = {
    "a store that forgets": { ...memory(), get: async () => undefined },
    "a store that cannot delete": { ...memory(), delete: async () => undefined },
    "a store that shares its values": mapStore((key) => key),
    "a store whose keys have no case": caseless(),
  };

  it.each(Object.entries(broken))("%s", async (_name, store) => {
    const results = await Promise.allSettled(storeCases.map(({ run }) => run({ store, wait, ttl: 50 })));
    expect(results.some(({ status }) => status === "rejected")).toBe(true);
  });

  it("a store whose entries do not expire", async () => {
    const names = [];
    for (const { name, run } of storeCases) await run({ store: memory(), wait, ttl: 50 }).catch(() => names.push(name));
    expect(names.length).toBeGreaterThanOrEqual(3);
  });

  function caseless() {
    const inner = memory();
    const { get, set } = inner;
    return {
      ...inner,
      get: (key: string) => get(key.toLowerCase()),
      set: (key: string, value: unknown, ttl: number) => set(key.toLowerCase(), value, ttl),
    };
  }

  function mapStore(toKey: (key: string) => string) {
    const map = new Map<string, unknown>();
    return {
      get: async (key: string) => map.get(toKey(key)),
      set: async (key: string, value: unknown) => map.set(toKey(key), value),
      delete: async (key: string) => map.delete(toKey(key)),
    };
  }
});

describe("the atomic store cases fail", () => {
  const wait = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
  const later = () => new Promise<void>((resolve) => setTimeout(resolve));
  type Replace = AtomicKeyValueStore["replace"];
  const broken: Readonly<Record<string, (inner: AtomicKeyValueStore) => Replace>> = {
    "a store that reads and writes in two steps": (inner) => async (key, expected, next, ttl) => {
      if ((await inner.get(key)) !== expected) return false;
      await later();
      await (next === undefined ? inner.delete(key) : inner.set(key, next, ttl));
      return true;
    },
    "a store that replaces whatever is there": (inner) => async (key, _expected, next, ttl) => {
      await (next === undefined ? inner.delete(key) : inner.set(key, next, ttl));
      return true;
    },
    "a store that trims its texts": (inner) => (key, expected, next, ttl) =>
      inner.replace(key, expected?.trim(), next?.trim(), ttl),
    "a store that takes an empty text for nothing": (inner) => (key, expected, next, ttl) =>
      inner.replace(key, expected || undefined, next || undefined, ttl),
    "a store that refuses everything": () => async () => false,
    "a store that keeps the first time to live": (inner) => (key, expected, next, ttl) =>
      inner.replace(key, expected, next, expected === undefined ? ttl : 60_000),
  };

  it.each(Object.entries(broken))("%s", async (_name, toReplace) => {
    const inner = createMemoryKeyValueStore();
    const store: AtomicKeyValueStore = { ...inner, replace: toReplace(inner) };
    const results = await Promise.allSettled(atomicStoreCases.map(({ run }) => run({ store, wait, ttl: 50 })));
    expect(results.some(({ status }) => status === "rejected")).toBe(true);
  });

  it("a store that loses one step in a hundred", async () => {
    const inner = createMemoryKeyValueStore();
    let [steps, count] = [0, 0];
    const replace: Replace = async (key, expected, next, ttl) => {
      if ((await inner.get(key)) !== expected) return false;
      steps += 1;
      return steps % 100 === 0 || inner.replace(key, expected, next, ttl);
    };
    const counting = atomicStoreCases.filter(({ name }) => name.includes("count up"));
    for (const { run } of counting) await run({ store: { ...inner, replace }, wait }).catch(() => (count += 1));
    expect([counting.length, count]).toEqual([1, 1]);
  });

  it("a second connection that does not see the first one", async () => {
    const [store, other] = [createMemoryKeyValueStore(), createMemoryKeyValueStore()];
    const creation = atomicStoreCases.find(({ name }) => name.startsWith("creates a key once"));
    await expect(creation?.run({ store, other, wait })).rejects.toThrow("Expected 1, got 2");
  });
});

describe("the memory store", () => {
  it("lets the entry that was written longest ago go beyond its bound", async () => {
    const store = createMemoryKeyValueStore({ maxEntries: 3 });
    for (const key of ["a", "b", "c", "a", "d"]) await store.set(key, key, 60_000);
    const kept = await Promise.all(["a", "b", "c", "d"].map((key) => store.get(key)));
    expect(kept).toEqual(["a", undefined, "c", "d"]);
  });

  it("lets no entry go for those of another kind, which is what stands before the colon", async () => {
    const store = createMemoryKeyValueStore({ maxEntries: 3 });
    await store.set("session:a", 1, 60_000);
    for (let index = 0; index < 100; index += 1) await store.set(`failed-logins-of-name:${index}`, index, 60_000);
    expect(await store.get("session:a")).toBe(1);
    const kept = await Promise.all([95, 96, 97, 98, 99].map((index) => store.get(`failed-logins-of-name:${index}`)));
    expect(kept).toEqual([undefined, undefined, 97, 98, 99]);
  });

  it("bounds its kinds too: from the hundredth on they share one, and each key is found in its own", async () => {
    const store = createMemoryKeyValueStore({ maxEntries: 10 });
    const keptOf = async (toKey: (index: number) => string, count: number) => {
      const found = await Promise.all(Array.from({ length: count }, (_, index) => store.get(toKey(index))));
      return found.flatMap((value, index) => (value === undefined ? [] : [index]));
    };
    for (let index = 0; index < 1000; index += 1) await store.set(`user${index}:x`, index, 60_000);
    const first = Array.from({ length: 100 }, (_, index) => index);
    const last = Array.from({ length: 10 }, (_, index) => 990 + index);
    expect(await keptOf((index) => `user${index}:x`, 1000)).toEqual([...first, ...last]);
    // Room of their own is for others when a kind has nothing more; what is in the common one is still found, written
    // and deleted.
    await store.delete("user0:x");
    await store.set("user995:x", "anew", 60_000);
    expect(await store.get("user995:x")).toBe("anew");
    await store.delete("user995:x");
    expect(await store.get("user995:x")).toBeUndefined();
    for (let index = 0; index < 20; index += 1) await store.set(`new:${index}`, index, 60_000);
    expect(await keptOf((index) => `new:${index}`, 20)).toHaveLength(10);
    expect(await store.get("user999:x")).toBe(999);
  });

  it("gives the place of a kind whose entries are over to another one", async () => {
    let now = 0;
    const store = createMemoryKeyValueStore({ clock: () => now, maxEntries: 10 });
    for (let index = 0; index < 200; index += 1) await store.set(`user${index}:x`, index, 100);
    now += 100;
    for (let index = 0; index < 50; index += 1) await store.set("lasting", index, 1000);
    for (const kind of ["one", "other"]) {
      for (let index = 0; index < 10; index += 1) await store.set(`${kind}:${index}`, index, 1000);
    }
    expect([await store.get("one:0"), await store.get("other:0"), await store.get("lasting")]).toEqual([0, 0, 49]);
  });

  it("does not grow with entries that are over and never asked for", async () => {
    let now = 0;
    const store = createMemoryKeyValueStore({ clock: () => now });
    await store.set("lasting", 1, 1e9);
    for (let index = 0; index < 1000; index += 1) await store.set(`other:${index}`, "x".repeat(10_000), 100);
    const before = heapUsed();
    for (let index = 0; index < 300_000; index += 1) {
      now += 1;
      await store.set(`key ${index}`, "x".repeat(100), 100);
    }
    // All 300,000 would take some 60 MB; the bound alone would keep 100,000 of them.
    expect(heapUsed() - before).toBeLessThan(10e6);
    expect(await store.get("lasting")).toBe(1);
  });

  it("never evicts what replace stored, and refuses one too many of a kind with no-space", async () => {
    let now = 0;
    const store = createMemoryKeyValueStore({ clock: () => now, maxEntries: 3 });
    for (const key of ["lock:a", "lock:b", "lock:c"]) await store.replace(key, undefined, key, 1000);
    const full = { name: "StorageError", code: "no-space" };
    await expect(store.replace("lock:d", undefined, "d", 1000)).rejects.toMatchObject(full);
    expect(await store.get("lock:d")).toBeUndefined();
    for (let index = 0; index < 10; index += 1) await store.set(`lock:set ${index}`, index, 1000);
    const keys = ["lock:a", "lock:b", "lock:c"];
    expect(await Promise.all(keys.map((key) => store.get(key)))).toEqual(keys);
    // Another kind has its own limit, what is there can be replaced, and what is deleted or expired makes space.
    expect(await store.replace("quota:a", undefined, "1", 1000)).toBe(true);
    expect(await store.replace("lock:a", "lock:a", "a", 2000)).toBe(true);
    expect(await store.replace("lock:b", "lock:b", undefined, 0)).toBe(true);
    expect(await store.replace("lock:d", undefined, "d", 1000)).toBe(true);
    await expect(store.replace("lock:e", undefined, "e", 1000)).rejects.toMatchObject(full);
    now += 1000;
    expect(await store.replace("lock:e", undefined, "e", 1000)).toBe(true);
    expect(await store.replace("lock:f", undefined, "f", 1000)).toBe(true);
    await expect(store.replace("lock:g", undefined, "g", 1000)).rejects.toMatchObject(full);
    expect(await store.get("lock:a")).toBe("a");
  });

  it("keeps a value that set stored and replace would replace, if there is no space", async () => {
    const store = createMemoryKeyValueStore({ maxEntries: 1 });
    await store.replace("a", undefined, "a", 1000);
    await store.set("b", "b", 1000);
    await expect(store.replace("b", "b", "c", 1000)).rejects.toMatchObject({ code: "no-space" });
    expect([await store.get("a"), await store.get("b")]).toEqual(["a", "b"]);
    // An entry that is set again can be evicted again, and leaves its space to another.
    await store.set("a", "a", 1000);
    expect(await store.replace("b", "b", "c", 1000)).toBe(false);
    expect(await store.replace("c", undefined, "c", 1000)).toBe(true);
  });

  it("refuses what it cannot keep", async () => {
    const store = createMemoryKeyValueStore();
    await expect(store.replace("k", undefined, "a", 0)).rejects.toThrow(TypeError);
    await expect(store.replace("k", undefined, 1 as unknown as string, 1000)).rejects.toThrow(TypeError);
    await expect(store.set("k", undefined, 1000)).rejects.toThrow(TypeError);
    for (const ttl of [0, -1, Number.NaN]) await expect(store.set("k", 1, ttl)).rejects.toThrow(TypeError);
    expect(() => createMemoryKeyValueStore({ maxEntries: 0 })).toThrow(/^The option maxEntries /);
  });

  function heapUsed(): number {
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
    return process.memoryUsage().heapUsed;
  }
});
