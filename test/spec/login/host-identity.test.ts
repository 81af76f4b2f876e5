import { describe, expect, it } from "vitest";
import type { Connection } from "../../../src/contracts/connection.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { Identify, Identity } from "../../../src/contracts/identity.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { basic, byCookie, bySession, createTestService, type TestServiceOptions } from "../../support/service.ts";

/** The users of the host's application, by the value of a header. */
const USERS: Readonly<Record<string, Identity>> = {
  ann: { username: "ann", settings: { home_folder_path: "/users/ann" } },
  reader: {
    username: "reader",
    settings: { home_folder_path: "/users/ann", permissions: [["allow-read", "allow-list"]] },
  },
};

const identify: Identify = (request) => USERS[request.headers.get("x-user") ?? ""];
const files = { "/users/ann/a.txt": "ann's" };

function create(options: TestServiceOptions = {}) {
  return createTestService({ files, identify, isDescribed: false, ...options });
}

const as = (user: string, headers: Readonly<Record<string, string>> = {}) => ({
  as: null,
  headers: { "x-user": user, ...headers },
});

describe("a request whose user the host's application knows", () => {
  it("has that user's files, settings and permissions", async () => {
    const { call, stored } = await create();
    expect((await call("GET", "/home/a.txt", as("ann"))).text).toBe("ann's");
    expect((await call("PUT", "/home/b.txt", { ...as("ann"), body: "b" })).status).toBe(201);
    expect(await stored("/users/ann/b.txt")).toBe("b");
    expect((await call("GET", "/home/a.txt", as("reader"))).status).toBe(200);
    expect((await call("PUT", "/home/a.txt", { ...as("reader"), body: "x" })).status).toBe(403);
  });

  it("is that user's, whatever else the request has", async () => {
    const { call, login } = await create();
    const session = await login();
    for (const other of [
      byCookie(session),
      bySession(session),
      { authorization: basic("alice", "wrong") },
      { authorization: "Bearer x" },
    ]) {
      const answer = await call("GET", "/home/a.txt", as("ann", other));
      expect([answer.status, answer.text]).toEqual([200, "ann's"]);
    }
  });

  it("may be one that the application does not know: then the logins of the service count", async () => {
    const { call, login } = await create({ files: { ...files, "/alice/a.txt": "alice's" } });
    expect((await call("GET", "/home/a.txt", { as: null, headers: bySession(await login()) })).text).toBe("alice's");
    expect((await call("GET", "/home/a.txt", { as: null, variant: "json" })).status).toBe(401);
    expect((await call("GET", "/home/a.txt", { as: null, headers: { authorization: "Bearer x" } })).status).toBe(401);
  });

  it("starts no session, and is no session: it changes no password", async () => {
    const { call } = await create();
    const page = await call("GET", "/home/", { ...as("ann"), variant: "html" });
    expect([page.status, page.header("set-cookie")]).toEqual([200, null]);
    expect(page.text).not.toContain("/__svc__/logout");
    const update = await call("GET", "/home/__svc__/password-update", { ...as("ann"), variant: "json" });
    expect([update.status, update.header("error-code")]).toEqual([401, "session-required"]);
  });

  it("has its home folder made, as at a login", async () => {
    const { call, storage } = await create({
      identify: () => ({ username: "new", settings: { home_folder_path: "/users/new" } }),
    });
    expect((await call("GET", "/home/", { as: null, variant: "json" })).json()).toMatchObject({ content: [] });
    expect(await storage.stat("/users/new")).toMatchObject({ kind: "folder" });
  });

  it("is not throttled, and none of the service's names is locked by it", async () => {
    const { call } = await create({ limits: { loginAttempts: 2 } });
    for (let index = 0; index < 5; index += 1) {
      await call("GET", "/home/a.txt", { as: null, headers: { authorization: basic("ann", "wrong") } });
    }
    expect((await call("GET", "/home/a.txt", as("ann"))).status).toBe(200);
  });

  it("is asked for with the connection, and may be found later", async () => {
    const seen: (string | undefined)[] = [];
    const { call } = await create({
      identify: async (_request, { peer }) => {
        seen.push(peer?.address);
        return USERS.ann;
      },
    });
    const connection: Connection = { peer: { address: "192.0.2.7", port: 1, family: "IPv4", protocol: "TCP" } };
    expect((await call("GET", "/home/a.txt", { as: null, connection })).status).toBe(200);
    expect(seen).toEqual(["192.0.2.7"]);
    await call("GET", "/__svc__/login", { as: null, connection });
    expect(seen.length).toBe(1);
  });
});

describe("a page of another site", () => {
  const evil = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };

  it("cannot act for a user who is identified by what browsers send by themselves", async () => {
    for (const identifiedBy of [undefined, "cookie"] as const) {
      const { call } = await create(identifiedBy === undefined ? {} : { identifiedBy });
      const answer = await call("PUT", "/home/x", { ...as("ann", evil), body: "x" });
      expect([answer.status, answer.header("error-code")]).toEqual([403, "cross-site"]);
      expect((await call("PUT", "/home/x", { ...as("ann"), body: "x" })).status).toBe(201);
    }
  });

  it("may where the option says that a header identifies users, but not by the service's own cookies", async () => {
    const { call, login } = await create({ identifiedBy: "header" });
    expect((await call("PUT", "/home/x", { ...as("ann", evil), body: "x" })).status).toBe(201);
    const cookie = byCookie(await login());
    expect((await call("PUT", "/home/x", { as: null, headers: { ...cookie, ...evil }, body: "x" })).status).toBe(403);
  });
});

