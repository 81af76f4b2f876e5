import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { Authenticator, Credentials } from "../../../src/contracts/authenticator.ts";
import type { ClientCertificate, Connection } from "../../../src/contracts/connection.ts";
import {
  basic,
  byCookie,
  bySession,
  type CallOptions,
  createTestService,
  type TestService,
} from "../../support/service.ts";

/** Every account has one file, which says whose home it is. */
const files = { "/alice/who": "alice", "/bob/who": "bob", "/who": "root" };

const certificateOf = (commonName: string): Connection => ({
  clientCertificate: { commonName, pem: "-----BEGIN CERTIFICATE-----" },
});

async function who({ call }: TestService, options: CallOptions): Promise<string> {
  const answer = await call("GET", "/home/who", { as: null, variant: "json", ...options });
  return answer.status === 200 ? answer.text : String(answer.status);
}

describe("who is asking", () => {
  it("is told by Authorization: session (5.1.3)", async () => {
    const test = await createTestService({ files });
    const id = await test.login("bob");
    expect(await who(test, { headers: { authorization: `session ${id}` } })).toBe("bob");
    expect(await who(test, { headers: { authorization: `Session ${id}` } })).toBe("bob");
  });

  it("is told by Authorization: Basic (5.1.2)", async () => {
    const test = await createTestService({ files });
    expect(await who(test, { headers: { authorization: basic("bob", "hunter2") } })).toBe("bob");
    expect(await who(test, { headers: { authorization: basic("bob", "hunter2").replace("Basic", "bASIC") } })).toBe(
      "bob",
    );
  });

  it("is told by the cookie, beside other cookies (5.1.1)", async () => {
    const test = await createTestService({ files });
    const { cookie } = byCookie(await test.login("bob"));
    expect(await who(test, { headers: { cookie: cookie ?? "" } })).toBe("bob");
    expect(await who(test, { headers: { cookie: `theme=dark; ${cookie}; SVC_HTTP=x` } })).toBe("bob");
  });

  it("is told by a client certificate that the runtime has verified (CONTRACT 6.1)", async () => {
    const test = await createTestService({ files });
    expect(await who(test, { connection: certificateOf("bob") })).toBe("bob");
  });

  it("is not identified without credentials (7.1)", async () => {
    const test = await createTestService({ files });
    expect(await who(test, {})).toBe("401");
  });

  it("reads Basic credentials as UTF-8 up to the first colon (RFC 7617)", async () => {
    const accounts = [{ username: "zoë", password: "a:b:ß", home_folder_path: "/bob" }];
    const test = await createTestService({ files, authentication: createAccountsAuthenticator({ accounts }) });
    expect(await who(test, { headers: { authorization: basic("zoë", "a:b:ß") } })).toBe("bob");
  });
});

