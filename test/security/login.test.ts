import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import type { PasswordHasher } from "../../src/auth/passwords/hash.ts";
import type { AccountSettings } from "../../src/contracts/account.ts";
import type { Authenticator } from "../../src/contracts/authenticator.ts";
import { BROWSER_HEADERS, formOf } from "../support/forms.ts";
import { createRecordingLogger } from "../support/logger.ts";
import { basic, byCookie, bySession, cookieOf, createTestService, type TestService } from "../support/service.ts";

/*
 * Each test is named after a published failure of another project, and shows that it does not happen here (SECURITY 16
 * to 19).
 */

const JSON_TYPE = { "content-type": "application/json" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };

function login(test: TestService, username: string, password: string, headers: Readonly<Record<string, string>> = {}) {
  const body = JSON.stringify({ username, password });
  return test.call("POST", "/__svc__/login", { as: null, body, headers: { ...JSON_TYPE, ...headers } });
}

async function statusOf(test: TestService, headers: Readonly<Record<string, string>>): Promise<number> {
  return (await test.call("GET", "/home/", { as: null, variant: "json", headers })).status;
}

describe("sessions (SECURITY 16)", () => {
  it("Fiber CVE-2024-38513: a session's ID that a client brings is never adopted", async () => {
    const test = await createTestService();
    const own = "0123456789abcdef0123456789abcdef";
    for (const headers of [bySession(own), byCookie(own)]) expect(await statusOf(test, headers)).toBe(401);
    const byForm = await test.call("POST", "/__svc__/login", {
      as: null,
      headers: { ...FORM, accept: "text/html", ...byCookie(own) },
      body: "username=alice&password=secret",
    });
    expect(cookieOf(byForm)).toMatch(/=[\da-f]{32,}$/);
    expect(cookieOf(byForm)).not.toContain(own);
    const byJson = await login(test, "alice", "secret", byCookie(own));
    expect(byJson.text).not.toContain(own);
    for (const headers of [bySession(own), byCookie(own)]) expect(await statusOf(test, headers)).toBe(401);
  });

  it("filebrowser CVE-2025-53826: a session is over with its logout, wherever its ID was copied to", async () => {
    const test = await createTestService();
    const id = await test.login();
    expect([await statusOf(test, bySession(id)), await statusOf(test, byCookie(id))]).toEqual([200, 200]);
    await test.call("POST", "/__svc__/logout", { as: null, headers: bySession(id) });
    expect([await statusOf(test, bySession(id)), await statusOf(test, byCookie(id))]).toEqual([401, 401]);
  });
});

/** Counts what is computed. */
function createCounting(): { readonly hasher: PasswordHasher; verifications: number } {
  const counting = {
    verifications: 0,
    hasher: {
      hash: async () => "$scrypt$ln=4,r=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      verify: async () => {
        counting.verifications += 1;
        return false;
      },
    } satisfies PasswordHasher,
  };
  return counting;
}

