import { type AtomicKeyValueStore, updateText } from "../contracts/atomic-store.ts";
import type { AtomicStoreCase } from "./stores/case.ts";
import { expectValue, freshKey, minute, oddEndings, oddTexts } from "./stores/values.ts";

/** How many callers compete. */
const CALLERS = 50;
/** How often each of them counts up. */
const STEPS_OF_CALLER = 20;

/**
 * The promises of an `AtomicKeyValueStore` beyond those of `storeCases`, which it keeps too. They run with any test
 * runner: `for (const { name, run } of atomicStoreCases) it(name, () => run({ store, other, wait }))`.
 */
export const atomicStoreCases: readonly AtomicStoreCase[] = [
  {
    name: "replaces nothing by a text, which get returns",
    async run({ store, other = store }) {
      const key = freshKey();
      expectValue(await store.replace(key, undefined, "first", minute), true);
      expectValue(await other.get(key), "first");
    },
  },
  {
    name: "replaces only the expected text",
    async run({ store, other = store }) {
      const key = freshKey();
      await store.replace(key, undefined, "first", minute);
      expectValue(await other.replace(key, undefined, "second", minute), false);
      expectValue(await other.replace(key, "second", "third", minute), false);
      expectValue(await store.get(key), "first");
      expectValue(await other.replace(key, "first", "second", minute), true);
      expectValue(await store.get(key), "second");
    },
  },
  {
    name: "expects no text where there is nothing",
    async run({ store }) {
      const key = freshKey();
      for (const expected of ["", "null", "undefined", "text"]) {
        expectValue(await store.replace(key, expected, "next", minute), false);
        expectValue(await store.replace(key, expected, undefined, minute), false);
      }
      expectValue(await store.get(key), undefined);
    },
  },
  {
    name: "deletes the expected text, and no other, if the next one is undefined",
    async run({ store, other = store }) {
      const key = freshKey();
      await store.replace(key, undefined, "first", minute);
      expectValue(await other.replace(key, "other", undefined, minute), false);
      expectValue(await other.replace(key, undefined, undefined, minute), false);
      expectValue(await store.get(key), "first");
      expectValue(await other.replace(key, "first", undefined, minute), true);
      expectValue(await store.get(key), undefined);
      expectValue(await store.replace(key, undefined, undefined, minute), true);
      expectValue(await store.replace(key, undefined, "again", minute), true);
      expectValue(await other.get(key), "again");
    },
  },
  {
    name: "keeps and compares every text as a whole",
    async run({ store, other = store }) {
      for (const text of oddTexts) {
        const key = freshKey();
        expectValue(await store.replace(key, undefined, text, minute), true);
        expectValue(await other.get(key), text);
        for (const wrong of oddTexts) {
          if (wrong !== text) expectValue(await store.replace(key, wrong, "wrong", minute), false);
        }
        expectValue(await other.replace(key, text, `${text}.`, minute), true);
        expectValue(await store.replace(key, text, "wrong", minute), false);
        expectValue(await store.get(key), `${text}.`);
      }
    },
  },
  {
    name: "compares the last character of a text of 64 KiB",
    async run({ store }) {
      const key = freshKey();
      const text = "0123456789abcdef".repeat(4096);
      await store.replace(key, undefined, `${text}a`, minute);
      expectValue(await store.replace(key, `${text}b`, "wrong", minute), false);
      expectValue(await store.replace(key, `${text}a`, `${text}b`, minute), true);
      expectValue(await store.get(key), `${text}b`);
    },
  },
  {
    name: "distinguishes keys by every character when it replaces",
    async run({ store }) {
      const key = freshKey();
      const keys = oddEndings.map((ending) => `${key}${ending}`);
      for (const each of keys) expectValue(await store.replace(each, undefined, each, minute), true);
      for (const each of keys) expectValue(await store.replace(each, each, `${each}.`, minute), true);
    },
  },
  {
    name: "counts an expired text as nothing",
    async run({ store, wait, ttl = 200 }) {
      const [created, replaced, deleted] = [freshKey(), freshKey(), freshKey()];
      for (const key of [created, replaced, deleted]) await store.replace(key, undefined, "old", ttl);
      await wait(ttl * 1.5);
      expectValue(await store.replace(replaced, "old", "new", minute), false);
      expectValue(await store.replace(deleted, "old", undefined, minute), false);
      expectValue(await store.replace(created, undefined, "new", minute), true);
      const left = await Promise.all([created, replaced, deleted].map((key) => store.get(key)));
      expectValue(left, ["new", undefined, undefined]);
    },
  },
  {
    name: "a replacement restarts the time to live, and a refused one does not",
    async run({ store, wait, ttl = 200 }) {
      const [longer, shorter, refused] = [freshKey(), freshKey(), freshKey()];
      await store.replace(longer, undefined, "1", ttl);
      await store.replace(longer, "1", "1", minute);
      await store.replace(shorter, undefined, "1", minute);
      await store.replace(shorter, "1", "2", ttl);
      await store.replace(refused, undefined, "1", ttl);
      await store.replace(refused, "2", "1", minute);
      await wait(ttl * 1.5);
      expectValue(await store.get(longer), "1");
      expectValue(await store.get(shorter), undefined);
      expectValue(await store.get(refused), undefined);
    },
  },
  {
    name: "shares its keys with get, set and delete",
    async run({ store, other = store }) {
      const key = freshKey();
      await store.set(key, "set", minute);
      expectValue(await other.replace(key, undefined, "wrong", minute), false);
      expectValue(await other.replace(key, "set", "replaced", minute), true);
      expectValue(await store.get(key), "replaced");
      await other.set(key, "set again", minute);
      expectValue(await store.replace(key, "replaced", "wrong", minute), false);
      expectValue(await store.replace(key, "set again", "replaced", minute), true);
      await other.delete(key);
      expectValue(await store.get(key), undefined);
      expectValue(await store.replace(key, undefined, "created", minute), true);
    },
  },
  {
    name: "takes no other JSON value for a text or for nothing",
    async run({ store }) {
      for (const value of [null, 1, true, {}, ["text"], { text: "text" }]) {
        const key = freshKey();
        await store.set(key, value, minute);
        for (const expected of [undefined, String(value), JSON.stringify(value)]) {
          expectValue(await store.replace(key, expected, "wrong", minute), false);
        }
        expectValue(await store.get(key), value);
      }
    },
  },
  {
    name: "creates a key once if 50 calls do so in parallel",
    async run({ store, other = store }) {
      const key = freshKey();
      const won = await Promise.all(
        callers(store, other).map((each, index) => each.replace(key, undefined, `${index}`, minute)),
      );
      expectValue(won.filter(Boolean).length, 1);
      expectValue(await store.get(key), `${won.indexOf(true)}`);
    },
  },
  {
    name: "replaces a text once if 50 calls expect it in parallel",
    async run({ store, other = store }) {
      const key = freshKey();
      await store.replace(key, undefined, "first", minute);
      const next = (index: number) => (index % 3 === 0 ? undefined : `${index}`);
      const won = await Promise.all(
        callers(store, other).map((each, index) => each.replace(key, "first", next(index), minute)),
      );
      expectValue(won.filter(Boolean).length, 1);
      expectValue(await store.get(key), next(won.indexOf(true)));
    },
  },
  {
    name: "loses none of 1,000 steps of 50 callers that count up in parallel",
    async run({ store, other = store }) {
      const key = freshKey();
      await store.replace(key, undefined, "0", minute);
      const countUp = async (each: typeof store) => {
        for (let done = 0; done < STEPS_OF_CALLER; done += 1) {
          await updateText(each, key, minute, (current) => `${Number(current) + 1}`);
        }
      };
      await Promise.all(callers(store, other).map(countUp));
      expectValue(await other.get(key), "1000");
    },
  },
  {
    name: "replaces texts of many keys in parallel",
    async run({ store, other = store }) {
      const keys = Array.from({ length: 50 }, freshKey);
      const created = await Promise.all(keys.map((key) => store.replace(key, undefined, key, minute)));
      const replaced = await Promise.all(keys.map((key) => other.replace(key, key, "next", minute)));
      expectValue([...created, ...replaced].every(Boolean), true);
    },
  },
];

/** The stores that the callers use: one of two connections each. */
function callers(store: AtomicKeyValueStore, other: AtomicKeyValueStore): readonly AtomicKeyValueStore[] {
  return Array.from({ length: CALLERS }, (_, index) => (index % 2 === 0 ? store : other));
}
