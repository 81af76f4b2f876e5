import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { updateText } from "../../src/contracts/atomic-store.ts";
import { createRedisStore, type RedisClient } from "../../src/stores/redis.ts";
import { atomicStoreCases } from "../../src/testing/atomic-store-cases.ts";
import { storeCases } from "../../src/testing/store-cases.ts";
import { hasRedis, redisNote, startRedis, type TestRedis } from "../support/redis.ts";

const wait = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
const minute = 60_000;

// In continuous integration nothing is skipped: without Redis these tests fail.
describe.skipIf(!hasRedis && process.env.CI === undefined)(`createRedisStore${redisNote}`, () => {
  let redis: TestRedis;
  let clients: ReturnType<typeof connect>[] = [];

  function connect() {
    const client = createClient({ url: redis.url });
    client.on("error", () => undefined);
    return client;
  }

  /** Two connections, as two processes have them. */
  function createStores(prefix?: string) {
    const options = prefix === undefined ? {} : { prefix };
    const [store, other] = clients.map((client) => createRedisStore(client, options));
    if (store === undefined || other === undefined) throw new Error("not connected");
    return { store, other };
  }

  function toClient(): ReturnType<typeof connect> {
    const [client] = clients;
    if (client === undefined) throw new Error("not connected");
    return client;
  }

  beforeAll(async () => {
    redis = await startRedis();
    clients = [connect(), connect()];
    await Promise.all(clients.map((client) => client.connect()));
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    await redis?.stop();
  });

  it.each(storeCases)("$name", async ({ run }) => {
    const { store, other } = createStores();
    await run({ store: { ...store, get: other.get }, wait, ttl: 250 });
  });

  it.each(atomicStoreCases)("$name", ({ run }) => run({ ...createStores("atomic:"), wait, ttl: 250 }));

  it("loses no change of 50 callers", async () => {
    const { store, other } = createStores();
    const callers = Array.from({ length: 50 }, (_, index) =>
      updateText(index % 2 === 0 ? store : other, "counter", minute, (text) => String(Number(text ?? 0) + 1)),
    );
    await Promise.all(callers);
    expect(await store.get("counter")).toBe("50");
  });

  it("replaces texts also after a restart of Redis, which then does not know the script", async () => {
    const { store } = createStores();
    await store.replace("restarted", undefined, "1", minute);
    await toClient().scriptFlush();
    expect(await store.replace("restarted", "1", "2", minute)).toBe(true);
    expect(await store.replace("restarted", "1", "3", minute)).toBe(false);
  });

  it("sends the text of the script only once", async () => {
    const client = toClient();
    const sent: string[] = [];
    const recording: RedisClient = {
      get: (key) => client.get(key),
      set: (key, value, options) => client.set(key, value, options),
      del: (key) => client.del(key),
      eval: (script, input) => {
        sent.push("eval");
        return client.eval(script, input);
      },
      evalSha: (sha1, input) => {
        sent.push("evalSha");
        return client.evalSha(sha1, input);
      },
    };
    await client.scriptFlush();
    const store = createRedisStore(recording);
    for (const step of [1, 2, 3])
      await store.replace("once", step === 1 ? undefined : `${step - 1}`, `${step}`, minute);
    expect(sent).toEqual(["evalSha", "eval", "evalSha", "evalSha"]);
    expect(await store.get("once")).toBe("3");
  });

  it("begins every key with its prefix, and rounds times to live up", async () => {
    const client = toClient();
    await createStores().store.set("own", 1, 60_000.25);
    await createStores("other:").store.replace("own", undefined, "text", 60_000.25);
    expect(await client.get("fileferry:own")).toBe("1");
    expect(await client.get("other:own")).toBe('"text"');
    for (const key of ["fileferry:own", "other:own"]) expect(await client.pTTL(key)).toBeGreaterThan(59_000);
    await createStores("other:").store.delete("own");
    expect(await client.exists(["fileferry:own", "other:own"])).toBe(1);
  });

  it("rejects if Redis refuses, instead of taking it for nothing there", async () => {
    const { store } = createStores();
    await toClient().hSet("fileferry:hash", { field: "value" });
    for (const call of [store.get("hash"), store.replace("hash", undefined, "text", minute)]) {
      await expect(call).rejects.toThrow("WRONGTYPE");
    }
  });

  it("refuses what it cannot keep", async () => {
    const { store } = createStores();
    await expect(store.set("k", undefined, 1000)).rejects.toThrow(TypeError);
    await expect(store.set("k", 1, 0)).rejects.toThrow(TypeError);
    await expect(store.replace("k", undefined, "text", 0)).rejects.toThrow(TypeError);
  });

  it("fails within its time limit if Redis does not respond", async () => {
    const store = createRedisStore(toClient(), { timeoutMilliseconds: 50 });
    redis.freeze(true);
    try {
      const calls = [
        store.get("k"),
        store.set("k", 1, minute),
        store.delete("k"),
        store.replace("k", "a", "b", minute),
      ].map((call) => expect(call).rejects.toThrow("50 ms"));
      await Promise.all(calls);
    } finally {
      redis.freeze(false);
    }
  });
});

describe("the options of createRedisStore", () => {
  it("refuses what is no client, and options that cannot be", () => {
    const call = async () => null;
    const client: RedisClient = { get: call, set: call, del: call, eval: call, evalSha: call };
    const { evalSha: _missing, ...old } = client;
    for (const wrong of [undefined, {}, old]) {
      expect(() => createRedisStore(wrong as RedisClient)).toThrow(/^The option client /);
    }
    expect(() => createRedisStore(client, { prefix: 1 as unknown as string })).toThrow(/^The option prefix /);
    for (const timeoutMilliseconds of [0, 1.5, 1e9]) {
      expect(() => createRedisStore(client, { timeoutMilliseconds })).toThrow(/^The option timeoutMilliseconds /);
    }
  });
});
