import { describe, expect, it } from "vitest";
import { VERSION } from "../../src/config/version.ts";
import { createTestService } from "../support/service.ts";

const files = { "/alice/folder/a.txt": "a" };

/** One request for each kind of answer. */
const answers: readonly (readonly [method: string, path: string, status: number])[] = [
  ["GET", "/home/folder/a.txt", 200],
  ["GET", "/home/folder/", 200],
  ["HEAD", "/home/folder/", 200],
  ["GET", "/home/folder", 302],
  ["GET", "/home", 302],
  ["GET", "/", 302],
  ["GET", "/home/missing", 404],
  ["GET", "/home/a%2fb", 400],
  ["PUT", "/home/new", 201],
  ["PUT", "/home/no/new", 422],
  ["PUT", "/home/__svc__/x", 403],
  ["DELETE", "/home/new", 204],
  ["POST", "/home/folder/a.txt", 405],
  ["PROPFIND", "/home/folder/", 501],
  ["OPTIONS", "/home/folder/", 204],
  ["GET", "/__svc__/login", 200],
  ["POST", "/__svc__/login", 415],
  ["GET", "/__svc__/nothing", 404],
];

describe("every answer", () => {
  it("carries Server with the server's name and version (1.4)", async () => {
    const { call } = await createTestService({ files });
    for (const [method, path, status] of answers) {
      const answer = await call(method, path, { variant: "json" });
      expect([method, path, answer.status]).toEqual([method, path, status]);
      expect(answer.header("server")).toBe(`fileferry/${VERSION}`);
    }
  });

  it("carries the server name of the options (1.4)", async () => {
    const { call } = await createTestService({ server: { name: "depot" } });
    expect((await call("GET", "/home/")).header("server")).toBe(`depot/${VERSION}`);
  });

  it("cannot be embedded by pages of other sites", async () => {
    const { call } = await createTestService({ files });
    for (const [method, path] of answers) {
      const answer = await call(method, path, { variant: "json" });
      expect(answer.header("cross-origin-resource-policy")).toBe("same-origin");
    }
  });

  it("carries nosniff (SECURITY 21)", async () => {
    const { call } = await createTestService({ files });
    for (const [method, path] of answers) {
      expect((await call(method, path, { variant: "json" })).header("x-content-type-options")).toBe("nosniff");
    }
  });

  it("varies on Accept, Authorization and Cookie, a page on Accept-Language as well (SECURITY 21)", async () => {
    const { call } = await createTestService({ files });
    for (const [method, path] of answers) {
      const answer = await call(method, path, { variant: "json" });
      const isPage = answer.header("content-type")?.startsWith("text/html") === true;
      expect(answer.header("vary")).toBe(`Accept, Authorization, Cookie${isPage ? ", Accept-Language" : ""}`);
    }
  });

  it("is private and not to be used without asking again (CONTRACT 3.2, SECURITY 21)", async () => {
    const { call } = await createTestService({ files });
    for (const [method, path] of answers) {
      const cacheControl = (await call(method, path, { variant: "json" })).header("cache-control");
      expect([method, path, cacheControl]).toEqual([
        method,
        path,
        expect.stringMatching(/^(private, no-cache|no-store)$/),
      ]);
    }
  });

  it("carries no CORS headers (CONTRACT 6.5)", async () => {
    const { call } = await createTestService({ files, acceptedOrigins: ["https://app.example"] });
    for (const [method, path] of answers) {
      const { headers } = await call(method, path, { variant: "json", headers: { origin: "https://app.example" } });
      expect([...headers.keys()].filter((name) => name.toLowerCase().startsWith("access-control-"))).toEqual([]);
    }
  });

  it("never carries the credentials that came (SECURITY 16)", async () => {
    const { call, login } = await createTestService({ files });
    const id = await login();
    for (const [method, path] of answers) {
      const { headers, text } = await call(method, path, {
        variant: "html",
        headers: { authorization: `session ${id}` },
      });
      expect(JSON.stringify([...headers]) + text).not.toContain(id);
    }
  });
});

