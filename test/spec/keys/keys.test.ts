import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { NewApiKey } from "../../../src/auth/keys/create-api-key.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { basic, bySession, createTestService, type TestServiceOptions } from "../../support/service.ts";
import { createMemoryKeys } from "./memory-keys.ts";

const FILES = {
  "/alice/a.txt": "a",
  "/alice/reports/q1.csv": "1",
  "/alice/reports/old/q0.csv": "0",
  "/alice/secret/plan.txt": "plan",
};
const JSON_BODY = { "content-type": "application/json" };

/** A service whose accounts have keys. */
async function open(settings: AccountSettings = {}, options: TestServiceOptions = {}) {
  let passed = 0;
  const events: FileEvent[] = [];
  const own = { home_folder_path: "/alice", ...settings };
  const accounts = [
    { username: "alice", password: "secret", ...own },
    { username: "bob", password: "hunter2" },
  ];
  const keys = createMemoryKeys({ alice: own }, () => Date.now() + passed);
  const authentication = { ...createAccountsAuthenticator({ accounts, logger: createRecordingLogger() }), keys };
  const test = await createTestService({
    authentication,
    files: FILES,
    onEvent: (event) => void events.push(event),
    ...options,
  });

  function make(wanted?: NewApiKey) {
    const { key, text } = keys.make("alice", wanted);
    const send = async (method: string, target: string, more: Parameters<typeof test.call>[2] = {}) =>
      test.call(method, target, {
        variant: "json",
        ...more,
        as: null,
        headers: { authorization: `Bearer ${text}`, ...more.headers },
      });
    return { key, text, send };
  }

  return {
    ...test,
    keys,
    events,
    make,
    advance(seconds: number) {
      passed += 1000 * seconds;
      test.advance(seconds);
    },
  };
}

