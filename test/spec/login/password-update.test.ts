import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { createAccountsFileAuthenticator } from "../../../src/auth/accounts/accounts-file-node.ts";
import { createNodePasswordHasher } from "../../../src/auth/passwords/hash-node.ts";
import type { Authenticator } from "../../../src/contracts/authenticator.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import {
  basic,
  byCookie,
  bySession,
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";

const PATH = "/home/__svc__/password-update";
const NEW = "a brand new password";
const WRONG = "The current password is wrong.";

/** Changes of password, as `PasswordUpdate` of the contract. */
interface Kept extends Authenticator {
  readonly passwords: Map<string, string>;
}

/** An authenticator that keeps passwords in memory, quick enough for tables. */
function createKeeper(): Kept {
  const passwords = new Map([
    ["alice", "secret"],
    ["bob", "hunter2"],
    ["root", "toor"],
  ]);
  return {
    name: "keeper",
    passwords,
    async authenticate({ username, content }) {
      const group = username === "root" ? { group: "fixed" } : {};
      if (!passwords.has(username)) return { outcome: "unknown" };
      return passwords.get(username) === content ? { outcome: "accepted", account: group } : { outcome: "rejected" };
    },
    async updatePassword({ username, currentPassword, newPassword }) {
      if (!passwords.has(username)) return { outcome: "unknown" };
      if (passwords.get(username) !== currentPassword) return { outcome: "wrong-password" };
      passwords.set(username, newPassword);
      return { outcome: "updated" };
    },
  };
}

async function createKeeperService(options: TestServiceOptions = {}) {
  const keeper = createKeeper();
  const groups = { fixed: { allow_own_password_change: false } };
  return { keeper, ...(await createTestService({ authentication: keeper, groups, ...options })) };
}

function update(
  { call }: TestService,
  headers: Readonly<Record<string, string>>,
  change: object = {},
  options: CallOptions = {},
) {
  const body = JSON.stringify({ current_password: "secret", new_password: NEW, ...change });
  const own = { "content-type": "application/json", ...headers };
  return call("POST", PATH, { as: null, body, ...options, headers: own });
}

async function statusOf({ call }: TestService, headers: Readonly<Record<string, string>>): Promise<number> {
  return (await call("GET", "/home/", { as: null, variant: "json", headers })).status;
}

