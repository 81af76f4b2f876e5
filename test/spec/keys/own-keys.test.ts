import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { byCookie, bySession, createTestService } from "../../support/service.ts";
import { createMemoryKeys } from "./memory-keys.ts";

const URL_OF_KEYS = "/home/__svc__/keys";
const JSON_BODY = { "content-type": "application/json" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const SAME_SITE = { origin: "http://files.example" };

async function open(settings: AccountSettings = {}) {
  const own = { home_folder_path: "/alice", ...settings };
  const accounts = [
    { username: "alice", password: "secret", ...own },
    { username: "bob", password: "hunter2" },
  ];
  const keys = createMemoryKeys({ alice: own });
  const authentication = { ...createAccountsAuthenticator({ accounts, logger: createRecordingLogger() }), keys };
  const test = await createTestService({ authentication, files: { "/alice/a.txt": "a" } });
  const post = (body: unknown, more: Parameters<typeof test.call>[2] = {}) =>
    test.call("POST", URL_OF_KEYS, {
      variant: "json",
      ...more,
      headers: { ...JSON_BODY, ...more.headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { ...test, keys, post };
}

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

describe("the API keys of an account", () => {
  it("are made, shown once, listed and revoked", async () => {
    const { post, call } = await open();
    const wanted = { label: "backup", permissions: ["allow-read"], path: "/a.txt", expires_in: 60 };
    const made = await post(wanted);
    expect([made.status, made.header("cache-control")]).toEqual([201, "no-store"]);
    const [key] = made.json<{ results: MadeKey[] }>().results;
    const { label, permissions, path } = wanted;
    const shown = { id: key?.id, label, permissions, path, created: expect.any(Number), expires: expect.any(Number) };
    expect(key).toEqual({ ...shown, key: expect.stringMatching(`^ff_${key?.id}_[0-9a-f]{32}$`) });
    const headers = { authorization: `Bearer ${key?.key}` };
    expect((await call("GET", "/home/a.txt", { as: null, headers })).text).toBe("a");
    const other = (await post({})).json<{ results: MadeKey[] }>().results[0];
    const list = await call("GET", URL_OF_KEYS, { variant: "json" });
    expect(list.json<{ content: unknown[] }>().content).toContainEqual(shown);
    expect(list.text).toContain(`"id":"${other?.id}","label":"","permissions":null,"path":"/"`);
    expect(list.text).not.toContain("ff_");
    expect((await call("DELETE", `${URL_OF_KEYS}/${key?.id}`, { variant: "json" })).status).toBe(204);
    expect((await call("DELETE", `${URL_OF_KEYS}/${key?.id}`, { variant: "json" })).status).toBe(404);
    expect((await call("GET", "/home/a.txt", { as: null, variant: "json", headers })).status).toBe(401);
  });

  it.each([
    ["an unknown member", { scope: "all" }, "it has an unknown member"],
    ["an unknown permission", { permissions: ["deny-full-control"] }, "permissions must have known permissions"],
    ["a path that is none", { path: "/a/../b" }, 'path must be "/", or an absolute path without a trailing "/"'],
    ["a time that is none", { expires_in: 0 }, "expires_in must be at least 1"],
    ["no object", [], "it is no object"],
  ])("are refused with %s", async (_case, body, problem) => {
    const { post, keys } = await open();
    const refused = await post(body);
    expect(refused.json()).toEqual({ errors: [{ message: `The body does not describe an API key: ${problem}.` }] });
    expect([refused.status, refused.header("error-code")]).toEqual([400, "key-malformed"]);
    expect(await keys.list("alice")).toEqual([]);
  });

  it("are refused beyond 100, for an account that may not make them, and where no method keeps them", async () => {
    const full = await open();
    for (let count = 0; count < 100; count += 1) full.keys.make("alice");
    expect((await full.post({})).header("error-code")).toBe("too-many-keys");
    const nearlyFull = await open();
    for (let count = 0; count < 95; count += 1) nearlyFull.keys.make("alice");
    const made = await Promise.all(Array.from({ length: 20 }, () => nearlyFull.post({})));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(await nearlyFull.keys.list("alice")).toHaveLength(100);
    const denied = await open({ allow_own_keys: false });
    const { key } = denied.keys.make("alice");
    expect((await denied.post({})).header("error-code")).toBe("keys-denied");
    const revoked = await denied.call("DELETE", `${URL_OF_KEYS}/${key.id}`, { variant: "json" });
    expect(revoked.header("error-code")).toBe("keys-denied");
    expect((await denied.post({}, { as: "bob" })).status).toBe(404);
    const without = await createTestService();
    expect((await without.call("GET", URL_OF_KEYS, { variant: "json" })).status).toBe(404);
  });

  it("are not made or revoked by a request whose login ends before its body has arrived", async () => {
    const test = await open();
    const { call, login, keys, advance } = test;
    const { key } = keys.make("alice");
    const session = { ...bySession(await login()), ...SAME_SITE };
    /** Sends what its body begins with, and the rest after a logout. */
    async function sendAround(target: string, type: Readonly<Record<string, string>>, text: string) {
      const headers = { ...bySession(await login()), ...type };
      const [first, ...rest] = [...text];
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode(first));
          await call("POST", "/__svc__/logout", { as: null, headers });
          advance(2);
          controller.enqueue(new TextEncoder().encode(rest.join("")));
          controller.close();
        },
      });
      return call("POST", target, { as: null, variant: "json", headers, body });
    }
    expect((await sendAround(URL_OF_KEYS, JSON_BODY, "{}")).header("error-code")).toBe("login-ended");
    expect((await sendAround(URL_OF_KEYS, FORM, "label=x")).header("error-code")).toBe("login-ended");
    const revoked = await sendAround(`${URL_OF_KEYS}/${key.id}`, FORM, "action=revoke");
    expect(revoked.header("error-code")).toBe("login-ended");
    expect(await keys.list("alice")).toEqual([key]);
    const made = await call("POST", URL_OF_KEYS, {
      as: null,
      variant: "json",
      headers: { ...session, ...JSON_BODY },
      body: "{}",
    });
    expect(made.status).toBe(201);
  });

  it("are those of a login with the same settings: of no other one with the name of the account", async () => {
    const own = { home_folder_path: "/alice" };
    const accounts = [{ username: "alice", password: "secret", ...own }];
    const keys = createMemoryKeys({ alice: own });
    const authentication = { ...createAccountsAuthenticator({ accounts, logger: createRecordingLogger() }), keys };
    const permissions = [[], ["*", "allow-read"]] as const;
    const identify = async () => ({ username: "alice", settings: { ...own, permissions } });
    const { call } = await createTestService({
      authentication,
      identify,
      isDescribed: false,
      files: { "/alice/a.txt": "a" },
    });
    const { key } = keys.make("alice");
    const send = (method: string, target: string, more = {}) =>
      call(method, target, { as: null, variant: "json", ...more });
    expect((await send("GET", "/home/a.txt")).text).toBe("a");
    const headers = { ...JSON_BODY, ...SAME_SITE };
    expect((await send("POST", URL_OF_KEYS, { headers, body: "{}" })).status).toBe(404);
    expect((await send("GET", URL_OF_KEYS)).status).toBe(404);
    expect((await send("DELETE", `${URL_OF_KEYS}/${key.id}`, { headers: SAME_SITE })).status).toBe(404);
    expect(await keys.list("alice")).toEqual([key]);
  });

  it.each(["find", "list", "add", "remove"] as const)("are 503 if %s of the method fails", async (name) => {
    const own = { home_folder_path: "/alice" };
    const accounts = [{ username: "alice", password: "secret", ...own }];
    const keys = createMemoryKeys({ alice: own });
    const { key, text } = keys.make("alice");
    const broken = { ...keys, [name]: async () => Promise.reject(new Error("the disk of the keys")) };
    const method = createAccountsAuthenticator({ accounts, logger: createRecordingLogger() });
    const { call, log } = await createTestService({ authentication: { ...method, keys: broken } });
    const asked = {
      find: () => call("GET", "/home/", { as: null, variant: "json", headers: { authorization: `Bearer ${text}` } }),
      list: () => call("GET", URL_OF_KEYS, { variant: "json" }),
      add: () => call("POST", URL_OF_KEYS, { variant: "json", headers: JSON_BODY, body: "{}" }),
      remove: () => call("DELETE", `${URL_OF_KEYS}/${key.id}`, { variant: "json" }),
    };
    const answer = await asked[name]();
    expect([answer.status, answer.header("error-code"), answer.header("retry-after")]).toEqual([
      503,
      "keys-unavailable",
      "1",
    ]);
    expect(answer.text).not.toContain("disk");
    expect(log.text()).toContain("An authentication method failed; API keys were not available.");
  });

  it("are made by no other site", async () => {
    const { post, keys } = await open();
    const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await post({}, { headers })).header("error-code")).toBe("cross-site");
    expect(await keys.list("alice")).toEqual([]);
  });
});