describe("the function identify", () => {
  it("may refuse the request by an HttpError", async () => {
    const { call } = await create({
      identify: () => {
        throw new HttpError("denied", "The trial has ended.", {}, { code: "trial-ended" });
      },
    });
    const answer = await call("GET", "/home/a.txt", { as: null, variant: "json" });
    expect([answer.status, answer.header("error-code")]).toEqual([403, "trial-ended"]);
    expect(answer.text).toContain("The trial has ended.");
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("secret of the host");
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret of the host"))],
    ["returns no object", () => "ann"],
    ["returns no name", () => ({})],
    ["returns an empty name", () => ({ username: "" })],
    ["returns a name that is no text", () => ({ username: 5 })],
    ["returns a name with control characters", () => ({ username: "a\nb" })],
    ["returns a name of more than 255 bytes", () => ({ username: "ä".repeat(128) })],
    ["returns a version that is no text", () => ({ username: "ann", version: 5 })],
  ])("that %s makes a blank 500, and the log has it", async (_what, wrong) => {
    const { call, log } = await create({ identify: wrong as Identify });
    const answer = await call("GET", "/home/a.txt", { as: null, variant: "json" });
    expect([answer.status, answer.header("error-code")]).toEqual([500, "internal"]);
    expect(answer.text).not.toContain("secret");
    expect(log.text()).toContain("A request failed.");
  });

  it("cannot give settings that the service does not know: the account is not used", async () => {
    const settings = { permisions: [["allow-read"]] } as unknown as Identity["settings"];
    const { call, log } = await create({ identify: () => ({ username: "ann", settings }) });
    const answer = await call("GET", "/home/a.txt", { as: null, variant: "json" });
    expect([answer.status, answer.header("error-code")]).toEqual([403, "account-unusable"]);
    expect(log.text()).toContain("permisions");
  });

  it("is not asked twice for an upload", async () => {
    let asked = 0;
    const { call } = await create({
      identify: () => {
        asked += 1;
        return USERS.ann;
      },
    });
    await call("PUT", "/home/x", { as: null, body: "x" });
    expect(asked).toBe(1);
  });
});

describe("the events of an identity", () => {
  const peerOf = (port: number): Connection => ({
    peer: { address: "192.0.2.1", port, family: "IPv4", protocol: "TCP" },
  });

  it("have its login once for a connection and version", async () => {
    const events: FileEvent[] = [];
    let identity: Identity = { username: "ann", version: "1" };
    const { call } = await create({ identify: () => identity, onEvent: (event) => void events.push(event) });
    const logins = async (port: number) => {
      events.length = 0;
      await call("GET", "/home/", { as: null, connection: peerOf(port) });
      return events.filter(({ id }) => id === 40007);
    };
    expect(await logins(1)).toMatchObject([
      {
        account: { name: "ann", peer: { port: 1 } },
        data: { credentials: { type: "identity" }, verdicts: [], session: false },
      },
    ]);
    expect(await logins(1)).toEqual([]);
    expect(await logins(2)).toHaveLength(1);
    identity = { ...identity, version: "2" };
    expect(await logins(2)).toHaveLength(1);
    identity = { ...identity, settings: { email: "ann@example.org" } };
    expect(await logins(2)).toHaveLength(1);
    expect(await logins(2)).toEqual([]);
  });
});

describe("service.sessions", () => {
  it("starts a session of a user of the application", async () => {
    const events: FileEvent[] = [];
    const { service, call, storage } = await create({ onEvent: (event) => void events.push(event) });
    const settings = { home_folder_path: "/users/eve" };
    const { id, setCookie } = await service.sessions.start("eve", settings, { isSecure: true });
    expect(setCookie).toBe(`SVC_HTTP_SESSION=${id}; Path=/; HttpOnly; SameSite=strict; Secure`);
    expect(await storage.stat("/users/eve")).toMatchObject({ kind: "folder" });
    expect((await call("PUT", "/home/x", { as: null, headers: bySession(id), body: "x" })).status).toBe(201);
    expect((await call("GET", "/home/x", { as: null, headers: byCookie(id) })).text).toBe("x");
    const logins = events.filter((event) => event.id === 40007);
    expect(logins).toMatchObject([
      { account: { name: "eve" }, data: { credentials: { type: "identity" }, session: true } },
    ]);
    await service.sessions.end("eve");
    expect((await call("GET", "/home/x", { as: null, variant: "json", headers: bySession(id) })).status).toBe(401);
  });

  it("has no Secure in the cookie of a plain connection", async () => {
    const { service } = await create();
    const { id, setCookie } = await service.sessions.start("eve", {});
    expect(setCookie).toBe(`SVC_HTTP_SESSION=${id}; Path=/; HttpOnly; SameSite=strict`);
  });

  it.each<[string, string, object]>([
    ["no name", "", {}],
    ["a name with control characters", "a\u0000", {}],
    ["unknown settings", "eve", { permisions: [] }],
    ["an unknown group", "eve", { group: "nobody" }],
  ])("starts none for %s", async (_what, username, settings) => {
    const { service } = await create();
    await expect(service.sessions.start(username, settings)).rejects.toMatchObject({ failure: "denied" });
  });

  it("ends the least recently used session over the limit of an account", async () => {
    const { service, call } = await create({ session: { maxPerAccount: 1 } });
    const first = await service.sessions.start("eve", {});
    const second = await service.sessions.start("eve", {});
    const statusOf = async (id: string) =>
      (await call("GET", "/home/", { as: null, variant: "json", headers: bySession(id) })).status;
    expect([await statusOf(first.id), await statusOf(second.id)]).toEqual([401, 200]);
  });
});