describe("the order of the ways to say who is asking", () => {
  it("hands the certificate to the methods as PEM, under its common name (2.3, 5.2)", async () => {
    const asked: Credentials[] = [];
    const authentication: Authenticator = {
      name: "certificates",
      authenticate: async (credentials) => {
        asked.push(credentials);
        return { outcome: "accepted", account: { home_folder_path: "/bob" } };
      },
    };
    const test = await createTestService({ authentication, files });
    expect(await who(test, { connection: certificateOf("Bob B.") })).toBe("bob");
    expect(asked).toMatchObject([
      { type: "ssl-certificate", username: "Bob B.", content: "-----BEGIN CERTIFICATE-----" },
    ]);
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("no such field");
      },
    ],
    ["is not a text", async () => "alice"],
  ])("is nobody by a certificate whose name %s, and the service goes on", async (_what, name) => {
    const test = await createTestService({ files, usernameOfCertificate: name as () => string });
    expect(await who(test, { connection: certificateOf("alice") })).toBe("401");
    expect(
      await who(test, { connection: certificateOf("alice"), headers: { authorization: basic("bob", "hunter2") } }),
    ).toBe("bob");
  });

  it("follows the option that names the account of a certificate (CONTRACT 6.7)", async () => {
    const usernameOfCertificate = ({ pem, commonName }: ClientCertificate) =>
      pem === "alice's" && commonName === undefined ? "alice" : undefined;
    const test = await createTestService({ files, usernameOfCertificate: usernameOfCertificate });
    expect(await who(test, { connection: { clientCertificate: { pem: "alice's" } } })).toBe("alice");
    expect(await who(test, { connection: certificateOf("bob") })).toBe("401");
    const byDefault = await createTestService({ files });
    expect(await who(byDefault, { connection: { clientCertificate: { pem: "alice's" } } })).toBe("401");
  });

  it("prefers Authorization: session to the cookie and the certificate (CONTRACT 6.1)", async () => {
    const test = await createTestService({ files });
    const headers = { ...bySession(await test.login("alice")), ...byCookie(await test.login("bob")) };
    expect(await who(test, { headers, connection: certificateOf("root") })).toBe("alice");
  });

  it("prefers Authorization: Basic to the cookie and the certificate (CONTRACT 6.1)", async () => {
    const test = await createTestService({ files });
    const headers = { authorization: basic("alice", "secret"), ...byCookie(await test.login("bob")) };
    expect(await who(test, { headers, connection: certificateOf("root") })).toBe("alice");
  });

  it("prefers the cookie to the certificate (CONTRACT 6.1)", async () => {
    const test = await createTestService({ files });
    expect(await who(test, { headers: byCookie(await test.login("bob")), connection: certificateOf("root") })).toBe(
      "bob",
    );
  });

  it("comes to the certificate when the cookie is of no live session (CONTRACT 6.1)", async () => {
    const test = await createTestService({ files });
    const headers = byCookie("0123456789abcdef0123456789abcdef");
    expect(await who(test, { headers, connection: certificateOf("root") })).toBe("root");
  });

  it("leaves the other ways open when a certificate logs nobody in (CONTRACT 6.7)", async () => {
    const test = await createTestService({ files });
    const connection = certificateOf("nobody");
    expect(await who(test, { connection })).toBe("401");
    expect(await who(test, { connection, headers: { authorization: basic("bob", "hunter2") } })).toBe("bob");
    expect(await who(test, { connection, headers: byCookie(await test.login("alice")) })).toBe("alice");
  });

  it.each([
    ["a wrong password", basic("alice", "wrong")],
    ["an unknown account", basic("nobody", "secret")],
    ["a dead session", "session 0123456789abcdef0123456789abcdef"],
    ["a session that is none", "session x"],
    ["a session without an ID", "session"],
    ["a session with two IDs", "session a b"],
    ["Basic without credentials", "Basic"],
    ["Basic without a colon", `Basic ${btoa("alice")}`],
    ["Basic that is not Base64", "Basic !!!"],
    ["Basic that is not UTF-8", `Basic ${btoa("alice:\xff")}`],
    ["Basic with a control character", `Basic ${btoa("alice:secret\n")}`],
    ["Bearer", "Bearer abc"],
    ["Digest", 'Digest username="alice"'],
    ["an empty value", ""],
    ["two values", `${basic("alice", "secret")}, ${basic("bob", "hunter2")}`],
  ])("never replaces an invalid Authorization by a weaker way: %s (CONTRACT 6.1)", async (_what, authorization) => {
    const test = await createTestService({ files });
    const headers = { authorization, ...byCookie(await test.login("bob")) };
    expect(await who(test, { headers, connection: certificateOf("root") })).toBe("401");
  });
});

describe("the challenges of a 401", () => {
  const both = 'basic realm="Web files access", session';

  it.each([
    ["no credentials", {}],
    ["an invalid session", { authorization: "session 0123456789abcdef0123456789abcdef" }],
    ["invalid Basic credentials", { authorization: basic("alice", "wrong") }],
    ["an expired cookie", byCookie("0123456789abcdef0123456789abcdef")],
    ["another scheme", { authorization: "Bearer x" }],
  ])("are Basic and session for %s (7.1, CONTRACT 6.2)", async (_what, headers) => {
    const { call } = await createTestService();
    for (const variant of ["json", "webdav"] as const) {
      for (const [method, path] of [
        ["GET", "/home/x"],
        ["PUT", "/home/x"],
        ["DELETE", "/home/x/"],
      ] as const) {
        const answer = await call(method, path, { as: null, variant, headers });
        expect(answer.status).toBe(401);
        expect(answer.header("www-authenticate")).toBe(both);
        expect(answer.json()).toEqual({ errors: [{ message: expect.any(String), title: "Unauthorized" }] });
      }
    }
  });

  it("are two header lines (7.1)", async () => {
    const { open } = await createTestService();
    const { headers } = await open("GET", "/home/x", { as: null, variant: "json" });
    const lines = [...headers].filter(([name]) => name.toLowerCase() === "www-authenticate");
    expect(lines.map(([, value]) => value).join(", ")).toBe(both);
  });

  it("stand on a failed JSON login too (7.1)", async () => {
    const { call } = await createTestService();
    const headers = { "content-type": "application/json" };
    const body = '{"username":"alice","password":"wrong"}';
    const answer = await call("POST", "/__svc__/login", { as: null, headers, body });
    expect(answer.header("www-authenticate")).toBe(both);
  });

  it("leave session out where the options say so (CONTRACT 6.2)", async () => {
    const { call } = await createTestService({ session: { announce: false } });
    const answer = await call("GET", "/home/x", { as: null, variant: "json" });
    expect(answer.header("www-authenticate")).toBe('basic realm="Web files access"');
  });

  it("stand on no other status (RFC 9110 11.6.1)", async () => {
    const { call } = await createTestService();
    for (const [path, status] of [
      ["/home/", 200],
      ["/home/x", 404],
      ["/home/a%2f", 400],
    ] as const) {
      const answer = await call("GET", path, { variant: "json" });
      expect([answer.status, answer.header("www-authenticate")]).toEqual([status, null]);
    }
  });
});

