import type { StoreCase } from "./stores/case.ts";
import { expectValue, freshKey, isEqual, jsonValues, minute, oddEndings, show } from "./stores/values.ts";

/**
 * The promises of a `KeyValueStore`. They run with any test runner: `for (const { name, run } of storeCases)
 * it(name, () => run({ store, wait }))`.
 */
export const storeCases: readonly StoreCase[] = [
  {
    name: "has no value for a key that was never set",
    async run({ store }) {
      expectValue(await store.get(freshKey()), undefined);
    },
  },
  {
    name: "returns every kind of JSON value",
    async run({ store }) {
      for (const value of jsonValues) {
        const key = freshKey();
        await store.set(key, value, minute);
        expectValue(await store.get(key), value);
      }
    },
  },
  {
    name: "returns a value of 64 KiB",
    async run({ store }) {
      const key = freshKey();
      const value = { text: "0123456789abcdef".repeat(4096) };
      await store.set(key, value, minute);
      expectValue(await store.get(key), value);
    },
  },
  {
    name: "replaces the previous value",
    async run({ store }) {
      const key = freshKey();
      await store.set(key, { former: true, version: 1 }, minute);
      await store.set(key, { version: 2 }, minute);
      expectValue(await store.get(key), { version: 2 });
    },
  },
  {
    name: "keeps a copy that later changes of the value do not affect",
    async run({ store }) {
      const key = freshKey();
      const value = { list: ["kept"] };
      await store.set(key, value, minute);
      value.list.push("after set");
      const got = await store.get(key);
      expectValue(got, { list: ["kept"] });
      (got as typeof value).list.push("after get");
      expectValue(await store.get(key), { list: ["kept"] });
    },
  },
  {
    name: "distinguishes keys by every character",
    async run({ store }) {
      const key = freshKey();
      const keys = oddEndings.map((ending) => `${key}${ending}`);
      for (const [index, each] of keys.entries()) await store.set(each, index, minute);
      for (const [index, each] of keys.entries()) expectValue(await store.get(each), index);
      expectValue(await store.get(key.slice(0, -1)), undefined);
    },
  },
  {
    name: "has no value for the property names of every object",
    async run({ store }) {
      for (const key of ["__proto__", "constructor", "toString"]) expectValue(await store.get(key), undefined);
    },
  },
  {
    name: "deletes one key and no other",
    async run({ store }) {
      const [deleted, kept] = [freshKey(), freshKey()];
      await store.set(deleted, 1, minute);
      await store.set(kept, 2, minute);
      await store.delete(deleted);
      expectValue(await store.get(deleted), undefined);
      expectValue(await store.get(kept), 2);
    },
  },
  {
    name: "does not fail to delete a missing key",
    async run({ store }) {
      const key = freshKey();
      await store.delete(key);
      await store.delete(key);
    },
  },
  {
    name: "keeps a value that is set after a deletion",
    async run({ store }) {
      const key = freshKey();
      await store.set(key, 1, minute);
      await store.delete(key);
      await store.set(key, 2, minute);
      expectValue(await store.get(key), 2);
    },
  },
  {
    name: "keeps a value for its time to live, and no longer",
    async run({ store, wait, ttl = 200 }) {
      const [short, long] = [freshKey(), freshKey()];
      await store.set(short, 1, ttl);
      await store.set(long, 2, minute);
      expectValue(await store.get(short), 1);
      await wait(ttl * 1.5);
      expectValue(await store.get(short), undefined);
      expectValue(await store.get(long), 2);
    },
  },
  {
    name: "a later set restarts the time to live",
    async run({ store, wait, ttl = 200 }) {
      const key = freshKey();
      await store.set(key, 1, ttl);
      await store.set(key, 2, minute);
      await wait(ttl * 1.5);
      expectValue(await store.get(key), 2);
      await store.set(key, 3, ttl);
      await wait(ttl * 1.5);
      expectValue(await store.get(key), undefined);
    },
  },
  {
    name: "a get does not restart the time to live",
    async run({ store, wait, ttl = 200 }) {
      const key = freshKey();
      await store.set(key, 1, ttl);
      await wait(ttl / 4);
      expectValue(await store.get(key), 1);
      await wait(ttl);
      expectValue(await store.get(key), undefined);
    },
  },
  {
    name: "keeps the complete value of one of several parallel sets of a key",
    async run({ store }) {
      const key = freshKey();
      const values = Array.from({ length: 20 }, (_, index) => ({ index, echo: String(index).repeat(100) }));
      await Promise.all(values.map((value) => store.set(key, value, minute)));
      const got = await store.get(key);
      const isOne = values.some((value) => isEqual(got, value));
      if (!isOne) throw new Error(`Expected one of the values set, got ${show(got)}`);
    },
  },
  {
    name: "keeps all of many keys that are set in parallel",
    async run({ store }) {
      const keys = Array.from({ length: 100 }, freshKey);
      await Promise.all(keys.map((key, index) => store.set(key, index, minute)));
      const got = await Promise.all(keys.map((key) => store.get(key)));
      expectValue(got, [...keys.keys()]);
    },
  },
];