describe("POST /home/__svc__/password-update", () => {
  it("changes the password and answers 200 with a message (4.1, CONTRACT 7.6)", async () => {
    const test = await createKeeperService();
    const answer = await update(test, bySession(await test.login()));
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ results: [{ message: "The password was changed." }] });
    expect(answer.header("cache-control")).toBe("no-store");
    expect(answer.header("server-path")).toBeNull();
    expect(await statusOf(test, { authorization: basic("alice", "secret") })).toBe(401);
    expect(await statusOf(test, { authorization: basic("alice", NEW) })).toBe(200);
  });

  it("takes a form, and leads browsers to the home folder (4.1, rule 4)", async () => {
    const test = await createKeeperService({ basePath: "/files" });
    const headers = {
      ...byCookie(await test.login()),
      accept: "text/html",
      "content-type": "application/x-www-form-urlencoded",
      "sec-fetch-site": "same-origin",
    };
    const body = String(new URLSearchParams({ current_password: "secret", new_password: NEW }));
    const answer = await test.call("POST", `/files${PATH}`, { as: null, headers, body });
    expect([answer.status, answer.header("location")]).toEqual([303, "/files/home/?done=password-changed"]);
    expect(test.keeper.passwords.get("alice")).toBe(NEW);
  });

  it("ends the account's other sessions and keeps the one used (CONTRACT 6.3)", async () => {
    const test = await createKeeperService();
    const [used, other, third] = [await test.login(), await test.login(), await test.login()];
    const bobs = await test.login("bob");
    expect((await update(test, bySession(used))).status).toBe(200);
    const statuses = await Promise.all([used, other, third, bobs].map((id) => statusOf(test, bySession(id))));
    expect(statuses).toEqual([200, 401, 401, 200]);
    expect(await statusOf(test, byCookie(other))).toBe(401);
    // The one kept may change it again; a login with the new password begins a session that lives.
    const again = await update(test, bySession(used), { current_password: NEW, new_password: "yet another password" });
    expect(again.status).toBe(200);
  });

  it("lets a login with the new password begin a session at once", async () => {
    const test = await createKeeperService();
    await update(test, bySession(await test.login()));
    const body = JSON.stringify({ username: "alice", password: NEW });
    const headers = { "content-type": "application/json" };
    const answer = await test.call("POST", "/__svc__/login", { as: null, headers, body });
    const [result] = answer.json<{ results: { session: string }[] }>().results;
    expect(await statusOf(test, bySession(result?.session ?? ""))).toBe(200);
  });

  it("is 200 once the password has changed, though the store of sessions then fails (CONTRACT 7.6)", async () => {
    const keeper = createKeeper();
    const authentication: Authenticator = {
      ...keeper,
      async updatePassword(change) {
        await change.beforeChange?.();
        return (await keeper.updatePassword?.(change)) ?? { outcome: "unknown" };
      },
    };
    const memory = createMemoryKeyValueStore();
    let hasFailed = false;
    const store: KeyValueStore = {
      ...memory,
      async set(key, value, ttlMilliseconds) {
        hasFailed = key.startsWith("generation:") && keeper.passwords.get("alice") === NEW;
        if (hasFailed) throw new Error("the store is down");
        await memory.set(key, value, ttlMilliseconds);
      },
    };
    const test = await createTestService({ authentication, session: { store } });
    const [used, other] = [await test.login(), await test.login()];
    expect([(await update(test, bySession(used))).status, hasFailed]).toEqual([200, true]);
    expect([await statusOf(test, bySession(used)), await statusOf(test, bySession(other))]).toEqual([200, 401]);
    expect(test.log.text()).toContain("the store is down");
  });

  it("ends a session whose login was under way with the former password", async () => {
    const keeper = createKeeper();
    let release = (): void => undefined;
    let isHeld = false;
    const held: Authenticator = {
      ...keeper,
      async authenticate(credentials) {
        const verdict = await keeper.authenticate(credentials);
        if (isHeld) await new Promise<void>((resolve) => (release = resolve));
        return verdict;
      },
    };
    const test = await createTestService({ authentication: held });
    const used = await test.login();
    isHeld = true;
    const login = test.login();
    await new Promise((resolve) => setTimeout(resolve, 5));
    isHeld = false;
    expect((await update(test, bySession(used))).status).toBe(200);
    release();
    expect(await statusOf(test, bySession(await login))).toBe(401);
  });

  it("answers 401 to all but a session: none, Basic, an ended one (4.1, CONTRACT 7.6)", async () => {
    const test = await createKeeperService();
    const asked: (Readonly<Record<string, string>> | undefined)[] = [
      {},
      { authorization: basic("alice", "secret") },
      { authorization: basic("alice", "wrong") },
      { authorization: "Bearer x" },
      bySession("0".repeat(32)),
      byCookie("0".repeat(32)),
      // A weaker means never stands in for a broken one (CONTRACT 6.1).
      { ...byCookie(await test.login()), authorization: basic("alice", "secret") },
    ];
    for (const headers of asked) {
      const answer = await update(test, headers ?? {}, { current_password: 1 });
      expect(answer.status).toBe(401);
      expect(answer.header("www-authenticate")).toContain("session");
      expect(answer.json()).toMatchObject({ errors: [{ title: "Unauthorized" }] });
    }
    expect(test.keeper.passwords.get("alice")).toBe("secret");
  });

  it("leads a browser without a session to the login page, and back", async () => {
    const test = await createKeeperService();
    const answer = await test.call("GET", PATH, { as: null, variant: "html" });
    expect(answer.status).toBe(302);
    expect(answer.header("location")).toBe(`/__svc__/login?return=${encodeURIComponent(PATH)}`);
  });

  it("works only when enabled for the account's group: 403, before the body is read (4.1, rule 1)", async () => {
    const test = await createKeeperService();
    const answer = await update(test, bySession(await test.login("root")), { current_password: 1 });
    expect(answer.status).toBe(403);
    expect((await test.call("GET", PATH, { as: null, headers: bySession(await test.login("root")) })).status).toBe(403);
  });

  it("answers 403 where no method can change the password: accounts in the configuration (CONTRACT 10)", async () => {
    const test = await createTestService();
    for (const change of [{}, { current_password: 1 }]) {
      expect((await update(test, bySession(await test.login()), change)).status).toBe(403);
    }
  });

  it("lets the first method decide that knows the account", async () => {
    const keeper = createKeeper();
    const inCode = createAccountsAuthenticator({ accounts: [{ username: "alice", password: "secret" }] });
    const test = await createTestService({ authentication: [inCode, keeper] });
    expect((await update(test, bySession(await test.login()))).status).toBe(403);
    const bobs = await update(test, bySession(await test.login("bob")), { current_password: "hunter2" });
    expect(bobs.status).toBe(200);
    expect([keeper.passwords.get("alice"), keeper.passwords.get("bob")]).toEqual(["secret", NEW]);
  });

  it.each<[string, object]>([
    ["no current password", { current_password: undefined }],
    ["no new password", { new_password: undefined }],
    ["a password that is no text", { new_password: 123_456_789_012 }],
    ["null", { current_password: null }],
    ["an unknown key", { username: "bob" }],
  ])("answers 400 to %s (CONTRACT 7.6)", async (_what, change) => {
    const test = await createKeeperService();
    const answer = await update(test, bySession(await test.login()), change);
    expect(answer.status).toBe(400);
    expect(answer.json<{ errors: unknown[] }>().errors).toHaveLength(1);
    expect(test.keeper.passwords.get("alice")).toBe("secret");
  });

  it.each([
    ["current_password=secret&new_password=x&new_password=y", 400],
    ["current_password=secret", 400],
    ["current_password=secret&new_password=x&__proto__=y", 400],
    ["{}", 400],
    [`current_password=secret&new_password=${NEW}`, 200],
    [`current_password=secret&new_password=${NEW}&repeated_password=${NEW}`, 200],
    [`current_password=secret&new_password=${NEW}&repeated_password=typo`, 422],
  ])("answers the form %j by %i", async (body, status) => {
    const test = await createKeeperService();
    const headers = { ...bySession(await test.login()), "content-type": "application/x-www-form-urlencoded" };
    expect((await test.call("POST", PATH, { as: null, headers, body })).status).toBe(status);
  });

  it.each([
    ["not JSON", "{", "application/json", 400],
    ["more than 1 MiB", `"${"x".repeat(1024 * 1024)}"`, "application/json", 413],
    ["another type", "current_password=secret", "text/plain", 415],
  ])("answers a body that is %s by %i", async (_what, body, type, status) => {
    const test = await createKeeperService();
    const headers = { ...bySession(await test.login()), "content-type": type };
    expect((await test.call("POST", PATH, { as: null, headers, body })).status).toBe(status);
  });

  it.each(["application/json", "application/x-www-form-urlencoded"])(
    "answers 415 to one that is coded, as %s",
    async (type) => {
      const test = await createKeeperService();
      const headers = { ...bySession(await test.login()), "content-type": type, "content-encoding": "gzip" };
      const answer = await test.call("POST", PATH, { as: null, headers, body: "x", isProbe: true });
      expect([answer.status, answer.header("accept-encoding")]).toEqual([415, "identity"]);
      expect(test.keeper.passwords.get("alice")).toBe("secret");
    },
  );

  it("answers 422 to a wrong current password (4.1, rule 2)", async () => {
    const test = await createKeeperService();
    for (const current_password of ["wrong", "", "x".repeat(2000), "secret\u0000"]) {
      const answer = await update(test, bySession(await test.login()), { current_password });
      expect([answer.status, answer.json()]).toEqual([422, { errors: [{ message: WRONG }] }]);
    }
    expect(test.keeper.passwords.get("alice")).toBe("secret");
  });

  it("answers 422 with an error for every rule of the policy that the new password breaks (4.1, rule 3)", async () => {
    const test = await createKeeperService({
      passwordPolicy: { minLength: 8, requireClasses: ["digit", "uppercase"] },
    });
    const answer = await update(test, bySession(await test.login()), { new_password: "alice" });
    expect(answer.status).toBe(422);
    expect(answer.json()).toEqual({
      errors: [
        { message: "The new password must have at least 8 characters." },
        { message: "The new password must contain a digit." },
        { message: "The new password must contain an upper-case letter." },
        { message: "The new password must not contain the user name." },
      ],
    });
    expect(test.keeper.passwords.get("alice")).toBe("secret");
  });

  it("shows browsers the page again with every message, never a password", async () => {
    const test = await createKeeperService();
    const headers = byCookie(await test.login());
    const answer = await update(test, headers, { new_password: "alice <b>" }, { variant: "html" });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain("at least 12 characters");
    expect(answer.text).toContain("must not contain the user name");
    expect(answer.text).not.toContain("<b>");
    expect(answer.text).not.toContain("secret");
  });

  it("tells browsers every message in the language of the page, and scripts in English", async () => {
    const test = await createKeeperService({ passwordPolicy: { minLength: 8, requireClasses: ["digit"] } });
    const headers = { ...byCookie(await test.login()), "accept-language": "de" };
    const page = await update(test, headers, { new_password: "alice" }, { variant: "html" });
    expect(page.header("content-language")).toBe("de");
    expect(page.text).toContain("<li>Das neue Passwort muss mindestens 8 Zeichen haben.</li>");
    expect(page.text).toContain("<li>Das neue Passwort muss eine Ziffer enthalten.</li>");
    const json = await update(test, headers, { new_password: "alice1234" }, { variant: "json" });
    expect(json.json()).toEqual({ errors: [{ message: "The new password must not contain the user name." }] });
  });

  it("counts a wrong current password as a failed login, and is throttled as one (CONTRACT 6.6, 7.6)", async () => {
    const test = await createKeeperService({ limits: { loginAttempts: 3 } });
    const headers = bySession(await test.login());
    for (let count = 0; count < 3; count++) await update(test, headers, { current_password: "wrong" });
    const refused = await update(test, headers);
    expect([refused.status, refused.json()]).toEqual([422, { errors: [{ message: WRONG }] }]);
    expect(test.keeper.passwords.get("alice")).toBe("secret");
    expect(await statusOf(test, { authorization: basic("alice", "secret") })).toBe(401);
    expect(await statusOf(test, headers)).toBe(200);
    // What breaks the policy puts no password to the test.
    test.advance(600);
    for (let count = 0; count < 5; count++) await update(test, headers, { new_password: "short" });
    expect((await update(test, headers)).status).toBe(200);
  });

  it("refuses the cookie from other sites, not the session header (CONTRACT 6.5)", async () => {
    const test = await createKeeperService();
    const id = await test.login();
    const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await update(test, { ...byCookie(id), ...foreign })).status).toBe(403);
    expect(test.keeper.passwords.get("alice")).toBe("secret");
    expect((await update(test, { ...bySession(id), ...foreign })).status).toBe(200);
  });

  it("answers 503 and changes nothing where the method fails, and tells the operator", async () => {
    const keeper = createKeeper();
    const broken = { ...keeper, updatePassword: () => Promise.reject(new Error("EROFS: /etc/accounts.json")) };
    const test = await createTestService({ authentication: broken });
    const answer = await update(test, bySession(await test.login()));
    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain("EROFS");
    expect(test.log.text()).toContain("EROFS");
    expect(test.log.text()).not.toContain(NEW);
  });
});

