import KeyvRedis from "@keyv/redis";
import { Keyv } from "keyv";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Authenticator } from "../../../src/contracts/authenticator.ts";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { hasRedis, redisNote, startRedis, type TestRedis } from "../../support/redis.ts";
import { basic, bySession, createTestService, sessionOf, type TestService } from "../../support/service.ts";

const NEW = "a password for tests";
const PATH = "/home/__svc__/password-update";
const JSON_BODY = { "content-type": "application/json" };

let redis: TestRedis;
const keyvs: Keyv[] = [];

beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterEach(async () => {
  for (const keyv of keyvs.splice(0)) await keyv.disconnect();
});
afterAll(() => redis?.stop());

/** A client of its own for each service, as processes have it; all see the keys of one namespace. */
function openRedis(namespace: string): KeyValueStore {
  const keyv = new Keyv(new KeyvRedis(redis.url), { namespace });
  keyvs.push(keyv);
  return keyv;
}

function createOpener(kind: string): () => KeyValueStore {
  const namespace = crypto.randomUUID();
  const memory = createMemoryKeyValueStore();
  return () => (kind === "Redis" ? openRedis(namespace) : memory);
}

/** One service for each process; they share accounts too, as they would a file of them. */
async function createPair(kind: string, count = 2): Promise<[TestService, TestService]> {
  const passwords = new Map([
    ["alice", "secret"],
    ["bob", "hunter2"],
  ]);
  const authentication: Authenticator = {
    name: "keeper",
    async authenticate({ username, content }) {
      const account = { home_folder_path: "/alice" };
      return passwords.get(username) === content ? { outcome: "accepted", account } : { outcome: "rejected" };
    },
    async updatePassword({ username, currentPassword, newPassword, beforeChange }) {
      if (passwords.get(username) !== currentPassword) return { outcome: "wrong-password" };
      await beforeChange?.();
      passwords.set(username, newPassword);
      return { outcome: "updated" };
    },
  };
  const open = createOpener(kind);
  const services = Array.from({ length: count }, () =>
    createTestService({ authentication, session: { store: open() } }),
  );
  return (await Promise.all(services)) as [TestService, TestService];
}

async function statusOf({ call }: TestService, headers: Readonly<Record<string, string>>): Promise<number> {
  return (await call("GET", "/home/", { as: null, variant: "json", headers })).status;
}

async function loginAs({ call }: TestService, username: string, password: string): Promise<string> {
  const body = JSON.stringify({ username, password });
  return sessionOf(await call("POST", "/__svc__/login", { as: null, headers: JSON_BODY, body }));
}