describe("a browser without a valid login", () => {
  it.each(["/home/", "/home/folder/", "/home/a%20file.txt"])(
    "is sent from %s to the login page by 302 (CONTRACT 6.2)",
    async (path) => {
      const { call } = await createTestService();
      const answer = await call("GET", path, { as: null, variant: "html" });
      expect(answer.status).toBe(302);
      const location = new URL(answer.header("location") ?? "", "http://files.example");
      expect(location.origin).toBe("http://files.example");
      expect(location.pathname).toBe("/__svc__/login");
      expect(answer.header("location")).toMatch(/^\/[^/]/);
      expect(location.searchParams.get("return")).toBe(path);
      expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
    },
  );

  it("is sent to the login page when its cookie has expired (CONTRACT 6.2)", async () => {
    const { call } = await createTestService();
    const headers = byCookie("0123456789abcdef0123456789abcdef");
    const answer = await call("GET", "/home/", { as: null, variant: "html", headers });
    expect(answer.status).toBe(302);
    expect(answer.header("location")).toMatch(/^\/__svc__\/login/);
  });

  it("gets 302, the Basic challenge and a page that leads to the login for invalid Basic credentials (5.1.2, 7.1)", async () => {
    const { call } = await createTestService();
    for (const [method, path] of [
      ["GET", "/home/"],
      ["GET", "/home/x"],
      ["DELETE", "/home/x"],
    ] as const) {
      const headers = { authorization: basic("alice", "wrong") };
      const answer = await call(method, path, { as: null, variant: "html", headers });
      expect(answer.status).toBe(302);
      expect(answer.header("www-authenticate")).toBe('basic realm="Web files access"');
      expect(answer.header("location")).toMatch(/^\/__svc__\/login(\?|$)/);
      expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.text).toContain("/__svc__/login");
    }
  });

  it("gets no Basic challenge with a login page or for our script: it would open a box of its own (CONTRACT 6.2)", async () => {
    const { call } = await createTestService({ files });
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const body = "username=alice&password=wrong";
    const login = await call("POST", "/__svc__/login", { as: null, variant: "html", headers: form, body });
    expect([login.status, login.header("www-authenticate")]).toEqual([401, "session"]);
    const headers = { "x-requested-with": "XMLHttpRequest" };
    const put = await call("PUT", "/home/new", { as: null, variant: "json", headers, body: "x" });
    expect([put.status, put.header("www-authenticate")]).toEqual([401, "session"]);
    const other = await call("PUT", "/home/new", { as: null, variant: "json", body: "x" });
    expect(other.header("www-authenticate")).toBe('basic realm="Web files access", session');
  });

  it("gets 401 as a page for a session that is not valid any more (5.1.3, 7.1)", async () => {
    const { call } = await createTestService();
    const headers = { authorization: "session 0123456789abcdef0123456789abcdef" };
    const answer = await call("GET", "/home/", { as: null, variant: "html", headers });
    expect(answer.status).toBe(401);
    expect(answer.header("www-authenticate")).toBe('basic realm="Web files access", session');
    expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
  });
});

describe("Basic authentication", () => {
  it("is a new authentication call for every request (5.1.2)", async () => {
    const asked: Credentials[] = [];
    const authentication: Authenticator = {
      name: "counting",
      async authenticate(credentials) {
        asked.push(credentials);
        return { outcome: "accepted", account: { home_folder_path: "/alice" } };
      },
    };
    const peer = { address: "192.0.2.1", port: 4711, family: "IPv4", protocol: "TCP" } as const;
    const { call } = await createTestService({ authentication, files });
    for (let count = 0; count < 3; count++) {
      expect((await call("GET", "/home/who", { connection: { peer } })).status).toBe(200);
    }
    expect(asked).toHaveLength(3);
    const server = { uuid: "00000000-0000-0000-0000-000000000000" };
    const creator = { uuid: "00000000-0000-0000-0000-000000000000", type: "http" };
    expect(asked[0]).toEqual({ type: "password", username: "alice", content: "secret", peer, creator, server });
  });

  it("sees a changed password at once (5.1.2)", async () => {
    let password = "old";
    const authentication: Authenticator = {
      name: "changing",
      authenticate: async ({ content }) =>
        content === password ? { outcome: "accepted", account: {} } : { outcome: "rejected" },
    };
    const test = await createTestService({ authentication, files });
    expect(await who(test, { headers: { authorization: basic("alice", "old") } })).toBe("alice");
    password = "new";
    expect(await who(test, { headers: { authorization: basic("alice", "old") } })).toBe("401");
  });

  it("needs no login request, also for an account without a home folder yet (5.1.2, CONTRACT 7.1)", async () => {
    const { call } = await createTestService();
    expect((await call("PUT", "/home/first.txt", { as: "bob", body: "x" })).status).toBe(201);
    expect((await call("GET", "/home/first.txt", { as: "bob" })).text).toBe("x");
  });
});