describe("GET /home/__svc__/password-update", () => {
  it("shows the form (4.1, rule 4; CONTRACT 7.6)", async () => {
    const test = await createKeeperService();
    const answer = await test.call("GET", PATH, { as: null, variant: "html", headers: byCookie(await test.login()) });
    expect(answer.status).toBe(200);
    expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.header("content-security-policy")).toContain("default-src 'none'");
    expect(answer.header("cache-control")).toBe("no-store");
    expect(answer.text).toContain(`<form method="post" action="${PATH}">`);
    for (const name of ["current_password", "new_password", "repeated_password"])
      expect(answer.text).toContain(`name="${name}"`);
  });

  it("is linked next to the logout, where the password can be changed (4.1, rule 4)", async () => {
    const link = `href="${PATH}"`;
    const test = await createKeeperService();
    const listing = async (id: string) =>
      (await test.call("GET", "/home/", { as: null, variant: "html", headers: byCookie(id) })).text;
    expect(await listing(await test.login())).toContain(link);
    expect(await listing(await test.login("root"))).not.toContain(link);
    const fixed = await createTestService();
    const headers = byCookie(await fixed.login());
    expect((await fixed.call("GET", "/home/", { as: null, variant: "html", headers })).text).not.toContain(link);
  });

  it.each(["PUT", "DELETE", "MKCOL"])("answers %s by 405 and Allow (CONTRACT 7.6)", async (method) => {
    const test = await createKeeperService();
    const answer = await test.call(method, PATH, { as: null, headers: bySession(await test.login()) });
    expect([answer.status, answer.header("allow")]).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
  });

  it("stands at this very path: what is beside it is reserved", async () => {
    const test = await createKeeperService();
    const headers = bySession(await test.login());
    for (const path of [`${PATH}/`, `${PATH}s`, "/home/password-update", "/home/a/__svc__/password-update"]) {
      expect((await test.call("GET", path, { as: null, variant: "json", headers })).status, path).toBe(404);
    }
    const encoded = await test.call("GET", "/home/%5f_svc__/password%2Dupdate", { as: null, headers });
    expect(encoded.status).toBe(200);
  });
});

