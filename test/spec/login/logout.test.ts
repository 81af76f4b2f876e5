import { describe, expect, it } from "vitest";
import { basic, byCookie, bySession, createTestService } from "../../support/service.ts";

const LOGOUT = "/__svc__/logout";

describe("POST /__svc__/logout", () => {
  it("ends the session of the header (CONTRACT 6.3)", async () => {
    const { call, login } = await createTestService();
    const headers = bySession(await login());
    expect((await call("GET", "/home/", { as: null, variant: "json", headers })).status).toBe(200);
    expect((await call("POST", LOGOUT, { as: null, variant: "json", headers })).status).toBeLessThan(300);
    expect((await call("GET", "/home/", { as: null, variant: "json", headers })).status).toBe(401);
  });

  it("ends the session of the cookie and leads a browser to the login page (CONTRACT 6.3)", async () => {
    const { call, login } = await createTestService();
    const headers = byCookie(await login());
    const answer = await call("POST", LOGOUT, { as: null, variant: "html", headers });
    expect([302, 303]).toContain(answer.status);
    expect(answer.header("location")).toBe("/__svc__/login");
    const after = await call("GET", "/home/", { as: null, variant: "html", headers });
    expect(after.status).toBe(302);
    expect(after.header("location")).toMatch(/^\/__svc__\/login/);
  });

  it("makes the browser forget the cookie (CONTRACT 6.3)", async () => {
    const { call, login } = await createTestService();
    const headers = byCookie(await login());
    const answer = await call("POST", LOGOUT, { as: null, variant: "html", headers });
    expect(answer.header("set-cookie")).toMatch(/^SVC_HTTP_SESSION=;/);
    expect(answer.header("set-cookie")).toMatch(/Max-Age=0/i);
    expect(answer.header("set-cookie")).toMatch(/; Path=\/(;|$)/);
  });

  it("leaves the account's other sessions alone (CONTRACT 6.3)", async () => {
    const { call, login } = await createTestService();
    const [one, other] = [await login(), await login()];
    await call("POST", LOGOUT, { as: null, variant: "json", headers: bySession(one) });
    expect((await call("GET", "/home/", { as: null, variant: "json", headers: bySession(other) })).status).toBe(200);
  });

  it("ends only the header's session when both are sent (CONTRACT 6.1)", async () => {
    const { call, login } = await createTestService();
    const [one, other] = [await login(), await login()];
    const headers = { ...bySession(one), ...byCookie(other) };
    await call("POST", LOGOUT, { as: null, variant: "json", headers });
    expect((await call("GET", "/home/", { as: null, variant: "json", headers: bySession(one) })).status).toBe(401);
    expect((await call("GET", "/home/", { as: null, variant: "json", headers: bySession(other) })).status).toBe(200);
  });

  it.each(["garbage", "Bearer x", basic("alice", "wrong"), basic("alice", "secret")])(
    "does not end the cookie's session in place of that of the header %s (CONTRACT 6.1)",
    async (authorization) => {
      const { call, login } = await createTestService();
      const headers = byCookie(await login());
      const answer = await call("POST", LOGOUT, { as: null, variant: "json", headers: { ...headers, authorization } });
      expect([answer.status, answer.header("error-code")]).toEqual([401, "session-missing"]);
      expect((await call("GET", "/home/", { as: null, variant: "json", headers })).status).toBe(200);
    },
  );

  it("is refused from another site, and the session lives on (CONTRACT 6.5)", async () => {
    const { call, login } = await createTestService();
    const headers = byCookie(await login());
    const evil = { ...headers, origin: "https://evil.example" };
    expect((await call("POST", LOGOUT, { as: null, variant: "html", headers: evil })).status).toBe(403);
    expect((await call("GET", "/home/", { as: null, variant: "json", headers })).status).toBe(200);
  });

  it("is not stored by caches (SECURITY 16)", async () => {
    const { call, login } = await createTestService();
    const headers = byCookie(await login());
    for (const variant of ["html", "json"] as const) {
      expect((await call("POST", LOGOUT, { as: null, variant, headers })).header("cache-control")).toBe("no-store");
    }
  });

  it("is never done by GET (SECURITY 18)", async () => {
    const { call, login } = await createTestService();
    const headers = byCookie(await login());
    expect((await call("GET", LOGOUT, { as: null, headers })).status).toBe(405);
    expect((await call("GET", "/home/", { as: null, variant: "json", headers })).status).toBe(200);
  });
});