describe.each(["memory", "Redis"])("services on one store in %s", (kind) => {
  const its = kind === "Redis" && !hasRedis ? it.skip : it;
  const note = kind === "Redis" ? redisNote : "";

  its(`see each other's sessions, and that they were ended (CONTRACT 6.3)${note}`, async () => {
    const [one, other] = await createPair(kind);
    const id = await one.login();
    expect(await statusOf(other, bySession(id))).toBe(200);
    await other.call("POST", "/__svc__/logout", { as: null, headers: bySession(id) });
    expect([await statusOf(one, bySession(id)), await statusOf(other, bySession(id))]).toEqual([401, 401]);
  });

  its(`keep a session alive for each other (CONTRACT 6.3)${note}`, async () => {
    const [one, other] = await createPair(kind);
    const id = await one.login();
    for (let round = 0; round < 4; round += 1) {
      for (const service of [one, other]) service.advance(20 * 60);
      expect(await statusOf(round % 2 === 0 ? one : other, bySession(id))).toBe(200);
    }
  });

  its(`end an account's other sessions everywhere when its password changes (CONTRACT 6.3)${note}`, async () => {
    const [one, other] = await createPair(kind);
    const [used, here, there] = [await one.login(), await one.login(), await other.login()];
    const bobs = await loginAs(other, "bob", "hunter2");
    const body = JSON.stringify({ current_password: "secret", new_password: NEW });
    const headers = { ...bySession(used), ...JSON_BODY };
    expect((await one.call("POST", PATH, { as: null, headers, body })).status).toBe(200);
    for (const service of [one, other]) {
      const ids = [used, here, there, bobs];
      const statuses = await Promise.all(ids.map((id) => statusOf(service, bySession(id))));
      expect(statuses).toEqual([200, 401, 401, 200]);
    }
    expect(await statusOf(one, bySession(await loginAs(other, "alice", NEW)))).toBe(200);
  });

  its(`count failed logins together (CONTRACT 6.6)${note}`, async () => {
    const [one, other] = await createPair(kind);
    const wrong = { authorization: basic("alice", "wrong") };
    for (let count = 0; count < 5; count += 1) {
      expect([await statusOf(one, wrong), await statusOf(other, wrong)]).toEqual([401, 401]);
    }
    const right = { authorization: basic("alice", "secret") };
    expect([await statusOf(one, right), await statusOf(other, right)]).toEqual([401, 401]);
    expect(await statusOf(one, { authorization: basic("bob", "hunter2") })).toBe(200);
    for (const service of [one, other]) service.advance(600);
    expect([await statusOf(one, right), await statusOf(other, right)]).toEqual([200, 200]);
  });

  its(`forget a name's failed logins when it logs in at any of them (CONTRACT 6.6)${note}`, async () => {
    const [one, other] = await createPair(kind);
    for (let round = 0; round < 3; round += 1) {
      for (let count = 0; count < 9; count += 1) await statusOf(one, { authorization: basic("alice", "wrong") });
      expect(await statusOf(other, { authorization: basic("alice", "secret") })).toBe(200);
    }
  });

  its(`let no more attempts at once through than each of them would alone${note}`, async () => {
    const [one, other] = await createPair(kind);
    const wrong = { authorization: basic("alice", "wrong") };
    const attempts = Array.from({ length: 40 }, (_, index) => statusOf(index % 2 === 0 ? one : other, wrong));
    expect(new Set(await Promise.all(attempts))).toEqual(new Set([401]));
    const refused = [one, other].map(({ log }) => log.entries.filter(({ level }) => level === "warn").length);
    // Of 20 each, at most 10 are heard: the rest is refused as too many.
    for (const count of refused) expect(count).toBeGreaterThanOrEqual(10);
  });
});

describe("limits.loginStore", () => {
  it("is where failed logins are counted, whatever keeps the sessions", async () => {
    const broken = () => Promise.reject(new Error("down"));
    const sessions = createMemoryKeyValueStore();
    const down = { get: broken, set: broken, delete: broken };
    const test = await createTestService({ session: { store: sessions }, limits: { loginStore: down } });
    expect(await statusOf(test, { authorization: basic("alice", "secret") })).toBe(503);
    const other = await createTestService({
      session: { store: down },
      limits: { loginStore: createMemoryKeyValueStore() },
    });
    expect(await statusOf(other, { authorization: basic("alice", "secret") })).toBe(200);
    expect(await statusOf(other, bySession("0".repeat(32)))).toBe(503);
  });

  it("is refused where it is no store", async () => {
    const limits = { loginStore: {} as KeyValueStore };
    await expect(createTestService({ limits })).rejects.toThrow("limits.loginStore");
  });
});

describe.skipIf(!hasRedis)(`a service whose Redis is gone${redisNote}`, () => {
  it("answers 503 to sessions and passwords, and all is well when it is back", async () => {
    const own = await startRedis();
    const keyv = new Keyv(new KeyvRedis(own.url));
    const test = await createTestService({ session: { store: keyv } });
    const id = await test.login();
    await own.stop();
    const statuses = [bySession(id), { authorization: basic("alice", "secret") }].map((by) => statusOf(test, by));
    expect(await Promise.all(statuses)).toEqual([503, 503]);
    await own.start();
    await expect.poll(() => statusOf(test, { authorization: basic("alice", "secret") }), { timeout: 15_000 }).toBe(200);
    expect(await statusOf(test, bySession(await test.login()))).toBe(200);
    await keyv.disconnect();
    await own.stop();
  });
});