describe("a request with an API key", () => {
  it("is the account's, as a Bearer token and as the password of HTTP Basic", async () => {
    const { make, call } = await open();
    const { text, send } = make();
    expect((await send("GET", "/home/a.txt")).text).toBe("a");
    const headers = { authorization: basic("alice", text) };
    expect((await call("GET", "/home/a.txt", { as: null, headers })).text).toBe("a");
    const info = await send("GET", "/home/__svc__/account");
    expect(info.json()).toMatchObject({ name: "alice", login: "bearer", logins: expect.arrayContaining(["bearer"]) });
  });

  it.each([
    ["a wrong secret", (text: string) => `${text.slice(0, -1)}${text.endsWith("0") ? "1" : "0"}`],
    ["an unknown ID", (text: string) => text.replace(/^ff_./, (start) => (start === "ff_0" ? "ff_1" : "ff_0"))],
  ])("is 401 with %s", async (_case, change) => {
    const { make, call, events } = await open();
    const wrong = change(make().text);
    for (const authorization of [`Bearer ${wrong}`, basic("alice", wrong)]) {
      const refused = await call("GET", "/home/a.txt", { as: null, variant: "json", headers: { authorization } });
      expect([refused.status, refused.header("error-code")]).toEqual([401, "key-invalid"]);
      expect(refused.header("www-authenticate")).toMatch(/^basic /);
    }
    const data = { credentials: { type: "api-key" }, reason: "credentials" };
    expect(events.filter(({ id }) => id === 40000)).toMatchObject([{ data }, { data }]);
  });

  it("is 401 for another text, for the user name of another account, and at the login", async () => {
    const { make, call } = await open();
    const { text } = make();
    const other = await call("GET", "/home/", { as: null, variant: "json", headers: { authorization: "Bearer x" } });
    expect([other.status, other.header("error-code")]).toEqual([401, "authorization-invalid"]);
    const headers = { authorization: basic("bob", text) };
    expect((await call("GET", "/home/", { as: null, variant: "json", headers })).status).toBe(401);
    const body = JSON.stringify({ username: "alice", password: text });
    const login = await call("POST", "/__svc__/login", { as: null, variant: "json", headers: JSON_BODY, body });
    expect(login.status).toBe(401);
  });

  it("is 401 when the key has expired, was revoked, or its account may not log in any more", async () => {
    const { make, keys, advance } = await open();
    const [short, revoked, last] = [make({ expiresIn: 3600 }), make(), make()];
    advance(3000);
    expect((await short.send("GET", "/home/")).status).toBe(200);
    advance(600);
    const expired = await short.send("GET", "/home/");
    expect([expired.status, expired.header("error-code")]).toEqual([401, "key-expired"]);
    await keys.remove("alice", revoked.key.id);
    expect((await revoked.send("GET", "/home/")).header("error-code")).toBe("key-invalid");
    keys.accounts.delete("alice");
    expect((await last.send("GET", "/home/")).header("error-code")).toBe("key-invalid");
  });

  it("counts a wrong secret as a failed login of its network, and lets right keys pass", async () => {
    const { make, call } = await open({}, { limits: { loginAttempts: 3 } });
    const { text, send, key } = make();
    const peer = { address: "192.0.2.7", port: 1, family: "IPv4", protocol: "TCP" } as const;
    const guess = (index: number) =>
      call("GET", "/home/", {
        as: null,
        variant: "json",
        headers: { authorization: `Bearer ff_${key.id}_${String(index).padStart(32, "0")}` },
        connection: { peer },
      });
    for (const index of [1, 2, 3]) expect((await guess(index)).header("retry-after")).toBeNull();
    expect((await guess(4)).header("retry-after")).toMatch(/^\d+$/);
    const login = await call("GET", "/home/", { variant: "json", connection: { peer } });
    expect([login.status, login.header("retry-after")]).toEqual([401, expect.stringMatching(/^\d+$/)]);
    expect((await send("GET", "/home/", { connection: { peer } })).status).toBe(200);
    expect(text).toMatch(/^ff_[0-9a-f]{16}_[0-9a-f]{32}$/);
  });

  it("does not count an expired key", async () => {
    const { make, call, advance } = await open({}, { limits: { loginAttempts: 2 } });
    const { send } = make({ expiresIn: 1 });
    advance(1);
    for (let count = 0; count < 5; count += 1) expect((await send("GET", "/home/")).status).toBe(401);
    expect((await call("GET", "/home/")).status).toBe(200);
  });

  it("needs no origin as a Bearer token, which no browser sends on its own, but does by HTTP Basic", async () => {
    const { make, call } = await open();
    const { text, send } = make();
    const origin = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await send("PUT", "/home/new.txt", { body: "x", headers: origin })).status).toBe(201);
    const headers = { ...origin, authorization: basic("alice", text) };
    expect((await call("PUT", "/home/new2.txt", { as: null, body: "x", headers })).status).toBe(403);
  });

  it("tells events of the key, and never its secret", async () => {
    const { make, events } = await open();
    const { key, send } = make({ label: "backup" });
    for (let count = 0; count < 2; count += 1) await send("GET", "/home/a.txt");
    const shown = { id: key.id, label: "backup" };
    const logins = events.filter(({ id }) => id === 40007);
    expect(logins).toMatchObject([{ account: { name: "alice" }, key: shown, data: { session: false } }]);
    expect(events.filter(({ id }) => id === 40039)).toMatchObject([{ key: shown }, { key: shown }]);
    expect(JSON.stringify(events)).not.toContain(key.sha256);
  });

  it("has its key in the events of transfers over a limit too", async () => {
    const files = { ...FILES, "/alice/large.bin": new Uint8Array(4_000_000) };
    const { make, events, open: start } = await open({}, { files, limits: { transfersPerAccount: 1 } });
    const { key, text, send } = make({ label: "backup" });
    const { body } = await start("GET", "/home/large.bin", { as: null, headers: { authorization: `Bearer ${text}` } });
    expect((await send("GET", "/home/a.txt")).status).toBe(503);
    expect((await send("PUT", "/home/b.txt", { body: "b" })).status).toBe(503);
    await body?.cancel();
    const refused = events.filter(({ id }) => id === 40035 || id === 40021 || id === 40022);
    expect(refused.map((event) => event.key)).toEqual([key, key, key].map(({ id }) => ({ id, label: "backup" })));
  });

  it("logs in again every hour behind a proxy, which hides connections, and has its home folder again", async () => {
    const { make, events, advance, storage } = await open({}, { clientForwardedHeader: "X-Forwarded-For" });
    const { send } = make();
    const headers = { "x-forwarded-for": "203.0.113.9" };
    for (let count = 0; count < 2; count += 1) expect((await send("GET", "/home/", { headers })).status).toBe(200);
    await storage.remove("/alice");
    advance(3600);
    for (let count = 0; count < 2; count += 1) expect((await send("GET", "/home/", { headers })).status).toBe(200);
    expect(events.filter(({ id }) => id === 40007)).toHaveLength(2);
  });
});

