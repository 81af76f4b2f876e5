import { describe, expect, it } from "vitest";
import type { Credentials, Verdict } from "../../../src/contracts/authenticator.ts";
import type { Connection } from "../../../src/contracts/connection.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import {
  basic,
  bySession,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";

const MINUTE = 60;

/** A service that counts how often its authenticator is asked, and by whom. */
async function createCountingService(options: TestServiceOptions = {}) {
  const asked: Credentials[] = [];
  const authenticate = async (credentials: Credentials): Promise<Verdict> => {
    asked.push(credentials);
    const isRight = credentials.content === "secret";
    return isRight ? { outcome: "accepted", account: {} } : { outcome: "rejected" };
  };
  const test = await createTestService({ authentication: { name: "counting", authenticate }, ...options });
  return { ...test, asked };
}

function from(address: string): Connection {
  return { peer: { address, port: 4711, family: "IPv4", protocol: "TCP" } };
}

type Way = (test: TestService, username: string, password: string, connection?: Connection) => Promise<number>;

const byJson: Way = async ({ call }, username, password, connection = {}) => {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ username, password });
  return (await call("POST", "/__svc__/login", { as: null, headers, body, connection })).status;
};

const byForm: Way = async ({ call }, username, password, connection = {}) => {
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "text/html" };
  const body = String(new URLSearchParams({ username, password }));
  return (await call("POST", "/__svc__/login", { as: null, headers, body, connection })).status;
};

const byBasic: Way = async ({ call }, username, password, connection = {}) => {
  const headers = { authorization: basic(username, password) };
  return (await call("GET", "/home/", { as: null, variant: "json", headers, connection })).status;
};

const ways: readonly [string, Way, number][] = [
  ["JSON", byJson, 200],
  ["a form", byForm, 302],
  ["Basic", byBasic, 200],
];

describe("failed logins", () => {
  it.each(ways)("by %s: after 10 the right password is refused as well, unheard (CONTRACT 6.6)", async (_name, way) => {
    const test = await createCountingService();
    for (let count = 0; count < 12; count++) expect(await way(test, "alice", "wrong")).toBe(401);
    expect(test.asked).toHaveLength(10);
    expect(await way(test, "alice", "secret")).toBe(401);
    expect(test.asked).toHaveLength(10);
    expect(await way(test, "bob", "secret")).not.toBe(401);
  });

  it.each(ways)("by %s: count for ten minutes, refused ones not at all (CONTRACT 6.6)", async (_name, way, success) => {
    const test = await createCountingService();
    for (let count = 0; count < 10; count++) await way(test, "alice", "wrong");
    test.advance(9 * MINUTE);
    expect(await way(test, "alice", "secret")).toBe(401);
    test.advance(MINUTE);
    expect(await way(test, "alice", "secret")).toBe(success);
  });

  it("count together, whatever the way (CONTRACT 6.6)", async () => {
    const test = await createCountingService();
    for (let count = 0; count < 12; count++) await (ways[count % 3]?.[1] ?? byJson)(test, "alice", "wrong");
    expect(test.asked).toHaveLength(10);
  });

  it("count by the peer's address, whatever the names; a success does not reset it (CONTRACT 6.6)", async () => {
    const test = await createCountingService();
    for (let count = 0; count < 10; count++) {
      expect(await byJson(test, `user${count}`, "wrong", from("192.0.2.1"))).toBe(401);
      if (count < 9) expect(await byJson(test, "alice", "secret", from("192.0.2.1"))).toBe(200);
    }
    expect(await byJson(test, "alice", "secret", from("192.0.2.1"))).toBe(401);
    expect(await byJson(test, "alice", "secret", from("192.0.2.2"))).toBe(200);
  });

  it("are forgotten for a name that logs in (CONTRACT 6.6)", async () => {
    const test = await createCountingService();
    for (let count = 0; count < 30; count++) {
      const password = count % 10 === 9 ? "secret" : "wrong";
      expect(await byJson(test, "alice", password)).toBe(password === "secret" ? 200 : 401);
    }
    expect(test.asked).toHaveLength(30);
  });

  it("answer the same body before and beyond the limit, for known and unknown names (CONTRACT 6.6)", async () => {
    const { call } = await createTestService();
    const headers = { "content-type": "application/json" };
    const bodies = new Set<string>();
    for (const username of ["alice", "nobody"]) {
      for (let count = 0; count < 12; count++) {
        const body = JSON.stringify({ username, password: "wrong" });
        bodies.add((await call("POST", "/__svc__/login", { as: null, headers, body })).text);
      }
    }
    expect(bodies.size).toBe(1);
  });

  it("are counted exactly when they come at once", async () => {
    const test = await createCountingService();
    await Promise.all(Array.from({ length: 40 }, () => byJson(test, "alice", "wrong")));
    expect(test.asked).toHaveLength(10);
  });

  it("do not touch sessions, live or not (CONTRACT 6.6)", async () => {
    const test = await createCountingService();
    const session = await test.login("alice");
    const read = (id: string) => test.call("GET", "/home/", { as: null, variant: "json", headers: bySession(id) });
    for (let count = 0; count < 20; count++) expect((await read("0".repeat(32))).status).toBe(401);
    for (let count = 0; count < 12; count++) await byJson(test, "alice", "wrong");
    expect((await read(session)).status).toBe(200);
  });

  it("are limited by the options", async () => {
    const test = await createCountingService({ limits: { loginAttempts: 2, loginWindowSeconds: 30 } });
    for (let count = 0; count < 4; count++) await byJson(test, "alice", "wrong");
    expect(test.asked).toHaveLength(2);
    test.advance(30);
    expect(await byJson(test, "alice", "secret")).toBe(200);
  });

  it("are told to the operator when they are refused, without the password", async () => {
    const test = await createCountingService({ limits: { loginAttempts: 1 } });
    for (let count = 0; count < 2; count++) await byJson(test, "alice", "hunter2", from("192.0.2.1"));
    const warnings = test.log.entries.filter(({ level }) => level === "warn");
    expect(warnings.map(({ details }) => details)).toEqual([
      { reason: "throttled", type: "password", username: "alice", address: "192.0.2.1" },
    ]);
    expect(test.log.text()).not.toContain("hunter2");
  });

  it("are 503 while they cannot be counted (CONTRACT 1)", async () => {
    const broken = () => Promise.reject(new Error("down"));
    const test = await createCountingService({ session: { store: { get: broken, set: broken, delete: broken } } });
    for (const [, way] of ways) expect(await way(test, "alice", "secret")).toBe(503);
    expect(test.asked).toEqual([]);
  });
});

