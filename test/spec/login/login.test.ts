import { describe, expect, it } from "vitest";
import { streamOf } from "../../support/bodies.ts";
import {
  byCookie,
  bySession,
  type CallOptions,
  cookieOf,
  createTestService,
  sessionOf,
} from "../../support/service.ts";

const LOGIN = "/__svc__/login";
const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";
const goodJson = JSON.stringify({ username: "alice", password: "secret" });
const goodForm = "username=alice&password=secret";

function asJson(body: string, accept?: string): CallOptions {
  return { as: null, body, headers: { "content-type": JSON_TYPE, ...(accept !== undefined && { accept }) } };
}

function asForm(body: string, accept?: string): CallOptions {
  return { as: null, body, headers: { "content-type": FORM_TYPE, ...(accept !== undefined && { accept }) } };
}

describe("POST /__svc__/login", () => {
  it.each([
    ["JSON credentials with a JSON Accept", asJson(goodJson, JSON_TYPE)],
    ["JSON credentials without Accept", asJson(goodJson)],
    ["JSON credentials with any Accept", asJson(goodJson, "*/*")],
    ["form credentials with a JSON Accept", asForm(goodForm, JSON_TYPE)],
    ["form credentials of a script", asForm(goodForm, "application/json, text/plain, */*")],
    ["JSON in UTF-8", { ...asJson(goodJson), headers: { "content-type": "application/json; charset=utf-8" } }],
  ])("answers 200 and the session's ID to %s (4.1)", async (_what, options) => {
    const { call } = await createTestService();
    const answer = await call("POST", LOGIN, options);
    expect(answer.status).toBe(200);
    expect(answer.header("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.json()).toEqual({ results: [{ session: expect.stringMatching(/^[0-9a-f]{32,}$/) }] });
    const used = await call("GET", "/home/", { as: null, variant: "json", headers: bySession(sessionOf(answer)) });
    expect(used.status).toBe(200);
  });

  it.each([
    ["form credentials without Accept", asForm(goodForm)],
    ["form credentials with any Accept", asForm(goodForm, "*/*")],
    ["form credentials of a browser", asForm(goodForm, "text/html,application/xhtml+xml,*/*;q=0.8")],
    ["JSON credentials of a browser", asJson(goodJson, "text/html")],
  ])("answers 302, a cookie and a page to %s (4.1, 5.1.1)", async (_what, options) => {
    const { call } = await createTestService();
    const answer = await call("POST", LOGIN, options);
    expect(answer.status).toBe(302);
    expect(answer.header("location")).toBe("/home/");
    expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.text).toContain("/home/");
    const used = await call("GET", "/home/", { as: null, variant: "json", headers: { cookie: cookieOf(answer) } });
    expect(used.status).toBe(200);
  });

  it("sets the cookie with exactly the attributes of the spec (5.1.1)", async () => {
    const { call } = await createTestService();
    const answer = await call("POST", LOGIN, asForm(goodForm));
    expect(answer.header("set-cookie")).toMatch(
      /^SVC_HTTP_SESSION=[0-9a-f]{32,}; Path=\/; HttpOnly; SameSite=strict$/i,
    );
  });

  it("writes SameSite=strict as the spec does (5.1.1)", async () => {
    const { call } = await createTestService();
    const answer = await call("POST", LOGIN, asForm(goodForm));
    expect(answer.header("set-cookie")).toContain("; SameSite=strict");
  });

  it("adds Secure to the cookie over HTTPS (CONTRACT 6.3)", async () => {
    const { call } = await createTestService();
    const answer = await call("POST", LOGIN, { ...asForm(goodForm), scheme: "https" });
    const [pair, ...attributes] = answer.header("set-cookie")?.toLowerCase().split("; ") ?? [];
    expect(pair).toMatch(/^svc_http_session=[0-9a-f]{32,}$/);
    expect(attributes.sort()).toEqual(["httponly", "path=/", "samesite=strict", "secure"]);
  });

  it("sets no cookie when it answers JSON (4.1)", async () => {
    const { call } = await createTestService();
    expect((await call("POST", LOGIN, asJson(goodJson))).header("set-cookie")).toBeNull();
  });

  it("gives a new session at every login, whatever the client brings (SECURITY 16)", async () => {
    const { call, login } = await createTestService();
    const first = await login();
    const headers = { "content-type": JSON_TYPE, ...byCookie(first) };
    const second = sessionOf(await call("POST", LOGIN, { as: null, body: goodJson, headers }));
    expect(second).not.toBe(first);
    const chosen = "0123456789abcdef0123456789abcdef";
    const third = await call("POST", LOGIN, {
      as: null,
      body: goodForm,
      headers: { "content-type": FORM_TYPE, ...byCookie(chosen) },
    });
    expect(cookieOf(third)).not.toContain(chosen);
    expect((await call("GET", "/home/", { as: null, variant: "json", headers: byCookie(chosen) })).status).toBe(401);
  });

  it.each([
    ["a wrong password", "alice", "wrong"],
    ["an unknown account", "nobody", "secret"],
    ["an empty password", "alice", ""],
    ["an empty name", "", "secret"],
    ["another case of the name", "Alice", "secret"],
    ["another case of the password", "alice", "Secret"],
    ["a blank at the name's end", "alice ", "secret"],
    ["a blank at the password's end", "alice", "secret "],
    ["NUL after the password", "alice", "secret\0"],
    ["a name of a prototype", "__proto__", "secret"],
    ["an over-long name", "a".repeat(10_000), "secret"],
    ["an over-long password", "alice", "s".repeat(10_000)],
  ])("answers 401 with the errors body to %s (4.1, 7.1)", async (_what, username, password) => {
    const { call } = await createTestService();
    const bodies = [
      asJson(JSON.stringify({ username, password })),
      asForm(new URLSearchParams({ username, password }).toString(), JSON_TYPE),
      asForm(new URLSearchParams({ username, password }).toString()),
    ];
    for (const options of bodies) {
      const answer = await call("POST", LOGIN, options);
      expect(answer.status).toBe(401);
      expect(answer.json()).toEqual({ errors: [{ message: expect.any(String), title: "Unauthorized" }] });
      expect(answer.header("set-cookie")).toBeNull();
    }
  });

  it("answers the same to an unknown account and to a wrong password (SECURITY 17)", async () => {
    const { call } = await createTestService();
    const wrong = await call("POST", LOGIN, asJson(JSON.stringify({ username: "alice", password: "x" })));
    const unknown = await call("POST", LOGIN, asJson(JSON.stringify({ username: "nobody", password: "x" })));
    expect([unknown.status, unknown.text]).toEqual([wrong.status, wrong.text]);
  });

  it("answers a browser's failed login by 401 and the login page with a message (CONTRACT 6.2)", async () => {
    const { call } = await createTestService();
    const answer = await call("POST", LOGIN, asForm("username=alice&password=wrong", "text/html"));
    expect(answer.status).toBe(401);
    expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.text).toContain('name="password"');
    expect(answer.text).toMatch(/role="alert"/);
    expect(answer.text).not.toContain("wrong<");
  });

  it("keeps the page to return to after a failed login (CONTRACT 6.2)", async () => {
    const { call } = await createTestService();
    const body = `username=alice&password=wrong&return=${encodeURIComponent("/home/a%20b/")}`;
    const answer = await call("POST", LOGIN, asForm(body, "text/html"));
    expect(answer.text).toContain('name="return" value="/home/a%20b/"');
  });

  it.each([
    ["no JSON", asJson("{")],
    ["nothing", asJson("")],
    ["a JSON list", asJson("[]")],
    ["JSON null", asJson("null")],
    ["a JSON text", asJson('"alice"')],
    ["no username", asJson('{"password":"secret"}')],
    ["no password", asJson('{"username":"alice"}')],
    ["a username that is no text", asJson('{"username":1,"password":"secret"}')],
    ["a password that is null", asJson('{"username":"alice","password":null}')],
    ["an empty form", asForm("")],
    ["a form without a password", asForm("username=alice")],
    ["a form without a username", asForm("password=secret")],
  ])("answers 400 to %s (7.1)", async (_what, options) => {
    const { call } = await createTestService();
    const answer = await call("POST", LOGIN, options);
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual({ errors: [{ message: expect.any(String) }] });
  });

  it("takes the first of a form's field that is sent twice, and passes over fields of other names", async () => {
    const { call } = await createTestService();
    const undescribed = "it has fields that nobody reads";
    const form = "username=alice&username=root&password=secret&return=%2Fhome%2Ff%2F&return=%2Fhome%2Fg%2F&__proto__=x";
    const answer = await call("POST", LOGIN, { ...asForm(form), undescribed });
    expect([answer.status, answer.header("location")]).toEqual([302, "/home/f/"]);
    const other = await call("POST", LOGIN, { ...asForm("username=root&username=alice&password=secret"), undescribed });
    expect(other.status).toBe(401);
  });

  it("answers 400 to what is not UTF-8 (1.5)", async () => {
    const { call } = await createTestService();
    const body = Uint8Array.from([...new TextEncoder().encode('{"username":"alice","password":"'), 0xff, 0x22, 0x7d]);
    const answer = await call("POST", LOGIN, { as: null, body, headers: { "content-type": JSON_TYPE } });
    expect(answer.status).toBe(400);
  });

  it("answers 413 to a form over 16 KiB, which nobody needs to log in (SECURITY 12)", async () => {
    const { call } = await createTestService();
    const body = `username=alice&password=secret&return=/home/${"a/".repeat(8 * 1024)}`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    expect((await call("POST", "/__svc__/login", { headers, body })).status).toBe(413);
  });

  it("answers 413 to a body over 1 MiB, announced or not (SECURITY 12)", async () => {
    const { call } = await createTestService();
    const long = "x".repeat(1024 * 1024 + 1);
    for (const type of [JSON_TYPE, FORM_TYPE]) {
      const headers = { "content-type": type };
      expect((await call("POST", LOGIN, { as: null, body: long, headers })).status).toBe(413);
      expect((await call("POST", LOGIN, { as: null, body: streamOf(long), headers })).status).toBe(413);
    }
  });

  it.each(["text/plain", "multipart/form-data; boundary=x", "application/xml", undefined])(
    "answers 415 to a body of type %s (4.1)",
    async (type) => {
      const { call } = await createTestService();
      const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
      expect((await call("POST", LOGIN, { as: null, body: goodJson, headers })).status).toBe(415);
    },
  );

  it("is never stored by caches, whatever it answers (SECURITY 16)", async () => {
    const { call } = await createTestService();
    const requests = [
      asJson(goodJson),
      asForm(goodForm),
      asJson('{"username":"alice","password":"wrong"}'),
      asForm("username=alice&password=wrong", "text/html"),
      asJson("{"),
      { as: null, body: goodJson, headers: { "content-type": "text/plain" } },
    ] as const;
    const got = await Promise.all(requests.map((options) => call("POST", LOGIN, options)));
    expect(got.map(({ status }) => status)).toEqual([200, 302, 401, 401, 400, 415]);
    expect(got.map((answer) => answer.header("cache-control"))).toEqual(got.map(() => "no-store"));
  });

  it("reads a form's blanks and escapes (4.1)", async () => {
    const { createAccountsAuthenticator } = await import("../../../src/auth/accounts/accounts.ts");
    const accounts = [{ username: "al ice", password: "p+w d&é" }];
    const { call } = await createTestService({ authentication: createAccountsAuthenticator({ accounts }) });
    const answer = await call("POST", LOGIN, asForm("username=al+ice&password=p%2Bw+d%26%C3%A9", JSON_TYPE));
    expect(answer.status).toBe(200);
  });

  it("creates the home folder of the account (CONTRACT 7.1)", async () => {
    const { call, login, storage } = await createTestService();
    expect(await storage.stat("/bob")).toBeUndefined();
    const id = await login("bob");
    expect((await storage.stat("/bob"))?.kind).toBe("folder");
    const listing = await call("GET", "/home/", { as: null, variant: "json", headers: bySession(id) });
    expect(listing.json()).toEqual({ content: [] });
  });
});

