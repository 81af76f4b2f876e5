import type { KeyValueStore } from "../contracts/key-value-store.ts";

/** What a case of {@link storeCases} works with. */
export interface StoreCaseContext {
  /** The store under test. It need not be empty: every case uses keys of its own. */
  readonly store: KeyValueStore;
  /** Lets the store's time pass: a real wait, or an injected clock put forward. */
  wait(milliseconds: number): Promise<void>;
  /** The time to live, in milliseconds, of what a case lets expire. Default: 200; more for a store that counts in seconds. */
  readonly ttl?: number;
}

/** One promise of the contract. `run` rejects when the store breaks it. */
export interface StoreCase {
  readonly name: string;
  /** Rejects, saying what is wrong, when the case fails. */
  run(context: StoreCaseContext): Promise<void>;
}

const minute = 60_000;

/** What a {@link KeyValueStore} promises, for any test runner: `for (const { name, run } of storeCases) it(name, () => run({ store, wait }))`. */
export const storeCases: readonly StoreCase[] = [
  {
    name: "has no value for a key that was never set",
    async run({ store }) {
      expectValue(await store.get(freshKey()), undefined);
    },
  },
  {
    name: "gives back every kind of JSON value",
    async run({ store }) {
      for (const value of jsonValues) {
        const key = freshKey();
        await store.set(key, value, minute);
        expectValue(await store.get(key), value);
      }
    },
  },
  {
    name: "gives back a value of 64 KiB",
    async run({ store }) {
      const key = freshKey();
      const value = { text: "0123456789abcdef".repeat(4096) };
      await store.set(key, value, minute);
      expectValue(await store.get(key), value);
    },
  },
  {
    name: "replaces the former value",
    async run({ store }) {
      const key = freshKey();
      await store.set(key, { former: true, version: 1 }, minute);
      await store.set(key, { version: 2 }, minute);
      expectValue(await store.get(key), { version: 2 });
    },
  },
  {
    name: "keeps a copy: later changes to what was set or got do not reach it",
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
    name: "tells keys apart by every character",
    async run({ store }) {
      const key = freshKey();
      const keys = oddEndings.map((ending) => `${key}${ending}`);
      for (const [index, each] of keys.entries()) await store.set(each, index, minute);
      for (const [index, each] of keys.entries()) expectValue(await store.get(each), index);
      expectValue(await store.get(key.slice(0, -1)), undefined);
    },
  },
  {
    name: "has no value for the names of an object's own machinery",
    async run({ store }) {
      for (const key of ["__proto__", "constructor", "toString"]) expectValue(await store.get(key), undefined);
    },
  },
  {
    name: "forgets a deleted key, and no other",
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
    name: "takes the deletion of an absent key for no failure",
    async run({ store }) {
      const key = freshKey();
      await store.delete(key);
      await store.delete(key);
    },
  },
  {
    name: "keeps what is set after a deletion",
    async run({ store }) {
      const key = freshKey();
      await store.set(key, 1, minute);
      await store.delete(key);
      await store.set(key, 2, minute);
      expectValue(await store.get(key), 2);
    },
  },
  {
    name: "keeps a value for its time, and no longer",
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
    name: "counts the time anew from a later set",
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
    name: "does not count the time anew from a get",
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
    name: "lets one of several setters of a key win whole",
    async run({ store }) {
      const key = freshKey();
      const values = Array.from({ length: 20 }, (_, index) => ({ index, echo: String(index).repeat(100) }));
      await Promise.all(values.map((value) => store.set(key, value, minute)));
      const got = await store.get(key);
      expect(
        values.some((value) => isEqual(got, value)),
        `one of the values set, got ${show(got)}`,
      );
    },
  },
  {
    name: "loses none of many keys that are set at the same time",
    async run({ store }) {
      const keys = Array.from({ length: 100 }, freshKey);
      await Promise.all(keys.map((key, index) => store.set(key, index, minute)));
      const got = await Promise.all(keys.map((key) => store.get(key)));
      expectValue(got, [...keys.keys()]);
    },
  },
];

const jsonValues: readonly unknown[] = [
  "",
  "text",
  '{"looks":"like JSON"}',
  '"quoted"',
  "null",
  "1",
  "ünïcödé 文件 🚢 \u0000 \u2028 \" \\ '",
  0,
  -1.5,
  Number.MAX_SAFE_INTEGER,
  true,
  false,
  [],
  {},
  [1, [2, [null]], { three: 3 }],
  { nested: { list: [1, "2", null, false], "": "empty key", "a.b": "dot" }, null: null },
];

const oddEndings = ["", "A", "a", "a ", " a", ":", "::", "*", "?", "%41", "/../x", "ä", "a\u0308", "'; --"];

/** Random, so that cases on one lasting store do not meet each other's entries or those of a former run. */
function freshKey(): string {
  return `fileferry-case:${crypto.randomUUID()}:`;
}

function expectValue(actual: unknown, expected: unknown): void {
  expect(isEqual(actual, expected), `${show(expected)}, got ${show(actual)}`);
}

function expect(condition: boolean, expectation: string): void {
  if (!condition) throw new Error(`Expected ${expectation}`);
}

function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [leftEntries, rightKeys] = [Object.entries(left), Object.keys(right)];
  return (
    leftEntries.length === rightKeys.length &&
    leftEntries.every(([key, value]) => Object.hasOwn(right, key) && isEqual(value, (right as never)[key]))
  );
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