describe("failed logins without end", () => {
  const headers = (session: string) => ({ as: null, variant: "json" as const, headers: bySession(session) });

  it.each(["session.store", "limits.loginStore"])(
    "end no session and bring none back, where %s is as small as theirs",
    async (option) => {
      const store = createMemoryKeyValueStore({ maxEntries: 40 });
      const options =
        option === "session.store" ? { session: { store } } : { session: { store }, limits: { loginStore: store } };
      const test = await createCountingService(options);
      const session = await test.login("alice");
      for (let count = 0; count < 200; count += 1) {
        expect(await byJson(test, `user${count}`, "wrong", from(`192.0.2.${count}`))).toBe(401);
      }
      expect((await test.call("GET", "/home/", headers(session))).status).toBe(200);
    },
  );

  it("of names that are nobody's leave those of others counted (CONTRACT 6.6)", async () => {
    const store = createMemoryKeyValueStore({ maxEntries: 40 });
    const test = await createCountingService({ session: { store } });
    for (let count = 0; count < 10; count += 1) await byJson(test, "alice", "wrong");
    for (let count = 0; count < 100; count += 1) {
      await byJson(test, `${count}${"x".repeat(255)}`, "wrong", from(`192.0.2.${count}`));
      await byJson(test, `user${count}`, "", from(`192.0.2.${count}`));
    }
    expect(test.asked).toHaveLength(10);
    expect(await byJson(test, "alice", "secret")).toBe(401);
  });

  it("of credentials that are nobody's use their address up (CONTRACT 6.6)", async () => {
    const test = await createCountingService();
    for (let count = 0; count < 10; count += 1) {
      expect(await byJson(test, count < 5 ? "" : "alice", count < 5 ? "x" : "", from("192.0.2.1"))).toBe(401);
    }
    expect(await byJson(test, "alice", "secret", from("192.0.2.1"))).toBe(401);
    expect(test.asked).toEqual([]);
    expect(await byJson(test, "alice", "secret", from("192.0.2.2"))).toBe(200);
  });

  it("from the addresses of one IPv6 network are counted together, a session stays (CONTRACT 6.6)", async () => {
    const test = await createCountingService();
    const session = await test.login("alice");
    for (let count = 0; count < 50; count += 1) await byJson(test, `user${count}`, "wrong", from(`2001:db8::${count}`));
    expect(test.asked).toHaveLength(11);
    expect((await test.call("GET", "/home/", headers(session))).status).toBe(200);
  });
});