describe("a transfer with an API key", () => {
  it.each([
    ["is revoked", 401, "a"],
    ["expires", 401, "a"],
    ["stays", 201, "piecepiece"],
  ])("when its key %s in the middle is %i", async (what, status, content) => {
    const { make, keys, advance, stored } = await open();
    const { key, send } = make(what === "expires" ? { expiresIn: 10 } : {});
    let step = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          step += 1;
          if (step === 2 && what === "is revoked") await keys.remove("alice", key.id);
          if (step > 1) advance(20);
          // What the service asks in the background is answered meanwhile.
          await new Promise((resolve) => setTimeout(resolve, 5));
          if (step === 3) return controller.close();
          controller.enqueue(new TextEncoder().encode("piece"));
        },
      },
      { highWaterMark: 0 },
    );
    expect((await send("PUT", "/home/a.txt", { body })).status).toBe(status);
    expect(await stored("/alice/a.txt")).toBe(content);
  });

  it("in several requests is seen by no other key that is for less than the account", async () => {
    const { make, call } = await open();
    const [one, other, whole] = [make({ path: "/reports" }), make({ path: "/reports" }), make()];
    const headers = { "tus-resumable": "1.0.0", "upload-length": "5", "upload-metadata": `filename ${btoa("b.txt")}` };
    const begin = (send: typeof one.send, folder: string) => send("POST", `/home/${folder}`, { headers });
    expect((await begin(one.send, "secret/")).status).toBe(403);
    const begun = await begin(one.send, "reports/");
    expect(begun.status).toBe(201);
    const url = new URL(begun.header("location") ?? "", "http://files.example").pathname;
    const tus = { headers: { "tus-resumable": "1.0.0" } };
    expect((await one.send("HEAD", url, tus)).status).toBe(200);
    expect((await other.send("HEAD", url, tus)).status).toBe(404);
    expect((await other.send("DELETE", url, tus)).status).toBe(404);
    expect((await other.send("GET", "/home/__svc__/uploads/")).json()).toEqual({ uploads: [] });
    expect((await call("HEAD", url, tus)).status).toBe(200);
    const own = await begin(whole.send, "reports/");
    const ownUrl = new URL(own.header("location") ?? "", "http://files.example").pathname;
    expect((await call("HEAD", ownUrl, tus)).status).toBe(200);
  });
});

