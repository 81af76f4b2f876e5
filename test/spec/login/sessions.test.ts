import { describe, expect, it } from "vitest";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { byCookie, bySession, createTestService, type TestService } from "../../support/service.ts";

const MINUTE = 60;

async function statusOf({ call }: TestService, headers: Readonly<Record<string, string>>): Promise<number> {
  return (await call("GET", "/home/", { as: null, variant: "json", headers })).status;
}

describe("a session", () => {
  it("has an ID of 128 bits or more, in hexadecimal (2.2, CONTRACT 6.3)", async () => {
    const { login } = await createTestService();
    const ids = await Promise.all(Array.from({ length: 50 }, () => login()));
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32,}$/);
  });

  it("serves many requests by the header (5.1.3)", async () => {
    const test = await createTestService();
    const headers = bySession(await test.login());
    for (let count = 0; count < 5; count++) expect(await statusOf(test, headers)).toBe(200);
  });

  it("is over after 30 minutes without a request (CONTRACT 6.3)", async () => {
    const test = await createTestService();
    const [header, cookie] = [bySession(await test.login()), byCookie(await test.login())];
    test.advance(28 * MINUTE);
    expect([await statusOf(test, header), await statusOf(test, cookie)]).toEqual([200, 200]);
    test.advance(28 * MINUTE);
    expect([await statusOf(test, header), await statusOf(test, cookie)]).toEqual([200, 200]);
    test.advance(30 * MINUTE + 1);
    expect([await statusOf(test, header), await statusOf(test, cookie)]).toEqual([401, 401]);
  });

  it("is over after 12 hours in all, however busy (CONTRACT 6.3)", async () => {
    const test = await createTestService();
    const headers = bySession(await test.login());
    for (let minute = 20; minute < 12 * 60; minute += 20) {
      test.advance(20 * MINUTE);
      expect(await statusOf(test, headers)).toBe(200);
    }
    test.advance(20 * MINUTE + 1);
    expect(await statusOf(test, headers)).toBe(401);
  });

  it("lives as long as the options say (CONTRACT 6.3)", async () => {
    const test = await createTestService({ session: { idleSeconds: 60, maxSeconds: 100 } });
    const idle = bySession(await test.login());
    test.advance(61);
    expect(await statusOf(test, idle)).toBe(401);
    const busy = bySession(await test.login());
    test.advance(50);
    expect(await statusOf(test, busy)).toBe(200);
    test.advance(51);
    expect(await statusOf(test, busy)).toBe(401);
  });

  it("is answered 401 with the errors body and both challenges when it is over (5.1.3, 7.1)", async () => {
    const { call, login, advance } = await createTestService();
    const headers = bySession(await login());
    advance(13 * 60 * MINUTE);
    const answer = await call("GET", "/home/", { as: null, variant: "json", headers });
    expect(answer.status).toBe(401);
    expect(answer.json()).toEqual({ errors: [{ message: expect.any(String), title: "Unauthorized" }] });
    expect(answer.header("www-authenticate")).toBe('basic realm="Web files access", session');
  });

  it("keeps only the SHA-256 of its ID in the store (CONTRACT 6.3)", async () => {
    const kept: string[] = [];
    const memory = createMemoryKeyValueStore();
    const store: KeyValueStore = {
      get: (key) => memory.get(key),
      set(key, value, ttl) {
        kept.push(key, JSON.stringify(value));
        return memory.set(key, value, ttl);
      },
      delete: (key) => memory.delete(key),
    };
    const test = await createTestService({ session: { store } });
    const id = await test.login();
    expect(await statusOf(test, bySession(id))).toBe(200);
    expect(kept.join()).not.toContain(id);
    expect(kept.join()).not.toContain("secret");
  });

  it("is shared by services on one store (CONTRACT 6.3)", async () => {
    const session = { store: createMemoryKeyValueStore() };
    const [one, other] = [await createTestService({ session }), await createTestService({ session })];
    expect(await statusOf(other, bySession(await one.login()))).toBe(200);
  });

  it("is answered 503 while its store is not available, without telling why (CONTRACT 1)", async () => {
    const broken = () => Promise.reject(new Error("redis://:opensesame@10.0.0.1 refused"));
    const { call } = await createTestService({ session: { store: { get: broken, set: broken, delete: broken } } });
    const headers = bySession("0123456789abcdef0123456789abcdef");
    const answer = await call("GET", "/home/", { as: null, variant: "json", headers });
    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain("redis");
    const body = '{"username":"alice","password":"secret"}';
    const login = await call("POST", "/__svc__/login", {
      as: null,
      headers: { "content-type": "application/json" },
      body,
    });
    expect(login.status).toBe(503);
    // Nor can passwords be tried without being counted (CONTRACT 6.6).
    expect((await call("GET", "/home/", { variant: "json" })).status).toBe(503);
  });

  it.each([
    ["upper case", (id: string) => id.toUpperCase()],
    ["a blank inside", (id: string) => `${id.slice(0, 8)} ${id.slice(8)}`],
    ["a digit less", (id: string) => id.slice(1)],
    ["a digit more", (id: string) => `${id}0`],
  ])("is not found by its ID with %s (5.1.3)", async (_what, alter) => {
    const test = await createTestService();
    // An ID without letters has no upper case.
    const ids = await Promise.all(Array.from({ length: 3 }, () => test.login()));
    for (const id of ids) expect(await statusOf(test, bySession(alter(id)))).toBe(401);
  });
});
