import { describe, expect, it } from "vitest";
import { createTestService } from "../../support/service.ts";

const files = { "/alice/folder/a.txt": "a", "/alice/a.txt": "top", "/alice/50% of [it]/": "" };

describe("URLs of files and folders", () => {
  it("takes a URL ending in / for a folder (1.3)", async () => {
    const { call } = await createTestService({ files });
    const answer = await call("GET", "/home/folder/", { variant: "json" });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ content: [{ name: "a.txt" }] });
  });

  it("takes a URL without a trailing / for a file (1.3)", async () => {
    const { call } = await createTestService({ files });
    const answer = await call("GET", "/home/folder/a.txt");
    expect(answer.status).toBe(200);
    expect(answer.text).toBe("a");
  });

  it.each(["GET", "HEAD"])(
    "redirects %s of a folder without the trailing / by 302 (4.2, CONTRACT 2.5)",
    async (method) => {
      const { call } = await createTestService({ files });
      const answer = await call(method, "/home/folder");
      expect(answer.status).toBe(302);
      expect(answer.header("location")).toBe("/home/folder/");
    },
  );

  it.each(["DELETE", "POST", "MKCOL"])(
    "redirects %s of a folder without the trailing / by 307 and does nothing (CONTRACT 2.5)",
    async (method) => {
      const { call, stored } = await createTestService({ files });
      const answer = await call(method, "/home/folder");
      expect(answer.status).toBe(307);
      expect(answer.header("location")).toBe("/home/folder/");
      expect(await stored("/alice/folder/a.txt")).toBe("a");
    },
  );

  it("keeps the query of a redirect as it is (CONTRACT 2.5)", async () => {
    const { call } = await createTestService({ files });
    const read = await call("GET", "/home/folder?a=%2F&b=c+d&&e");
    expect(read.header("location")).toBe("/home/folder/?a=%2F&b=c+d&&e");
    const write = await call("DELETE", "/home/folder?x=1");
    expect(write.header("location")).toBe("/home/folder/?x=1");
  });

  it.each(["\r\nSet-Cookie:a=b", "caf\u00e9", "a b", "\u0000", "\u{1f600}"])(
    "never lets a query %j into a header as it is (SECURITY 20)",
    async (query) => {
      const { call } = await createTestService({ files });
      for (const path of ["/home/folder", "/home", "/"]) {
        const { headers, status } = await call("GET", `${path}?${query}`);
        expect([302, 400]).toContain(status);
        expect(headers.get("location") ?? "").toMatch(/^[!-~]*$/);
      }
    },
  );

  it("encodes the path of a redirect (CONTRACT 2.5)", async () => {
    const { call } = await createTestService({ files });
    const { headers, status } = await call("GET", "/home/50%25%20of%20%5bit%5d");
    expect(status).toBe(302);
    const location = headers.get("location") ?? "";
    expect(location).toMatch(/^\/home\/[!-~]+\/$/);
    expect(decodeURIComponent(location)).toBe("/home/50% of [it]/");
    expect((await call("GET", location)).status).toBe(200);
  });

  it("redirects a nested folder to its whole path (CONTRACT 2.5)", async () => {
    const { call } = await createTestService({ files: { "/alice/x/y/z/": "" } });
    expect((await call("GET", "/home/x/y/z")).header("location")).toBe("/home/x/y/z/");
  });

  it.each(["GET", "HEAD", "DELETE", "POST"])(
    "answers 404 to %s of a file's name with a trailing / (CONTRACT 2.5)",
    async (method) => {
      const { call, stored } = await createTestService({ files });
      const body = method === "POST" ? '{"commands":[{"command":"delete","target":"a"}]}' : undefined;
      const headers = body === undefined ? {} : { "content-type": "application/json" };
      expect((await call(method, "/home/a.txt/", { body, headers, variant: "json" })).status).toBe(404);
      expect(await stored("/alice/a.txt")).toBe("top");
    },
  );

  it("does not redirect a folder for those who are not logged in (5.1)", async () => {
    const { call } = await createTestService({ files });
    const there = await call("GET", "/home/folder", { as: null, variant: "json" });
    const missing = await call("GET", "/home/nothing", { as: null, variant: "json" });
    expect(there.status).toBe(401);
    expect(there.text).toBe(missing.text);
  });
});

describe("/ and /home", () => {
  it.each(["/", "/home"])("redirects GET %s to /home/ by 302 (CONTRACT 2.6)", async (path) => {
    const { call } = await createTestService();
    for (const method of ["GET", "HEAD"]) {
      const answer = await call(method, path);
      expect(answer.status).toBe(302);
      expect(answer.header("location")).toBe("/home/");
    }
  });

  it("redirects /home with its query (CONTRACT 2.5, 2.6)", async () => {
    const { call } = await createTestService();
    expect((await call("GET", "/home?x=%20y")).header("location")).toBe("/home/?x=%20y");
  });
});