describe("pages of the service's own", () => {
  it.each(["/__svc__/login", "/home/folder/", "/home/missing", "/home/a%2fb"])(
    "run no script but our own file on %s (SECURITY 21)",
    async (path) => {
      const { call } = await createTestService({ files });
      const answer = await call("GET", path, { variant: "html" });
      expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.header("content-security-policy")).toContain("default-src 'none'");
      expect(answer.header("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(answer.header("content-security-policy")).not.toContain("unsafe-inline");
      const scripts = answer.text.match(/<script[^>]*>[\s\S]*?<\/script>/gi) ?? [];
      for (const script of scripts) expect(script).toMatch(/^<script type="module" src="[^"]+"><\/script>$/);
      expect(answer.text).not.toMatch(/\son\w+=|<style|\sstyle=/i);
    },
  );
});

describe("Server-Path", () => {
  it.each([
    ["GET", "/home/folder/a.txt", 200],
    ["HEAD", "/home/folder/a.txt", 200],
    ["PUT", "/home/folder/a.txt", 201],
    ["DELETE", "/home/folder/a.txt", 204],
    ["POST", "/home/folder/a.txt", 405],
    ["PATCH", "/home/folder/a.txt", 501],
  ])("names the file on %s %s (1.4)", async (method, path, status) => {
    const { call } = await createTestService({ files });
    const answer = await call(method, path);
    expect(answer.status).toBe(status);
    expect(answer.header("server-path")).toBe("/folder/a.txt");
  });

  it("names a folder without its trailing / (CONTRACT 2.4)", async () => {
    const { call } = await createTestService({ files });
    expect((await call("GET", "/home/folder/")).header("server-path")).toBe("/folder");
    expect((await call("GET", "/home/folder")).header("server-path")).toBe("/folder");
  });

  it("is / for the root (CONTRACT 2.4)", async () => {
    const { call } = await createTestService({ files });
    expect((await call("GET", "/home/")).header("server-path")).toBe("/");
  });

  it("is the account's own path, wherever its home is (CONTRACT 2.4)", async () => {
    const { call } = await createTestService({ files });
    expect((await call("GET", "/home/folder/a.txt", { as: "alice" })).header("server-path")).toBe("/folder/a.txt");
    expect((await call("GET", "/home/alice/folder/a.txt", { as: "root" })).header("server-path")).toBe(
      "/alice/folder/a.txt",
    );
  });

  it.each([
    ["/home/caf%C3%A9", "/caf%C3%A9"],
    ["/home/%e2%82%ac", "/%E2%82%AC"],
    ["/home/%F0%9F%98%80.txt", "/%F0%9F%98%80.txt"],
    ["/home/100%25", "/100%25"],
    ["/home/%252e", "/%252e"],
    ["/home/a%3Fb%23c", "/a?b#c"],
    ["/home/a%22b'(c)", "/a\"b'(c)"],
    ["/home/a%5Bb%5D%7B%7D%7C%5E%60%3C%3E", "/a[b]{}|^`<>"],
    ["/home/a+b&c=d;e,f:g@h!i$j*k~l", "/a+b&c=d;e,f:g@h!i$j*k~l"],
  ])("encodes what is not printable ASCII, and %% alone: %s is %s (CONTRACT 2.4)", async (path, serverPath) => {
    const { call } = await createTestService();
    expect((await call("PUT", path, { body: "x" })).header("server-path")).toBe(serverPath);
  });

  it("encodes blanks, which a header would lose at its ends (CONTRACT 2.4)", async () => {
    const { call } = await createTestService();
    expect((await call("PUT", "/home/%20a%20b%20")).header("server-path")).toBe("/%20a%20b%20");
  });

  it.each([
    [404, "GET", "/home/no/such/file", {}],
    [401, "GET", "/home/no/such/file", { as: null }],
    [412, "PUT", "/home/no/such/file", { headers: { "if-match": "*" } }],
    [400, "PUT", "/home/no/such/file", { headers: { "content-range": "bytes 0-1/2" } }],
    [403, "PUT", "/home/no/such/file", { headers: { origin: "https://evil.example" } }],
    [422, "PUT", "/home/no/such/file", {}],
  ] as const)("stands on a %i about a path (CONTRACT 2.4)", async (status, method, path, options) => {
    const { call } = await createTestService();
    const answer = await call(method, path, { variant: "json", ...options });
    expect(answer.status).toBe(status);
    expect(answer.header("server-path")).toBe("/no/such/file");
  });
});

describe("JSON answers", () => {
  it("are UTF-8 and say so (1.5)", async () => {
    const { call } = await createTestService({ files: { "/alice/é.txt": "x" } });
    const options = { variant: "json" } as const;
    for (const path of ["/home/", "/home/missing", "/home/a%2fb"]) {
      expect((await call("GET", path, options)).header("content-type")).toBe("application/json; charset=utf-8");
    }
    expect((await call("GET", "/home/", options)).json()).toMatchObject({ content: [{ name: "é.txt" }] });
  });
});
