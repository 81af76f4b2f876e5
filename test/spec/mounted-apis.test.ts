import { describe, expect, it } from "vitest";
import { type CallOptions, createTestService } from "../support/service.ts";

const files = { "/alice/f/a": "x", "/alice/a": "top" };
const accepts: readonly (string | undefined)[] = [undefined, "*/*", "application/json", "text/html", "text/plain"];

function withAccept(accept: string | undefined): Pick<CallOptions, "headers"> {
  return accept === undefined ? {} : { headers: { accept } };
}

describe("the REST API alone", () => {
  const api = "rest" as const;

  it("always answers JSON (1.5)", async () => {
    const { call } = await createTestService({ files });
    for (const accept of accepts) {
      const listing = await call("GET", "/home/", { api, ...withAccept(accept) });
      expect(listing.header("content-type")).toBe("application/json; charset=utf-8");
      const error = await call("GET", "/home/missing", { api, ...withAccept(accept) });
      expect(error.json()).toEqual({ errors: [{ message: expect.any(String) }] });
    }
  });

  it("uses the statuses of JSON (CONTRACT 1)", async () => {
    const { call } = await createTestService({ files });
    for (const accept of accepts) {
      const options = { api, ...withAccept(accept) };
      expect((await call("PUT", "/home/f/", options)).status).toBe(422);
      expect((await call("PUT", "/home/f", { body: "x", ...options })).status).toBe(422);
      expect((await call("PUT", "/home/no/x", { body: "x", ...options })).status).toBe(422);
    }
  });

  it("answers 401 instead of a way to the login page, also to browsers (7.1)", async () => {
    const { call } = await createTestService({ files });
    for (const headers of [{ accept: "text/html" }, { accept: "text/html", authorization: "Basic YWxpY2U6eA==" }]) {
      const answer = await call("GET", "/home/", { api, as: null, headers });
      expect(answer.status).toBe(401);
      expect(answer.header("www-authenticate")).toBe('basic realm="Web files access", session');
    }
  });

  it("has the login and the commands (4.1, 4.3)", async () => {
    const { call } = await createTestService({ files });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const login = await call("POST", "/__svc__/login", {
      api,
      as: null,
      headers,
      body: "username=alice&password=secret",
    });
    expect(login.status).toBe(200);
    expect(login.json()).toEqual({ results: [{ session: expect.any(String) }] });
    const commands = {
      headers: { "content-type": "application/json" },
      body: '{"commands":[{"command":"delete","target":"a"}]}',
    };
    expect((await call("POST", "/home/f/", { api, ...commands })).status).toBe(200);
  });

  it("has no login page and no MKCOL (4.1, 4.5)", async () => {
    const { call, storage } = await createTestService({ files });
    expect((await call("GET", "/__svc__/login", { api })).status).toBe(405);
    expect([405, 501]).toContain((await call("MKCOL", "/home/new/", { api })).status);
    expect(await storage.stat("/alice/new")).toBeUndefined();
    expect((await call("OPTIONS", "/home/f/", { api })).header("allow")).not.toContain("MKCOL");
  });
});

describe("the WebDAV API alone", () => {
  const api = "webdav" as const;

  it("uses the statuses of WebDAV, whatever Accept says (CONTRACT 1)", async () => {
    const { call } = await createTestService({ files });
    for (const accept of accepts) {
      const options = { api, ...withAccept(accept) };
      expect((await call("MKCOL", "/home/f/", options)).status).toBe(405);
      expect((await call("PUT", "/home/f", { body: "x", ...options })).status).toBe(409);
      expect((await call("MKCOL", "/home/no/x/", options)).status).toBe(409);
      expect((await call("GET", "/home/missing", options)).json()).toEqual({
        errors: [{ message: expect.any(String) }],
      });
    }
  });

  it("has exactly its methods (4.5)", async () => {
    const { call, stored } = await createTestService({ files });
    expect((await call("GET", "/home/a", { api })).text).toBe("top");
    expect((await call("HEAD", "/home/a", { api })).status).toBe(200);
    expect((await call("PUT", "/home/b", { api, body: "x" })).status).toBe(201);
    expect((await call("MKCOL", "/home/new/", { api })).status).toBe(201);
    expect((await call("PUT", "/home/new2/", { api })).status).toBe(201);
    expect((await call("DELETE", "/home/f/", { api })).status).toBe(204);
    expect(await stored("/alice/f/a")).toBeUndefined();
    const headers = { "content-type": "application/json" };
    const body = '{"commands":[{"command":"delete","target":"a"}]}';
    expect((await call("POST", "/home/", { api, headers, body })).status).toBe(405);
    expect(await stored("/alice/a")).toBe("top");
    for (const method of ["PROPFIND", "COPY", "MOVE", "LOCK", "PROPPATCH"]) {
      expect((await call(method, "/home/", { api })).status).toBe(501);
    }
  });

  it("asks for credentials by 401, also browsers (7.1)", async () => {
    const { call } = await createTestService({ files });
    for (const accept of accepts) {
      expect((await call("GET", "/home/", { api, as: null, ...withAccept(accept) })).status).toBe(401);
    }
  });

  it("has no login (4.5)", async () => {
    const { call } = await createTestService({ files });
    expect((await call("GET", "/__svc__/login", { api })).status).toBe(404);
  });
});