describe("what an API key permits", () => {
  it("is what the key and the account both grant", async () => {
    const { make } = await open({ permissions: [["allow-read", "allow-list", "allow-write"]] });
    const readOnly = make({ permissions: ["allow-read", "allow-list"] });
    expect((await readOnly.send("GET", "/home/a.txt")).status).toBe(200);
    expect((await readOnly.send("PUT", "/home/b.txt", { body: "b" })).status).toBe(403);
    const all = make({ permissions: ["allow-full-control"] });
    expect((await all.send("PUT", "/home/b.txt", { body: "b" })).status).toBe(201);
    expect((await all.send("DELETE", "/home/b.txt")).status).toBe(403);
  });

  it("is nothing outside its path, whether something is there or not", async () => {
    const { make } = await open();
    const { send } = make({ path: "/reports" });
    expect((await send("GET", "/home/reports/q1.csv")).text).toBe("1");
    const listed = await send("GET", "/home/reports/");
    expect(
      listed
        .json<{ content: { name: string }[] }>()
        .content.map(({ name }) => name)
        .sort(),
    ).toEqual(["old", "q1.csv"]);
    for (const path of [
      "/",
      "/a.txt",
      "/secret/",
      "/secret",
      "/secret/plan.txt",
      "/none.txt",
      "/none/",
      "/reports2/",
    ]) {
      const got = await send("GET", `/home${path}`);
      expect([path, got.status]).toEqual([path, 403]);
    }
    for (const path of ["/secret", "/secret/", "/none.txt", "/a.txt", "/none/"]) {
      expect([path, (await send("DELETE", `/home${path}`)).status]).toEqual([path, 403]);
    }
    expect((await send("PUT", "/home/secret/new.txt", { body: "x" })).status).toBe(403);
    expect((await send("PUT", "/home/reports/new.txt", { body: "x" })).status).toBe(201);
    expect((await send("DELETE", "/home/reports/")).status).toBe(403);
    const move = { command: "copy", target: "reports/q1.csv", destination: "secret/q1.csv" };
    const commands = JSON.stringify({ commands: [move] });
    const moved = await send("POST", "/home/", { headers: JSON_BODY, body: commands });
    expect(moved.status).toBeGreaterThanOrEqual(400);
  });

  it("is no key, no link and no password", async () => {
    const { make, stored } = await open({}, { links: { secret: "x".repeat(32) } });
    const { send } = make();
    const create = { headers: JSON_BODY, body: JSON.stringify({ path: "/a.txt" }) };
    for (const [method, target] of [
      ["GET", "/home/__svc__/keys"],
      ["POST", "/home/__svc__/keys"],
      ["DELETE", "/home/__svc__/keys/0123456789abcdef"],
      ["GET", "/home/__svc__/links"],
      ["POST", "/home/__svc__/links"],
    ] as const) {
      const refused = await send(method, target, method === "POST" ? create : {});
      expect([target, refused.status, refused.header("error-code")]).toEqual([target, 403, "key-denied"]);
    }
    const commands = [{ command: "create-link", target: "a.txt" }];
    const linked = await send("POST", "/home/", { headers: JSON_BODY, body: JSON.stringify({ commands }) });
    expect(linked.status).toBe(400);
    const update = await send("POST", "/home/__svc__/password-update", create);
    expect([update.status, update.header("error-code")]).toEqual([401, "session-required"]);
    expect(await stored("/alice/a.txt")).toBe("a");
  });
});

describe("require_key_for_basic", () => {
  it("refuses the password by HTTP Basic with a clear text, and takes it at the login", async () => {
    const { call, login, make, events } = await open({ require_key_for_basic: true });
    const refused = await call("GET", "/home/", { variant: "json" });
    expect([refused.status, refused.header("error-code")]).toEqual([401, "key-required"]);
    expect(refused.json()).toMatchObject({ errors: [{ message: expect.stringContaining("needs an API key") }] });
    expect(events.at(-1)).toMatchObject({ id: 40000, data: { reason: "key-required" } });
    const wrong = await call("GET", "/home/", {
      as: null,
      variant: "json",
      headers: { authorization: basic("alice", "no") },
    });
    expect(wrong.header("error-code")).toBe("credentials-wrong");
    const headers = bySession(await login());
    expect((await call("GET", "/home/", { as: null, headers, variant: "json" })).status).toBe(200);
    const key = { authorization: basic("alice", make().text) };
    expect((await call("GET", "/home/", { as: null, headers: key, variant: "json" })).status).toBe(200);
    const page = await call("GET", "/home/", { variant: "html" });
    expect([page.status, page.header("location")]).toEqual([302, "/__svc__/login"]);
  });

  it("can be a setting of the default group", async () => {
    const { call } = await open({}, { groups: { DEFAULT_GROUP: { require_key_for_basic: true } } });
    expect((await call("GET", "/home/", { variant: "json" })).header("error-code")).toBe("key-required");
  });
});
