import { gunzipSync, gzipSync } from "node:zlib";
import KeyvRedis from "@keyv/redis";
import { Keyv, type KeyvOptions } from "keyv";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { KeyValueStore } from "../../src/contracts/key-value-store.ts";
import { type CloudflareKvNamespace, createCloudflareKvStore } from "../../src/stores/cloudflare-kv.ts";
import { adoptKeyv } from "../../src/stores/keyv.ts";
import { storeCases } from "../../src/testing/store-cases.ts";
import { createRecordingLogger } from "../support/logger.ts";
import { hasRedis, redisNote, startRedis, type TestRedis } from "../support/redis.ts";

const wait = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
const logger = createRecordingLogger();

describe.each([
  ["Keyv in memory", new Keyv()],
  ["Keyv in memory, adopted", adoptKeyv(new Keyv(), { logger })],
  ["Keyv that compresses", adoptKeyv(new Keyv({ compression: createCompression() }), { logger })],
])("the store cases × %s", (_name, store) => {
  beforeAll(() => vi.useFakeTimers({ toFake: ["Date"] }));
  afterAll(() => vi.useRealTimers());

  const passTime = async (milliseconds: number) => {
    vi.setSystemTime(Date.now() + milliseconds);
  };
  it.each(storeCases)("$name", ({ run }) => run({ store, wait: passTime }));
});

describe.skipIf(!hasRedis)(`the store cases × Keyv on Redis${redisNote}`, () => {
  let redis: TestRedis;
  let keyvs: Keyv[];

  beforeAll(async () => {
    redis = await startRedis();
    const prefixed = new Keyv(new KeyvRedis(redis.url), { namespace: "one", useKeyPrefix: false });
    keyvs = [new Keyv(new KeyvRedis(redis.url)), prefixed];
  });
  afterAll(async () => {
    for (const keyv of keyvs ?? []) await keyv.disconnect();
    await redis?.stop();
  });

  it.each(storeCases)("$name", async ({ run }) => {
    // A loaded machine needs more than 50 ms for two commands of a real server.
    await Promise.all(keyvs.map((keyv) => run({ store: adoptKeyv(keyv, { logger }), wait, ttl: 500 })));
  });

  it("takes times to live of parts of a millisecond", async () => {
    const [store] = keyvs.map((keyv) => adoptKeyv(keyv, { logger })) as [KeyValueStore];
    await store.set("fraction", 1, 60_000.25);
    expect(await store.get("fraction")).toBe(1);
  });
});

describe("the store cases × Workers KV", () => {
  let worker: Miniflare;
  let namespace: CloudflareKvNamespace;
  let now = Date.now();

  beforeAll(async () => {
    worker = new Miniflare({ modules: true, script: "export default {}", kvNamespaces: ["SESSIONS"], cf: false });
    namespace = (await worker.getKVNamespace("SESSIONS")) as unknown as CloudflareKvNamespace;
  });
  afterAll(() => worker?.dispose());

  it.each(storeCases)("$name", async ({ run }) => {
    const store = createCloudflareKvStore(namespace, { prefix: "fileferry:", clock: () => now });
    await run({
      store,
      wait: async (milliseconds) => {
        now += milliseconds;
      },
    });
  });

  it("keeps to times that Workers KV does not know, and lets it forget later", async () => {
    const puts: unknown[] = [];
    const recording: CloudflareKvNamespace = {
      get: (key) => namespace.get(key),
      put: (key, value, options) => {
        puts.push(options);
        return namespace.put(key, value, options);
      },
      delete: (key) => namespace.delete(key),
    };
    const store = createCloudflareKvStore(recording, { clock: () => now });
    await store.set("short", 1, 10);
    await store.set("long", 1, 90_500);
    expect(puts).toEqual([{ expirationTtl: 60 }, { expirationTtl: 91 }]);
    now += 10;
    expect(await store.get("short")).toBeUndefined();
    expect(await store.get("long")).toBe(1);
  });

  it("refuses what is no namespace, what it cannot keep, and a prefix that is too long", async () => {
    expect(() => createCloudflareKvStore({} as CloudflareKvNamespace)).toThrow(/^The option namespace /);
    expect(() => createCloudflareKvStore(namespace, { prefix: "ä".repeat(129) })).toThrow(/^The option prefix /);
    const store = createCloudflareKvStore(namespace);
    await expect(store.set("k", undefined, 1000)).rejects.toThrow(TypeError);
    await expect(store.set("k", 1, 0)).rejects.toThrow(TypeError);
  });
});

describe("a Keyv whose storage fails", () => {
  const failing = () => Promise.reject(new Error("gone"));
  /** Hides its failures, as the adapter of Redis does. */
  const hiding = {
    throwOnErrors: false,
    get: async () => (hiding.throwOnErrors ? failing() : undefined),
    set: async () => (hiding.throwOnErrors ? failing() : undefined),
    delete: async () => (hiding.throwOnErrors ? failing() : true),
    clear: async () => undefined,
  };

  it.each([
    ["rejects", { get: failing, set: failing, delete: failing, clear: failing }],
    ["hides it", hiding],
  ])("rejects, also where its adapter %s: nothing is taken for nothing there", async (_how, adapter) => {
    const log = createRecordingLogger();
    const store = adoptKeyv(new Keyv({ store: adapter }), { logger: log, name: "store of failed logins" });
    for (const call of [store.get("k"), store.set("k", 1, 1000), store.delete("k")]) {
      await expect(call).rejects.toThrow("gone");
    }
    expect(log.entries.map(({ level, message }) => [level, message])).toEqual([
      ["error", "The store of failed logins failed."],
    ]);
  });

  it("by never answering has failed when its time is over", async () => {
    const silent = () => new Promise<never>(() => undefined);
    const keyv = new Keyv({ store: { get: silent, set: silent, delete: silent, clear: silent } });
    const store = adoptKeyv(keyv, { logger, timeoutMilliseconds: 20 });
    for (const call of [store.get("k"), store.set("k", 1, 1000), store.delete("k")]) {
      await expect(call).rejects.toThrow("20 ms");
    }
  });

  it("is another store to its other users: one that is no Keyv is left alone", () => {
    const own: KeyValueStore = { get: async () => 1, set: async () => 1, delete: async () => 1 };
    expect(adoptKeyv(own, { logger })).toBe(own);
  });
});

/** Texts alone: what else is there, Keyv's serializer would see to. */
function createCompression(): NonNullable<KeyvOptions["compression"]> {
  return {
    compress: async (text: string) => gzipSync(text).toString("base64"),
    decompress: async (text: string) => gunzipSync(Buffer.from(text, "base64")).toString(),
  };
}