describe("guessing (SECURITY 17)", () => {
  const hash = "$scrypt$ln=4,r=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  const accounts = [{ username: "alice", password: hash, home_folder_path: "/alice" }];

  it("filebrowser CVE-2026-23849: an unknown name costs the hash that a known one does, and is answered alike", async () => {
    const counting = createCounting();
    const passwordHasher = counting.hasher;
    const authentication = createAccountsAuthenticator({ accounts, passwordHasher, logger: createRecordingLogger() });
    const test = await createTestService({ authentication });
    const answers = [];
    for (const username of ["alice", "nobody", "", "alice "]) {
      const before = counting.verifications;
      const answer = await login(test, username, "wrong");
      answers.push({ status: answer.status, text: answer.text.replaceAll(/[\da-f-]{36}/g, "") });
      if (username !== "") expect([username, counting.verifications - before]).toEqual([username, 1]);
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  it("filebrowser CVE-2026-54092: a password of megabytes is refused before it is hashed", async () => {
    const counting = createCounting();
    const passwordHasher = counting.hasher;
    const authentication = createAccountsAuthenticator({ accounts, passwordHasher, logger: createRecordingLogger() });
    const test = await createTestService({ authentication });
    const long = "x".repeat(10_000);
    expect((await login(test, "alice", long)).status).toBe(401);
    expect((await login(test, "alice", "x".repeat(2_000_000))).status).toBe(413);
    expect(await statusOf(test, { authorization: basic("alice", long) })).toBe(401);
    expect(counting.verifications).toBe(0);
  });
});

const EVIL = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };

describe("other sites (SECURITY 18)", () => {
  it("goshs CVE-2026-40883: no query of a GET or HEAD changes anything", async () => {
    const files = { "/alice/f/a": "x" };
    const test = await createTestService({ files });
    const cookie = byCookie(await test.login());
    const before = await treeOf(test);
    for (const query of [
      "delete",
      "?delete",
      "mkdir",
      "action=delete&selected-members=a",
      "command=delete&target=a",
      "action=create-folder&new-folder=b",
      "logout",
    ]) {
      for (const target of ["/home/f/", "/home/f/a", "/home/", "/__svc__/logout", "/__svc__/login"]) {
        for (const method of ["GET", "HEAD"]) {
          const headers = { ...cookie, ...EVIL, accept: "text/html" };
          await test.call(method, `${target}?${query}`, {
            as: null,
            headers,
            undescribed: "queries that nobody reads",
          });
        }
      }
    }
    expect(await treeOf(test)).toEqual(before);
    // Not even a logout.
    expect(await statusOf(test, cookie)).toBe(200);
  });

  it("Gokapi CVE-2026-29084: a login is none that another site's form sends", async () => {
    const { call } = await createTestService();
    for (const headers of [EVIL, { origin: "https://evil.example" }, { origin: "null" }, { referer: "http://evil/" }]) {
      const answer = await call("POST", "/__svc__/login", {
        as: null,
        headers: { ...FORM, accept: "text/html", ...headers },
        body: "username=alice&password=secret",
      });
      expect([answer.status, answer.header("set-cookie")]).toEqual([403, null]);
    }
  });

  it("Go CVE-2025-47910: an origin is accepted as a whole, never by its beginning or a pattern", async () => {
    const test = await createTestService({ acceptedOrigins: ["https://app.example"] });
    const cookie = byCookie(await test.login());
    for (const origin of [
      "https://app.example.evil.example",
      "https://app.example:8443",
      "https://app.example@evil.example",
      "http://app.example",
      "https://evil.example/https://app.example",
      "https://app.exampl",
    ]) {
      for (const [method, target] of [
        ["PUT", "/home/made"],
        ["DELETE", "/home/made"],
        ["MKCOL", "/home/made/"],
        ["POST", "/home/"],
      ] as const) {
        const isForm = method === "POST";
        const headers = { ...(isForm && BROWSER_HEADERS), ...cookie, origin, "sec-fetch-site": "cross-site" };
        const body = method === "PUT" ? "x" : isForm ? formOf(["action", "delete"]) : undefined;
        const answer = await test.call(method, target, { as: null, headers, body });
        expect([origin, method, answer.status]).toEqual([origin, method, 403]);
      }
    }
    const headers = { ...cookie, origin: "https://app.example", "sec-fetch-site": "cross-site" };
    expect((await test.call("PUT", "/home/made", { as: null, headers, body: "x" })).status).toBe(201);
  });
});

async function treeOf({ storage }: Pick<TestService, "storage">, path = "/"): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, kind } of storage.list(path)) {
    const below = path === "/" ? `/${name}` : `${path}/${name}`;
    found.push(below, ...(kind === "folder" ? await treeOf({ storage }, below) : []));
  }
  return found.sort();
}

describe("the one layer of permissions (SECURITY 19)", () => {
  it("filebrowser CVE-2026-29188: no other route removes what DELETE may not", async () => {
    const settings: AccountSettings = {
      permissions: [["allow-read", "allow-list", "allow-write", "allow-create-folder"]],
    };
    const account = { username: "alice", password: "secret", home_folder_path: "/alice", ...settings };
    const authentication = createAccountsAuthenticator({ accounts: [account], logger: createRecordingLogger() });
    const test = await createTestService({ authentication, files: { "/alice/f/a": "x", "/alice/f/sub/b": "x" } });
    const before = await treeOf(test);
    const command = (target: string) => JSON.stringify({ commands: [{ command: "delete", target }] });
    await test.call("DELETE", "/home/f/a");
    await test.call("DELETE", "/home/f/sub/");
    await test.call("POST", "/home/f/", { variant: "json", headers: JSON_TYPE, body: command("a") });
    await test.call("POST", "/home/f/", { variant: "json", headers: JSON_TYPE, body: command("sub") });
    await test.call("POST", "/home/f/", {
      headers: BROWSER_HEADERS,
      body: formOf(["action", "delete"], ["selected-members", "a"], ["selected-members", "sub"]),
    });
    for (const api of ["rest", "webdav", "browser"] as const) await test.call("DELETE", "/home/f/a", { api });
    expect(await treeOf(test)).toEqual(before);
  });

  it("filebrowser CVE-2026-54089: a header that a proxy would set names nobody", async () => {
    const test = await createTestService();
    for (const name of ["x-forwarded-user", "remote-user", "x-remote-user", "x-auth-user", "x-webauth-user"]) {
      const headers = { [name]: "alice" };
      const answer = await test.call("GET", "/home/", { as: null, variant: "json", headers });
      expect([name, answer.status]).toEqual([name, 401]);
    }
    // Nor is a peer where a header says that it is: guesses are counted by the socket's.
    const asked: string[] = [];
    const authenticator: Authenticator = {
      name: "asked",
      authenticate: async ({ username }) => {
        asked.push(username);
        return { outcome: "rejected" };
      },
    };
    const throttled = await createTestService({ authentication: authenticator });
    const connection = { peer: { address: "192.0.2.1", port: 1, family: "IPv4", protocol: "TCP" } } as const;
    for (let guess = 0; guess < 30; guess += 1) {
      const headers = { "x-forwarded-for": `198.51.100.${guess}`, forwarded: `for=198.51.100.${guess}` };
      const as = { authorization: basic(`user-${guess}`, "wrong") };
      await throttled.call("GET", "/home/", { as: null, headers: { ...headers, ...as }, connection });
    }
    expect(asked).toHaveLength(10);
  });
});