describe("the page that a login returns to", () => {
  it.each([
    "/home/",
    "/home/folder/",
    "/home/a.txt",
    "/home/a%20b/%C3%A9.txt",
    "/home/50%25/",
    "/home/?q=a%26b+%C3%A9&sort=size&order=desc",
    "/home/__svc__/versions?path=%2Fa.txt",
  ])("is %s when it was asked for (CONTRACT 6.2)", async (path) => {
    const { call } = await createTestService();
    const body = `${goodForm}&return=${encodeURIComponent(path)}`;
    expect((await call("POST", LOGIN, asForm(body, "text/html"))).header("location")).toBe(path);
  });

  it.each([
    ["/home/?done=uploaded&q=x", "/home/?q=x"],
    ["/home/?login=basic&return=%2F%2Fevil.example", "/home/"],
    ["/home/?q=x#y", "/home/?q=x%23y"],
    ["/home/?q=a\r\nSet-Cookie: a=b", "/home/?q=a%0D%0ASet-Cookie%3A+a%3Db"],
    ["/home/?q=//evil.example/", "/home/?q=%2F%2Fevil.example%2F"],
  ])("has of the query of %j what pages say alone", async (path, location) => {
    const { call } = await createTestService();
    const body = `${goodForm}&return=${encodeURIComponent(path)}`;
    expect((await call("POST", LOGIN, asForm(body, "text/html"))).header("location")).toBe(location);
  });

  it.each([
    "https://evil.example/",
    "//evil.example/",
    "///evil.example/home/",
    "/\\evil.example/",
    "\\\\evil.example",
    "/home/../../evil",
    "/home//evil.example/",
    "/home/%2e%2e/%2e%2e/evil",
    "/home/\\evil",
    "/home/\r\nSet-Cookie: a=b",
    "/home/\t/evil",
    "javascript:alert(1)",
    "data:text/html,x",
    "home/",
    " /home/",
    "/homes/",
    "/__svc__/logout",
    "http:/home/",
    "/home/%ff",
    "",
  ])("never is %j (CONTRACT 6.2, SECURITY 20)", async (path) => {
    const { call } = await createTestService();
    const body = `${goodForm}&return=${encodeURIComponent(path)}`;
    const answer = await call("POST", LOGIN, asForm(body, "text/html"));
    expect(answer.status).toBe(302);
    expect(answer.header("location")).toBe("/home/");
    const page = await call("GET", `${LOGIN}?return=${encodeURIComponent(path)}`, { as: null });
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('name="return"');
  });

  it("is remembered from the page that was asked for up to the login (CONTRACT 6.2)", async () => {
    const { call } = await createTestService({ files: { "/alice/a b/": "" } });
    const sent = await call("GET", "/home/a%20b/?q=c+d&sort=size", { as: null, variant: "html" });
    expect(sent.status).toBe(302);
    const page = await call("GET", sent.header("location") ?? "", { as: null, variant: "html" });
    const value = /name="return" value="([^"]*)"/.exec(page.text)?.[1] ?? "";
    const body = `${goodForm}&return=${encodeURIComponent(value.replaceAll("&amp;", "&"))}`;
    const done = await call("POST", LOGIN, asForm(body, "text/html"));
    expect(done.header("location")).toBe("/home/a%20b/?q=c+d&sort=size");
  });
});

describe("GET /__svc__/login", () => {
  it("answers the login page to anybody (4.1)", async () => {
    const { call } = await createTestService();
    for (const variant of ["html", "json", "webdav"] as const) {
      const answer = await call("GET", LOGIN, { as: null, variant });
      expect(answer.status).toBe(200);
      expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.text).toMatch(/<form method="post" action="\/__svc__\/login"/);
      expect(answer.text).toContain('name="username"');
      expect(answer.text).toMatch(/name="password" type="password"|type="password" name="password"/);
    }
  });

  it("is not stored by caches (SECURITY 16)", async () => {
    const { call } = await createTestService();
    expect((await call("GET", LOGIN, { as: null })).header("cache-control")).toBe("no-store");
  });

  it("shows nothing of its query unescaped (SECURITY 21)", async () => {
    const { call } = await createTestService();
    const evil = encodeURIComponent('/home/"><script>alert(1)</script>');
    const answer = await call("GET", `${LOGIN}?return=${evil}&message=%3Cb%3E`, {
      as: null,
      undescribed: "a query of nobody's is ignored",
    });
    expect(answer.text).not.toContain("<script>");
    expect(answer.text).not.toContain("<b>");
  });
});