describe("the browser API alone", () => {
  const api = "browser" as const;

  it("always answers pages (1.5, 4.6)", async () => {
    const { call } = await createTestService({ files });
    for (const accept of accepts) {
      for (const path of ["/home/", "/home/missing", "/home/missing/", "/home/%ff", "/__svc__/login"]) {
        const answer = await call("GET", path, { api, ...withAccept(accept) });
        expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
      }
    }
  });

  it("sends everybody to the login page (CONTRACT 6.2)", async () => {
    const { call } = await createTestService({ files });
    for (const accept of accepts) {
      const answer = await call("GET", "/home/", { api, as: null, ...withAccept(accept) });
      expect(answer.status).toBe(302);
      expect(answer.header("location")).toMatch(/^\/__svc__\/login/);
    }
  });

  it("answers a login by 302 and the cookie, whatever Accept says (5.1.1)", async () => {
    const { call } = await createTestService({ files });
    for (const accept of accepts) {
      const headers = { "content-type": "application/x-www-form-urlencoded", ...(accept && { accept }) };
      const body = "username=alice&password=secret";
      const answer = await call("POST", "/__svc__/login", { api, as: null, headers, body });
      expect(answer.status).toBe(302);
      expect(answer.header("set-cookie")).toMatch(/^SVC_HTTP_SESSION=/);
    }
  });

  it("answers scripts that say so in JSON if they prefer it, and the others in pages", async () => {
    const { call } = await createTestService({ files });
    const script = { "x-requested-with": "XMLHttpRequest" };
    const asJson = { api, headers: { ...script, accept: "application/json" } };
    expect((await call("GET", "/home/f/", asJson)).json()).toMatchObject({ content: [{ name: "a" }] });
    const missing = await call("GET", "/home/missing", asJson);
    expect([missing.status, missing.json()]).toEqual([404, { errors: [{ message: expect.any(String) }] }]);
    for (const [method, path] of [
      ["GET", "/home/"],
      ["HEAD", "/home/a"],
      ["POST", "/home/"],
    ] as const) {
      const answer = await call(method, path, { ...asJson, as: null });
      expect([answer.status, answer.header("www-authenticate")]).toEqual([401, "session"]);
    }
    for (const accept of ["text/html", "*/*"]) {
      const answer = await call("GET", "/home/missing", { api, headers: { ...script, accept } });
      expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
    }
  });

  it("has GET, HEAD and POST only (4.6)", async () => {
    const { call, stored } = await createTestService({ files });
    expect((await call("GET", "/home/a", { api })).text).toBe("top");
    expect((await call("HEAD", "/home/", { api })).status).toBe(200);
    for (const [method, path] of [
      ["PUT", "/home/a"],
      ["DELETE", "/home/a"],
      ["PUT", "/home/x/"],
      ["DELETE", "/home/f/"],
    ] as const) {
      const answer = await call(method, path, { api, body: method === "PUT" && path === "/home/a" ? "x" : undefined });
      expect(answer.status).toBe(405);
      expect(answer.header("allow")?.split(", ")).not.toContain(method);
    }
    expect(await stored("/alice/a")).toBe("top");
    expect(await stored("/alice/f/a")).toBe("x");
  });
});

describe("every API alone", () => {
  it.each(["rest", "webdav", "browser"] as const)(
    "%s answers OPTIONS, redirects and Server-Path as the whole does (1.4, CONTRACT 1, 2.5)",
    async (api) => {
      const { call } = await createTestService({ files });
      expect((await call("OPTIONS", "/home/a", { api, as: null })).status).toBe(204);
      const redirect = await call("GET", "/home/f?q", { api });
      expect([redirect.status, redirect.header("location")]).toEqual([302, "/home/f/?q"]);
      expect(redirect.header("server-path")).toBe("/f");
      expect((await call("GET", "/elsewhere", { api })).status).toBe(404);
    },
  );
});
