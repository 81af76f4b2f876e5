import { expect } from "vitest";
import { type WireCase, wireCase } from "./case.ts";
import { basic, type WireEnvironment } from "./client.ts";

const JSON_API = { Accept: "application/json" };
const JSON_BODY = { ...JSON_API, "Content-Type": "application/json" };
const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const LOGIN = "/__svc__/login";
const PASSWORD = "/home/__svc__/password-update";

async function logIn({ call }: WireEnvironment, username = "alice", password = "secret"): Promise<string> {
  const body = JSON.stringify({ username, password });
  const answer = await call("POST", LOGIN, { as: null, headers: JSON_BODY, body });
  expect([answer.status, answer.header("content-type")]).toEqual([200, expect.stringContaining("application/json")]);
  expect(answer.header("cache-control")).toBe("no-store");
  return answer.json<{ results: { session: string }[] }>().results[0]?.session ?? "";
}

/** Who is asking, and what they may (4.1, 5.1, 7.1; CONTRACT 6, 7). */
export const loginCases: readonly WireCase[] = [
  wireCase("no credentials are 401 with both challenges, as JSON", async ({ call, folder }) => {
    const answer = await call("GET", folder, { as: null, headers: JSON_API });
    expect(answer.status).toBe(401);
    expect(answer.header("www-authenticate")).toMatch(/basic realm="Web files access".*, ?session/i);
    expect(answer.json()).toEqual({ errors: [{ message: expect.any(String), title: "Unauthorized" }] });
  }),
  wireCase("no credentials lead a browser to the login page", async ({ call, folder }) => {
    const answer = await call("GET", folder, { as: null, headers: { Accept: "text/html" } });
    expect([answer.status, answer.header("location")]).toEqual([302, expect.stringContaining(LOGIN)]);
  }),
  wireCase("a wrong password is 401, whatever the account", async ({ call, folder }) => {
    const texts = [];
    for (const name of ["alice", "nobody"]) {
      const headers = { ...JSON_API, Authorization: basic(name, "wrong") };
      const answer = await call("GET", folder, { as: null, headers });
      expect(answer.status).toBe(401);
      texts.push(answer.text);
    }
    expect(texts[0]).toBe(texts[1]);
  }),
  wireCase("a wrong password of a browser is 302 with a challenge", async ({ call, folder }) => {
    const headers = { Accept: "text/html", Authorization: basic("alice", "wrong") };
    const answer = await call("GET", folder, { as: null, headers });
    expect([answer.status, answer.header("location")?.includes(LOGIN)]).toEqual([302, true]);
    expect(answer.header("www-authenticate")).toContain("basic");
  }),
  ...["basic", "Basic !!", "Bearer x", "session", "session 0", "Basic YWxpY2U="].map((value) =>
    wireCase(`the Authorization "${value}" is 401, never replaced by a cookie`, async (environment) => {
      const session = await logIn(environment);
      const headers = { ...JSON_API, Authorization: value, Cookie: `SVC_HTTP_SESSION=${session}` };
      expect((await environment.call("GET", environment.folder, { as: null, headers })).status).toBe(401);
    }),
  ),
  wireCase("a session by header, until the logout", async (environment) => {
    const headers = { ...JSON_API, Authorization: `session ${await logIn(environment)}` };
    expect((await environment.call("GET", environment.folder, { as: null, headers })).status).toBe(200);
    expect((await environment.call("POST", "/__svc__/logout", { as: null, headers })).status).toBe(204);
    const answer = await environment.call("GET", environment.folder, { as: null, headers });
    expect([answer.status, answer.header("www-authenticate")?.includes("session")]).toEqual([401, true]);
  }),
  wireCase("a form login is 302 with a cookie, which serves until the logout", async ({ call, folder }) => {
    const login = await call("POST", LOGIN, { as: null, headers: FORM, body: "username=alice&password=secret" });
    expect([login.status, login.header("location")]).toEqual([302, "/home/"]);
    expect(login.header("set-cookie")).toMatch(/^SVC_HTTP_SESSION=[0-9a-f]{32,}; Path=\/; HttpOnly; SameSite=strict$/i);
    const headers = { Cookie: login.header("set-cookie")?.split(";")[0] ?? "" };
    expect((await call("GET", folder, { as: null, headers: { ...headers, ...JSON_API } })).status).toBe(200);
    const logout = await call("POST", "/__svc__/logout", { as: null, headers: { ...headers, Accept: "text/html" } });
    expect([logout.status, logout.header("set-cookie")?.includes("SVC_HTTP_SESSION=;")]).toEqual([302, true]);
    expect((await call("GET", folder, { as: null, headers: { ...headers, ...JSON_API } })).status).toBe(401);
  }),
  wireCase("a failed login is 401 as JSON, and shows browsers the page", async ({ call }) => {
    const wrong = { username: "alice", password: "wrong" };
    const json = await call("POST", LOGIN, { as: null, headers: JSON_BODY, body: JSON.stringify(wrong) });
    expect([json.status, json.json()]).toEqual([
      401,
      { errors: [{ message: expect.any(String), title: "Unauthorized" }] },
    ]);
    const headers = { ...FORM, Accept: "text/html" };
    const html = await call("POST", LOGIN, { as: null, headers, body: "username=alice&password=wrong" });
    expect([html.status, html.header("content-type")]).toEqual([401, "text/html; charset=utf-8"]);
  }),
  wireCase("a login of another media type is 415", async ({ call }) => {
    const headers = { "Content-Type": "text/plain", ...JSON_API };
    expect((await call("POST", LOGIN, { as: null, headers, body: "x" })).status).toBe(415);
  }),
  wireCase("a login of more than 16 KiB is 413", async ({ call }) => {
    const body = JSON.stringify({ username: "alice", password: "x".repeat(20_000) });
    expect((await call("POST", LOGIN, { as: null, headers: JSON_BODY, body })).status).toBe(413);
  }),
  wireCase("the login page is whole, with the policy of our pages", async ({ call }) => {
    const answer = await call("GET", LOGIN, { as: null, headers: { Accept: "text/html" } });
    expect([answer.status, answer.header("cache-control")]).toEqual([200, "no-store"]);
    expect(answer.header("content-security-policy")).toContain("default-src 'none'");
    expect(answer.header("content-length")).toBe(String(answer.bytes.byteLength));
    expect(answer.text).toContain("</html>");
  }),
  wireCase("HEAD of the login page", async ({ call }) => {
    const answer = await call("HEAD", LOGIN, { as: null, headers: { Accept: "text/html" } });
    expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
  }),
  wireCase("a request of another site by Basic is 403", async ({ call, folder, names }) => {
    const headers = { ...JSON_API, Origin: "https://evil.example" };
    expect((await call("PUT", `${folder}a`, { headers, body: "x" })).status).toBe(403);
    expect(await names()).toEqual([]);
  }),
  wireCase("a login of another site is 403", async ({ call }) => {
    const headers = { ...FORM, "Sec-Fetch-Site": "cross-site" };
    const answer = await call("POST", LOGIN, { as: null, headers, body: "username=alice&password=secret" });
    expect([answer.status, answer.header("set-cookie")]).toEqual([403, null]);
  }),
  wireCase("an Origin that is the Host's passes", async ({ call, folder, port }) => {
    const headers = { ...JSON_API, Origin: `http://127.0.0.1:${port}` };
    expect((await call("PUT", `${folder}a`, { headers, body: "x" })).status).toBe(201);
  }),
  wireCase("who may read alone reads, and writes nothing", async ({ call, folder, put, names }) => {
    await put("a", "x");
    expect((await call("GET", `${folder}a`, { as: "guest" })).text).toBe("x");
    const headers = JSON_API;
    expect((await call("PUT", `${folder}b`, { as: "guest", headers, body: "x" })).status).toBe(403);
    expect((await call("PUT", `${folder}c/`, { as: "guest", headers })).status).toBe(403);
    expect((await call("DELETE", `${folder}a`, { as: "guest", headers })).status).toBe(403);
    expect((await call("MKCOL", `${folder}d/`, { as: "guest" })).status).toBe(403);
    expect(await names()).toEqual(["a"]);
  }),
  wireCase("a path rule refuses the account itself", async ({ call }) => {
    expect((await call("PUT", "/home/locked/", { headers: JSON_API })).status).toBe(403);
    expect((await call("PUT", "/home/locked", { headers: JSON_API, body: "x" })).status).toBe(403);
  }),
  wireCase("a password changes with a session, and ends the others", async (environment) => {
    const { call } = environment;
    const former = await logIn(environment, "carol", "first password");
    const headers = { ...JSON_BODY, Authorization: `session ${await logIn(environment, "carol", "first password")}` };
    const update = (current: string, next: string, fields: Readonly<Record<string, string>> = headers) =>
      call("POST", PASSWORD, {
        as: null,
        headers: fields,
        body: JSON.stringify({ current_password: current, new_password: next }),
      });
    expect(
      (await update("first password", "another password", { ...JSON_BODY, Authorization: basic("carol") })).status,
    ).toBe(401);
    expect((await update("first password", "short")).status).toBe(422);
    expect((await update("wrong password", "another password")).status).toBe(422);
    const updated = await update("first password", "another password");
    expect([updated.status, updated.json()]).toEqual([200, { results: [{ message: expect.any(String) }] }]);
    const byFormer = { ...JSON_API, Authorization: `session ${former}` };
    expect((await call("GET", "/home/", { as: null, headers: byFormer })).status).toBe(401);
  }),
  wireCase("a password does not change where the group forbids it", async (environment) => {
    const headers = { ...JSON_BODY, Authorization: `session ${await logIn(environment)}` };
    const body = JSON.stringify({ current_password: "secret", new_password: "another password" });
    expect((await environment.call("POST", PASSWORD, { as: null, headers, body })).status).toBe(403);
  }),
];