describe("the page of the API keys", () => {
  it("makes a key, shows it once, and revokes it, without a script", async () => {
    const { call, login, keys } = await open();
    const headers = { ...byCookie(await login()), ...SAME_SITE };
    const as = null;
    const page = (more = {}) => call("GET", URL_OF_KEYS, { as, variant: "html", headers, ...more });
    expect((await page()).text).toContain("You have no API keys.");
    const folder = await call("GET", "/home/", { as, variant: "html", headers });
    expect(folder.text).toContain(`<a href="${URL_OF_KEYS}">API keys</a>`);
    const body = "label=backup&permissions=allow-read&permissions=allow-list&path=%2F&expires_in=";
    const own = { ...headers, ...FORM };
    const made = await call("POST", URL_OF_KEYS, { as, variant: "html", headers: own, body });
    const [text] = /ff_[0-9a-f]{16}_[0-9a-f]{32}/.exec(made.text) ?? [];
    expect([made.status, text?.length]).toEqual([201, 52]);
    const list = await page();
    expect(list.text).toMatch(/<bdi>backup<\/bdi>[\s\S]*Does not expire/);
    expect(list.text).not.toContain(text);
    const [kept] = (await keys.list("alice")) ?? [];
    expect(kept).toMatchObject({ label: "backup", permissions: ["allow-read", "allow-list"] });
    const target = `${URL_OF_KEYS}/${kept?.id}`;
    const revoked = await call("POST", target, { as, variant: "html", headers: own, body: "action=revoke" });
    expect([revoked.status, revoked.header("location")]).toEqual([303, URL_OF_KEYS]);
    expect(await keys.list("alice")).toEqual([]);
  });

  it("takes a path without its first slash, or with one at its end", async () => {
    const { call, login, keys } = await open();
    const headers = { ...byCookie(await login()), ...SAME_SITE, ...FORM };
    for (const path of ["reports", "/reports/", "reports%2F", "%2F"]) {
      const made = await call("POST", URL_OF_KEYS, { as: null, variant: "html", headers, body: `path=${path}` });
      expect([path, made.status]).toEqual([path, 201]);
    }
    expect(((await keys.list("alice")) ?? []).map(({ path }) => path)).toEqual([
      "/reports",
      "/reports",
      "/reports",
      undefined,
    ]);
  });

  it("shows what was entered again if the form is wrong", async () => {
    const { call, login } = await open();
    const headers = { ...byCookie(await login()), ...SAME_SITE, ...FORM, "accept-language": "de" };
    const body = "label=%3Cb%3E&path=..%2Freports&expires_in=2592000";
    const refused = await call("POST", URL_OF_KEYS, { as: null, variant: "html", headers, body });
    expect([refused.status, refused.header("error-code")]).toEqual([400, "key-malformed"]);
    expect(refused.text).toContain('value="&lt;b>"'.replace(">", "&gt;"));
    expect(refused.text).toContain("Der Inhalt beschreibt keinen API-Schlüssel: path must be");
  });

  it("lead back to their list after a login that the form of one has asked for", async () => {
    const { call } = await open();
    const form = { as: null, variant: "html", headers: { ...FORM, ...SAME_SITE }, body: "action=revoke" } as const;
    const answer = await call("POST", `${URL_OF_KEYS}/0123456789abcdef`, form);
    expect(answer.status).toBe(302);
    expect(answer.header("location")).toBe(`/__svc__/login?return=${encodeURIComponent(URL_OF_KEYS)}`);
  });
});