describe("an account that cannot be used", () => {
  const account = { home_folder_path: "/nowhere/at/all", create_home_folder: false };
  const authentication: Authenticator = {
    name: "homeless",
    authenticate: async () => ({ outcome: "accepted", account }),
  };

  it("is refused by 403 when its home is missing and not to be made (CONTRACT 7.3)", async () => {
    const { call } = await createTestService({ authentication });
    const headers = { "content-type": "application/json" };
    const body = '{"username":"alice","password":"secret"}';
    const login = await call("POST", "/__svc__/login", { as: null, headers, body });
    expect(login.status).toBe(403);
    expect(login.text).not.toContain("nowhere");
    const read = await call("GET", "/home/", { variant: "json" });
    expect(read.status).toBe(403);
    expect(read.text).not.toContain("nowhere");
  });

  it.each([
    ["an unknown member", { home: "/x" }],
    ["a relative home", { home_folder_path: "x" }],
    ["a home that climbs", { home_folder_path: "/a/../b" }],
    ["a null member", { email: null }],
  ])("is refused by 401 when its settings hold %s (2.4)", async (_what, settings) => {
    const broken = { name: "broken", authenticate: async () => ({ outcome: "accepted", account: settings }) };
    const { call } = await createTestService({ authentication: broken as unknown as Authenticator });
    expect((await call("GET", "/home/", { variant: "json" })).status).toBe(401);
  });

  it("is refused by 401 when the authenticator throws, without telling why (7.2)", async () => {
    const failing: Authenticator = {
      name: "failing",
      authenticate: () => Promise.reject(new Error("ldap://10.0.0.1 said opensesame")),
    };
    const { call, log } = await createTestService({ authentication: failing });
    const answer = await call("GET", "/home/", { variant: "json" });
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain("ldap");
    expect(log.text()).toContain("ldap");
  });
});

describe("those who are not logged in", () => {
  it.each(["GET", "HEAD", "PUT", "DELETE", "POST", "MKCOL"])("do not reach the storage by %s (7.1)", async (method) => {
    const { storage: base } = await createTestService({ files });
    let isArmed = false;
    const touched: string[] = [];
    const guarded = <Verb extends (...given: never[]) => unknown>(verb: Verb): Verb => {
      const guard = (...given: Parameters<Verb>) => {
        if (isArmed) touched.push(verb.name);
        return verb(...given);
      };
      return guard as unknown as Verb;
    };
    const { call } = await createTestService({
      storage: {
        stat: guarded(base.stat),
        list: guarded(base.list),
        read: guarded(base.read),
        write: guarded(base.write),
        createFolder: guarded(base.createFolder),
        remove: guarded(base.remove),
        copy: guarded(base.copy),
        move: guarded(base.move),
      },
    });
    isArmed = true;
    for (const path of ["/home/who", "/home/folder/", "/home/"]) {
      expect((await call(method, path, { as: null, variant: "json" })).status).toBe(401);
    }
    expect(touched).toEqual([]);
  });
});

describe("the challenges for a script in a browser", () => {
  const script = { "sec-fetch-mode": "cors", "sec-fetch-site": "cross-site", "user-agent": "Mozilla/5.0" };

  it("have no Basic, for which the browser would open a dialog", async () => {
    for (const announce of [true, false]) {
      const { call } = await createTestService({ session: { announce } });
      for (const headers of [script, { ...script, authorization: basic("alice", "wrong") }]) {
        const answer = await call("GET", "/home/", { as: null, variant: "json", headers });
        expect([answer.status, answer.header("www-authenticate")]).toEqual([401, "session"]);
      }
    }
  });

  it("are the usual ones for Node's fetch, which has the same mode", async () => {
    const { call } = await createTestService();
    const headers = { "sec-fetch-mode": "cors", "user-agent": "node" };
    const answer = await call("GET", "/home/", { as: null, variant: "json", headers });
    expect(answer.header("www-authenticate")).toBe('basic realm="Web files access", session');
  });
});