describe("the sessions of one account", () => {
  it("are 100 at a time, or what session.maxPerAccount says: the oldest ends", async () => {
    const test = await createCountingService({ session: { maxPerAccount: 2 } });
    const ids = [await test.login("alice"), await test.login("alice"), await test.login("alice")];
    const statuses = await Promise.all(
      ids.map(
        async (id) => (await test.call("GET", "/home/", { as: null, variant: "json", headers: bySession(id) })).status,
      ),
    );
    expect(statuses).toEqual([401, 200, 200]);
  });

  it.each([-1, 0.5, 1001, "5"])("cannot be %j", async (maxPerAccount) => {
    const session = { maxPerAccount: maxPerAccount as number };
    await expect(createTestService({ session })).rejects.toThrow(/session\.maxPerAccount/);
  });
});

describe("the client's address", () => {
  async function peerOf(options: TestServiceOptions, headers: Readonly<Record<string, string>>) {
    const { call, asked } = await createCountingService(options);
    const own = { ...headers, authorization: basic("alice", "secret") };
    await call("GET", "/home/", { as: null, variant: "json", headers: own, connection: from("10.0.0.1") });
    return asked[0]?.peer;
  }

  const socket = from("10.0.0.1").peer;
  const told = { "x-forwarded-for": "192.0.2.7:99, 10.0.0.9", forwarded: "for=192.0.2.8", "x-real-ip": "192.0.2.9" };

  it("is the socket's, whatever headers say, unless an option names one (CONTRACT 6.7)", async () => {
    expect(await peerOf({}, told)).toEqual(socket);
    expect(await peerOf({ clientForwardedHeader: "" }, told)).toEqual(socket);
  });

  it.each([
    ["X-Forwarded-For", "192.0.2.7", 99],
    ["Forwarded", "192.0.2.8", 0],
    ["x-real-ip", "192.0.2.9", 0],
  ])("is the first entry of the header that the option names: %s (CONTRACT 6.7)", async (name, address, port) => {
    const peer = await peerOf({ clientForwardedHeader: name }, told);
    expect(peer).toEqual({ address, port, family: "IPv4", protocol: "TCP" });
  });

  it.each(["", "unknown", "192.0.2.300", "evil, 192.0.2.7"])(
    "is the socket's where the header is %j (CONTRACT 6.7)",
    async (value) => {
      expect(await peerOf({ clientForwardedHeader: "X-Forwarded-For" }, { "x-forwarded-for": value })).toEqual(socket);
    },
  );

  it.each([
    ["10.0.0.0/8", "192.0.2.7, 203.0.113.9, 10.0.0.9", "203.0.113.9"],
    ["10.0.0.1", "192.0.2.7, 203.0.113.9", "203.0.113.9"],
    ["::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["10.0.0.0/8", "unknown", "10.0.0.1"],
    ["192.0.2.0/24", "203.0.113.9", "10.0.0.1"],
    ["::/0", "203.0.113.9", "10.0.0.1"],
  ])("with the trusted proxies %s and the header %s is %s (CONTRACT 6.7)", async (proxy, header, address) => {
    const options = { clientForwardedHeader: "X-Forwarded-For", trustedProxies: [proxy] };
    expect(await peerOf(options, { "x-forwarded-for": header })).toMatchObject({ address });
  });

  it("is the socket's if no proxy is trusted (CONTRACT 6.7)", async () => {
    expect(await peerOf({ clientForwardedHeader: "X-Forwarded-For", trustedProxies: [] }, told)).toEqual(socket);
  });

  it("is unknown on a connection without an address, if proxies are to be trusted (CONTRACT 6.7)", async () => {
    const { call, asked } = await createCountingService({
      clientForwardedHeader: "X-Forwarded-For",
      trustedProxies: ["0.0.0.0/0", "::/0"],
    });
    const own = { ...told, authorization: basic("alice", "secret") };
    await call("GET", "/home/", { as: null, variant: "json", headers: own, connection: {} });
    expect(asked[0]?.peer).toBeUndefined();
  });

  it("is what failed logins are counted by (CONTRACT 6.6, 6.7)", async () => {
    const { call } = await createTestService({
      clientForwardedHeader: "X-Forwarded-For",
      limits: { loginAttempts: 1 },
    });
    const status = async (client: string, name: string, password: string) => {
      const headers = { authorization: basic(name, password), "x-forwarded-for": client };
      const connection = from("10.0.0.1");
      return (await call("GET", "/home/", { as: null, variant: "json", headers, connection })).status;
    };
    expect(await status("192.0.2.1", "nobody", "x")).toBe(401);
    expect(await status("192.0.2.1", "alice", "secret")).toBe(401);
    expect(await status("192.0.2.2", "alice", "secret")).toBe(200);
  });
});