describe("a wrong current password", () => {
  it("is event 40000, with the trace of the request (CONTRACT 8)", async () => {
    const events: FileEvent[] = [];
    const test = await createKeeperService({ onEvent: (event) => events.push(event) });
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const headers = { ...bySession(await test.login()), traceparent };
    expect((await update(test, headers, { current_password: "wrong" })).status).toBe(422);
    expect(events.at(-1)).toMatchObject({ id: 40000, data: { reason: "credentials" }, trace: { traceparent } });
  });
});

describe("the accounts file behind it", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fileferry-update-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("gets a PHC string, and the new password counts at once (CONTRACT 10)", async () => {
    const file = join(folder, "accounts.json");
    const accounts = [
      { username: "alice", home_folder_path: "/alice", password: "secret" },
      { username: "bob", password: "hunter2" },
    ];
    await writeFile(file, JSON.stringify({ accounts }));
    const authentication = createAccountsFileAuthenticator({ file, passwordHasher: createNodePasswordHasher() });
    const test = await createTestService({ authentication });
    const headers = bySession(await test.login());
    expect((await update(test, headers, { current_password: "wrong" })).status).toBe(422);
    expect((await update(test, headers)).status).toBe(200);
    expect(await statusOf(test, { authorization: basic("alice", NEW) })).toBe(200);
    expect(await statusOf(test, { authorization: basic("alice", "secret") })).toBe(401);
    const [alice, bob] = JSON.parse(await readFile(file, "utf8")).accounts;
    expect(alice).toEqual({ ...accounts[0], password: expect.stringMatching(/^\$scrypt\$/) });
    expect(bob).toEqual(accounts[1]);
  });
});
