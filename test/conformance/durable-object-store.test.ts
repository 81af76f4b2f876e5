import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDurableObjectStore, type DurableObjectNamespace } from "../../src/stores/durable-object.ts";
import { atomicStoreCases } from "../../src/testing/atomic-store-cases.ts";
import { storeCases } from "../../src/testing/store-cases.ts";
import { startSourceWorker } from "../support/workers/source-worker.ts";

/**
 * Plays the case that is asked for inside workerd. The class of the tests also shows the rows of an object, and calls
 * its alarm.
 */
const WORKER = `
import { createDurableObjectStore, FileferryStore } from "./src/stores/durable-object.ts";
import { atomicStoreCases } from "./src/testing/atomic-store-cases.ts";
import { storeCases } from "./src/testing/store-cases.ts";

export class TestStore extends FileferryStore {
  #storage;

  constructor(state) {
    super(state);
    this.#storage = state.storage;
  }

  async fetch(request) {
    if (request.url !== "https://store/alarm") return super.fetch(request);
    const before = await this.#storage.getAlarm();
    await this.#storage.deleteAlarm();
    await this.alarm();
    const rows = this.#storage.sql.exec("SELECT key, expires FROM fileferry ORDER BY key").toArray();
    return Response.json({ before, after: await this.#storage.getAlarm(), rows });
  }
}

export default {
  async fetch(request, env) {
    const { name, objects } = await request.json();
    const connect = () => createDurableObjectStore(env.STORE, { name: "cases", objects });
    const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
    try {
      const one = [...storeCases, ...atomicStoreCases].find((each) => each.name === name);
      await one.run({ store: connect(), other: connect(), wait });
      return new Response("passed");
    } catch (error) {
      return new Response(error.stack ?? String(error));
    }
  },
};
`;

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
let worker: Miniflare;
let namespace: DurableObjectNamespace;

beforeAll(async () => {
  const durableObjects = { STORE: { className: "TestStore", useSQLite: true } };
  worker = await startSourceWorker(WORKER, { durableObjects });
  namespace = (await worker.getDurableObjectNamespace("STORE")) as unknown as DurableObjectNamespace;
}, 120_000);

afterAll(() => worker?.dispose());

/** Without `nodejs_compat`. */
describe.each([1, 7])("the store cases × %d Durable Objects in workerd", (objects) => {
  it.each([...storeCases, ...atomicStoreCases])("$name", async ({ name }) => {
    const body = JSON.stringify({ name, objects });
    const response = await worker.dispatchFetch("http://worker/", { method: "POST", body });
    expect(await response.text()).toBe("passed");
  });
});

describe("createDurableObjectStore", () => {
  /** Runs the alarm of an object, and returns what it leaves. */
  async function runAlarm(name: string) {
    const stub = namespace.get(namespace.idFromName(`${name}:0`));
    const response = await stub.fetch("https://store/alarm", { method: "POST", body: "" });
    return (await response.json()) as { before: number | null; after: number | null; rows: { key: string }[] };
  }

  const until = (time: number | null) => (time ?? 0) - Date.now();

  it("removes expired entries by an alarm, which ends with the last entry", async () => {
    const name = crypto.randomUUID();
    const store = createDurableObjectStore(namespace, { name });
    for (const key of ["a", "b", "c"]) await store.set(key, 1, 50);
    await store.replace("kept", undefined, "text", 2 * hour);
    await new Promise((resolve) => setTimeout(resolve, 100));

    const first = await runAlarm(name);
    expect(first.rows.map(({ key }) => key)).toEqual(["kept"]);
    expect(until(first.before)).toBeGreaterThan(hour - minute);
    expect(until(first.before)).toBeLessThanOrEqual(hour);
    expect(until(first.after)).toBeGreaterThan(2 * hour - minute);
    expect(await store.get("kept")).toBe("text");

    await store.delete("kept");
    const last = await runAlarm(name);
    expect([last.rows, last.after]).toEqual([[], null]);
    await store.set("again", 1, 30 * day);
    const again = await runAlarm(name);
    expect(until(again.before)).toBeLessThanOrEqual(hour);
    expect(until(again.after)).toBeLessThanOrEqual(day);
  });

  it("spreads keys over its objects", async () => {
    const name = crypto.randomUUID();
    const used = new Set<string>();
    const watched: DurableObjectNamespace = {
      idFromName: (each) => {
        used.add(each);
        return namespace.idFromName(each);
      },
      get: (id) => namespace.get(id),
    };
    const store = createDurableObjectStore(watched, { name, objects: 3 });
    const keys = Array.from({ length: 30 }, (_, index) => `session:${index}`);
    for (const key of keys) await store.set(key, key, minute);
    expect([...used].sort()).toEqual([`${name}:0`, `${name}:1`, `${name}:2`]);
    expect(await Promise.all(keys.map((key) => store.get(key)))).toEqual(keys);
  });

  it("separates services by the name", async () => {
    const [one, other] = [createDurableObjectStore(namespace), createDurableObjectStore(namespace, { name: "other" })];
    await one.set("same", 1, minute);
    expect([await one.get("same"), await other.get("same")]).toEqual([1, undefined]);
  });

  it("rejects as the binding does", async () => {
    const gone = { idFromName: () => 0, get: () => ({ fetch: () => Promise.reject(new Error("gone")) }) };
    const store = createDurableObjectStore(gone);
    for (const call of [store.get("k"), store.set("k", 1, minute), store.replace("k", "a", "b", minute)]) {
      await expect(call).rejects.toThrow("gone");
    }
  });

  it("refuses what is no namespace, what it cannot keep, and options that cannot be", async () => {
    expect(() => createDurableObjectStore({} as DurableObjectNamespace)).toThrow(/^The option namespace /);
    expect(() => createDurableObjectStore(namespace, { name: "" })).toThrow(/^The option name /);
    for (const objects of [0, 1.5, 1001]) {
      expect(() => createDurableObjectStore(namespace, { objects })).toThrow(/^The option objects /);
    }
    const store = createDurableObjectStore(namespace);
    await expect(store.set("k", undefined, 1000)).rejects.toThrow(TypeError);
    await expect(store.replace("k", undefined, "text", 0)).rejects.toThrow(TypeError);
  });
});
