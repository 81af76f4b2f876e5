import type { AtomicKeyValueStore } from "../../contracts/atomic-store.ts";
import { toStoreList } from "../config/store-list.ts";
import { describeSystemError, failureOf } from "../failure.ts";
import { type Finding, invalid, ok, problem } from "../findings.ts";
import { findStoreProblem, openSharedStore } from "../shared-store.ts";
import { compareClock } from "./clock.ts";
import { describeStore } from "./describe.ts";
import type { Examined } from "./examined.ts";

const ROUNDS = 20;
const TTL_MS = 60_000;

/** Tries each store of the configuration over two connections, as two processes have. */
export async function* examineStores({ settings }: Examined): AsyncGenerator<Finding> {
  const stores = toStoreList(settings);
  if (stores.length === 0) yield ok("stores", "the memory of the process: sessions end with it");
  for (const { store, key } of stores) {
    const about = key.split(": ").at(-1) ?? key;
    const missing = await findStoreProblem(store);
    if (missing !== undefined) {
      yield invalid(about, missing);
      continue;
    }
    const closers: (() => Promise<void>)[] = [];
    try {
      const opened = await openSharedStore(store, about);
      closers.push(opened.close);
      const other = await openSharedStore(store, about);
      closers.push(other.close);
      const isAtomic = await tryRaces(opened.store, other.store);
      yield isAtomic
        ? ok(about, `${describeStore(store)} responds, and its steps are atomic`)
        : problem(about, `two processes changed a value of ${describeStore(store)} at once`, "use another store");
      if (opened.now !== undefined) yield compareClock(about, await opened.now());
    } catch (error) {
      const reason = failureOf(error)?.problems[0]?.replace(`${about}: `, "") ?? describeSystemError(error);
      yield problem(about, reason, "start the store, or correct its address");
    } finally {
      for (const close of closers) await close();
    }
  }
}

/** Lets both connections claim one key at the same time, often. Exactly one must get it each time. */
async function tryRaces(one: AtomicKeyValueStore, other: AtomicKeyValueStore): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const key = `doctor:${crypto.randomUUID()}`;
    const won = await Promise.all(
      [one, other].map((store, index) => store.replace(key, undefined, `${index}`, TTL_MS)),
    );
    const value = await other.get(key);
    await one.delete(key);
    if (won.filter(Boolean).length !== 1 || value !== `${won.indexOf(true)}`) return false;
  }
  return true;
}
