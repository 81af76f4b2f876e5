import { describe, expect, it } from "vitest";
import { createTestService, variants } from "../support/service.ts";

const files = { "/alice/folder/a.txt": "content", "/alice/empty": "" };

const urls: readonly string[] = [
  "/",
  "/home",
  "/home/",
  "/home/folder/",
  "/home/folder",
  "/home/folder/a.txt",
  "/home/empty",
  "/home/missing",
  "/home/missing/",
  "/home/folder/a.txt/",
  "/home/a%2fb",
  "/home//",
  "/home/__svc__/",
  "/home/__svc__/x",
  "/__svc__/login",
  "/__svc__/logout",
  "/__svc__/nothing",
  "/elsewhere",
];

describe("HEAD", () => {
  it.each(urls)("answers %s with the status of GET and an empty body (4.2, 4.5, 4.6)", async (path) => {
    const { call } = await createTestService({ files });
    for (const variant of variants) {
      for (const as of ["alice", null] as const) {
        const get = await call("GET", path, { variant, as });
        const head = await call("HEAD", path, { variant, as });
        expect(head.status).toBe(get.status);
        expect(head.bytes).toHaveLength(0);
      }
    }
  });

  it.each(["/home/folder/a.txt", "/home/empty", "/home/folder/", "/home/missing", "/__svc__/login", "/home/folder"])(
    "answers %s with the headers of GET (RFC 9110 9.3.2)",
    async (path) => {
      const { call } = await createTestService({ files });
      for (const variant of variants) {
        const get = await call("GET", path, { variant });
        const head = await call("HEAD", path, { variant });
        const names = ["content-type", "etag", "last-modified", "location", "server-path", "content-disposition"];
        for (const name of names) expect([name, head.header(name)]).toEqual([name, get.header(name)]);
        // It may be left out where it is not known before the content is made (RFC 9110 8.6).
        if (head.header("content-length") !== null) {
          expect(head.header("content-length")).toBe(String(get.bytes.byteLength));
        }
      }
    },
  );

  it("tells a file's length (CONTRACT 3.1)", async () => {
    const { call } = await createTestService({ files });
    expect((await call("HEAD", "/home/folder/a.txt")).header("content-length")).toBe("7");
    expect((await call("HEAD", "/home/empty")).header("content-length")).toBe("0");
  });

  it.each([["304 too", { "if-none-match": "*" }, 304] as const, ["412 too", { "if-match": '"x"' }, 412] as const])(
    "answers %s where GET does (4.2)",
    async (_what, headers, status) => {
      const { call } = await createTestService({ files });
      for (const method of ["GET", "HEAD"]) {
        expect((await call(method, "/home/folder/a.txt", { headers })).status).toBe(status);
      }
    },
  );

  it("ignores Range (CONTRACT 1)", async () => {
    const { call } = await createTestService({ files });
    for (const range of ["bytes=0-1", "bytes=99-"]) {
      const answer = await call("HEAD", "/home/folder/a.txt", { headers: { range } });
      expect(answer.status).toBe(200);
      expect(answer.header("content-length")).toBe("7");
      expect(answer.header("content-range")).toBeNull();
    }
  });
});

describe("OPTIONS", () => {
  it.each([
    "/",
    "/home",
    "/home/",
    "/home/folder/",
    "/home/folder",
    "/home/folder/a.txt",
    "/__svc__/login",
    "/__svc__/logout",
  ])("answers %s by 204 with Allow, without credentials (CONTRACT 1)", async (path) => {
    const { call } = await createTestService({ files });
    for (const as of ["alice", null] as const) {
      const answer = await call("OPTIONS", path, { as });
      expect(answer.status).toBe(204);
      expect(answer.bytes).toHaveLength(0);
      expect(answer.header("allow")?.split(", ")).toContain("OPTIONS");
    }
  });

  it("does not tell whether a path exists (CONTRACT 1)", async () => {
    const { call } = await createTestService({ files });
    const toText = async (path: string) => {
      const { status, headers, text } = await call("OPTIONS", path, { as: null });
      return JSON.stringify([status, [...headers].filter(([name]) => name.toLowerCase() !== "server-path"), text]);
    };
    const file = await toText("/home/folder/a.txt");
    for (const path of ["/home/missing", "/home/folder", "/home/no/such", "/home/__svc__"]) {
      expect(await toText(path)).toBe(file);
    }
    const folder = await toText("/home/folder/");
    for (const path of ["/home/missing/", "/home/folder/a.txt/", "/home/"]) expect(await toText(path)).toBe(folder);
  });

  it.each([
    ["/home/folder/a.txt", ["DELETE", "GET", "HEAD", "OPTIONS", "PUT"]],
    ["/home/folder/", ["DELETE", "GET", "HEAD", "MKCOL", "OPTIONS", "POST", "PUT"]],
    ["/__svc__/login", ["GET", "HEAD", "OPTIONS", "POST"]],
    ["/__svc__/logout", ["OPTIONS", "POST"]],
    ["/home", ["GET", "HEAD", "OPTIONS"]],
  ])("allows on %s what is implemented there (4.1, 4.2, 4.5)", async (path, methods) => {
    const { call } = await createTestService({ files });
    expect((await call("OPTIONS", path)).header("allow")?.split(", ").sort()).toEqual(methods);
  });
});

describe("a method that is not allowed", () => {
  it.each([
    ["POST", "/home/folder/a.txt"],
    ["MKCOL", "/home/folder/a.txt"],
    ["MKCOL", "/__svc__/login"],
    ["PUT", "/__svc__/login"],
    ["DELETE", "/__svc__/login"],
    ["GET", "/__svc__/logout"],
    ["HEAD", "/__svc__/logout"],
    ["PUT", "/__svc__/logout"],
  ])("is answered 405: %s %s (CONTRACT 1)", async (method, path) => {
    const { call } = await createTestService({ files });
    const answer = await call(method, path);
    expect(answer.status).toBe(405);
    const allowed = answer.header("allow")?.split(", ") ?? [];
    expect(allowed).toContain("OPTIONS");
    expect(allowed).not.toContain(method);
  });

  it("is answered 405 with the Allow of OPTIONS (RFC 9110 10.2.1)", async () => {
    const { call } = await createTestService({ files });
    for (const path of ["/home/folder/a.txt", "/__svc__/login"]) {
      const refused = await call("MKCOL", path);
      expect(refused.header("allow")).toBe((await call("OPTIONS", path)).header("allow"));
    }
  });
});

describe("a method that is not implemented", () => {
  const methods = ["PROPFIND", "PROPPATCH", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH", "PATCH", "BREW"];

  it.each(methods)("is answered 501 on every URL of the service: %s (4.5, CONTRACT 1)", async (method) => {
    const { call } = await createTestService({ files });
    for (const path of ["/home/folder/a.txt", "/home/folder/", "/home/missing", "/home/", "/home", "/__svc__/login"]) {
      expect((await call(method, path)).status).toBe(501);
    }
  });
});