describe("URLs outside of the service", () => {
  it.each(["/other", "/homes/", "/HOME/", "/home.txt", "/__svc__x/login", "/__SVC__/login", "/favicon.ico"])(
    "answers 404 to %s and does not call it its own (CONTRACT 2.7)",
    async (path) => {
      const { call, service, request } = await createTestService({ files: { "/homes/": "", "/other": "x" } });
      for (const as of ["root", null] as const) expect((await call("GET", path, { as })).status).toBe(404);
      expect(service.handles(request("GET", path))).toBe(false);
    },
  );

  it.each([
    "/",
    "/home",
    "/home/",
    "/home/a",
    "/home/a/b/",
    "/home/../x",
    "/home//",
    "/home/%ff",
    "/__svc__/login",
    "/__svc__/nothing",
    "/?x",
    "/home?x",
  ])("calls %s its own (CONTRACT 2.7)", async (path) => {
    const { service, request } = await createTestService();
    expect(service.handles(request("GET", path))).toBe(true);
  });

  it("answers 404 to what is not there in its own namespace (1.3)", async () => {
    const { call } = await createTestService();
    expect((await call("GET", "/__svc__/nothing")).status).toBe(404);
    expect((await call("GET", "/__svc__/login/x")).status).toBe(404);
    expect((await call("GET", "/__svc__/")).status).toBe(404);
  });
});

describe("a service below a base path", () => {
  it("serves files below it (CONTRACT 2.7)", async () => {
    const { call } = await createTestService({ basePath: "/files", files });
    expect((await call("GET", "/files/home/a.txt")).text).toBe("top");
    expect((await call("PUT", "/files/home/b.txt", { body: "b" })).status).toBe(201);
    expect((await call("GET", "/files/home/b.txt")).text).toBe("b");
  });

  it("leaves the base path out of Server-Path (1.4, CONTRACT 2.4)", async () => {
    const { call } = await createTestService({ basePath: "/files", files });
    expect((await call("GET", "/files/home/a.txt")).header("server-path")).toBe("/a.txt");
  });

  it.each([
    ["/files", "/files/home/"],
    ["/files/", "/files/home/"],
    ["/files/home", "/files/home/"],
    ["/files/home/folder", "/files/home/folder/"],
    ["/files/home/folder?q", "/files/home/folder/?q"],
  ])("redirects %s to %s (CONTRACT 2.6, 2.7)", async (path, location) => {
    const { call } = await createTestService({ basePath: "/files", files });
    const answer = await call("GET", path);
    expect(answer.status).toBe(302);
    expect(answer.header("location")).toBe(location);
  });

  it("sends browsers to its own login page and back (CONTRACT 2.7, 6.2)", async () => {
    const { call } = await createTestService({ basePath: "/files", files });
    const sent = await call("GET", "/files/home/folder/", { as: null, variant: "html" });
    const location = sent.header("location") ?? "";
    expect(location).toMatch(/^\/files\/__svc__\/login(\?|$)/);
    const page = await call("GET", location, { as: null, variant: "html" });
    expect(page.status).toBe(200);
    expect(page.text).toContain('action="/files/__svc__/login"');
    const body = `username=alice&password=secret&return=${encodeURIComponent("/files/home/folder/")}`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const done = await call("POST", "/files/__svc__/login", { as: null, variant: "html", headers, body });
    expect(done.header("location")).toBe("/files/home/folder/");
  });

  it("leads a login without a page to return to home (CONTRACT 2.7)", async () => {
    const { call } = await createTestService({ basePath: "/files" });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const body = "username=alice&password=secret";
    const done = await call("POST", "/files/__svc__/login", { as: null, headers, body });
    expect(done.header("location")).toBe("/files/home/");
  });

  it("sends a Basic login that failed to its own login page (5.1.2, CONTRACT 2.7)", async () => {
    const { call } = await createTestService({ basePath: "/files" });
    const headers = { authorization: "Basic YWxpY2U6d3Jvbmc=" };
    const answer = await call("GET", "/files/home/", { variant: "html", headers });
    expect(answer.status).toBe(302);
    expect(answer.header("location")).toMatch(/^\/files\/__svc__\/login(\?|$)/);
    expect(answer.text).toContain("/files/__svc__/login");
  });

  it.each(["/", "/home/", "/home", "/__svc__/login", "/filesx/home/", "/file/home/", "/files2", "/FILES/home/"])(
    "does not answer %s (CONTRACT 2.7, SECURITY 2)",
    async (path) => {
      const { call, service, request } = await createTestService({ basePath: "/files" });
      expect(service.handles(request("GET", path))).toBe(false);
      expect((await call("GET", path)).status).toBe(404);
    },
  );

  it("may have several segments, and a trailing / (CONTRACT 2.7)", async () => {
    const { call } = await createTestService({ basePath: "/a/b%20c/", files });
    expect((await call("GET", "/a/b%20c/home/a.txt")).text).toBe("top");
    expect((await call("GET", "/a/b%20c/home/folder")).header("location")).toBe("/a/b%20c/home/folder/");
  });
});
