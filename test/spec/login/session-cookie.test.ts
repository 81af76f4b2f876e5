import { describe, expect, it } from "vitest";
import { createTestService, type TestService } from "../../support/service.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded", accept: "text/html" };

async function logIn({ call }: TestService, base = ""): Promise<string> {
  const body = "username=alice&password=secret";
  const answer = await call("POST", `${base}/__svc__/login`, { as: null, body, headers: FORM });
  return answer.header("set-cookie") ?? "";
}

describe("the session cookie (option session.cookie)", () => {
  it.each([
    ["a service without a base path", {}, "", "SVC_HTTP_SESSION", "/"],
    ["a service with a base path", { basePath: "/files" }, "/files", "SVC_HTTP_SESSION", "/files"],
    ["a base path with escapes", { basePath: "/a%20b/c" }, "/a%20b/c", "SVC_HTTP_SESSION", "/a%20b/c"],
    ["a name", { session: { cookie: { name: "files.id" } } }, "", "files.id", "/"],
    ["a path", { basePath: "/a/b", session: { cookie: { path: "/a" } } }, "/a/b", "SVC_HTTP_SESSION", "/a"],
    ["the root", { basePath: "/a", session: { cookie: { path: "/" } } }, "/a", "SVC_HTTP_SESSION", "/"],
  ])("is set for %s, and identifies", async (_what, options, base, name, path) => {
    const test = await createTestService(options);
    const set = await logIn(test, base);
    const pattern = new RegExp(`^${name.replace(".", "\\.")}=[0-9a-f]{32}; Path=${path}; HttpOnly; SameSite=strict$`);
    expect(set).toMatch(pattern);
    const cookie = set.split(";", 1)[0] ?? "";
    const used = await test.call("GET", `${base}/home/`, { as: null, variant: "json", headers: { cookie } });
    expect(used.status).toBe(200);
    const origin = { origin: "http://files.example" };
    const ended = await test.call("POST", `${base}/__svc__/logout`, { as: null, headers: { cookie, ...origin } });
    expect(ended.header("set-cookie")).toBe(`${name}=; Path=${path}; HttpOnly; SameSite=strict; Max-Age=0`);
  });

  it("of another name is none", async () => {
    const test = await createTestService({ session: { cookie: { name: "mine" } } });
    const cookie = (await logIn(test)).replace(/^mine=/, "SVC_HTTP_SESSION=").split(";", 1)[0] ?? "";
    const answer = await test.call("GET", "/home/", { as: null, variant: "json", headers: { cookie } });
    expect(answer.status).toBe(401);
  });

  it("of a service below another one has a name of its own, so both keep their sessions", async () => {
    const outer = await createTestService();
    const inner = await createTestService({ basePath: "/inner", session: { cookie: { name: "inner" } } });
    const cookies = [await logIn(outer), await logIn(inner, "/inner")].map((set) => set.split(";", 1)[0]);
    const headers = { cookie: cookies.join("; ") };
    expect((await outer.call("GET", "/home/", { as: null, variant: "json", headers })).status).toBe(200);
    expect((await inner.call("GET", "/inner/home/", { as: null, variant: "json", headers })).status).toBe(200);
  });

  it("is named in the description", async () => {
    const { call } = await createTestService({ session: { cookie: { name: "mine" } } });
    const document = (await call("GET", "/__svc__/openapi.json")).json<{
      components: { securitySchemes: { cookie: { name: string } } };
    }>();
    expect(document.components.securitySchemes.cookie.name).toBe("mine");
  });
});
