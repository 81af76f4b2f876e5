import { describe, expect, it } from "vitest";
import type { Variant } from "../../src/http/negotiate.ts";
import { type Answer, type CallOptions, createTestService, variants } from "../support/service.ts";

const files = { "/alice/folder/a.txt": "a", "/alice/a.txt": "top" };

/** What is asked, and the statuses in json, webdav and html. */
type Row = readonly [what: string, method: string, path: string, options: CallOptions, statuses: Statuses];
type Statuses = readonly [json: number, webdav: number, html: number];

const missing: Statuses = [404, 404, 404];
const denied: Statuses = [403, 403, 403];
const malformed: Statuses = [400, 400, 400];
const parentMissing: Statuses = [422, 409, 400];
const exists: Statuses = [422, 405, 400];
const wrongKind: Statuses = [422, 409, 400];
const preconditionFailed: Statuses = [412, 412, 412];
const tooLarge: Statuses = [413, 413, 413];
const notAllowed: Statuses = [405, 405, 405];
const hasBody: Statuses = [415, 415, 415];
const notImplemented: Statuses = [501, 501, 501];

const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };
const overLimit = `username=alice&password=${"x".repeat(1024 * 1024)}`;

const rows: readonly Row[] = [
  ["a missing file", "GET", "/home/missing", {}, missing],
  ["a missing file below a missing folder", "GET", "/home/no/missing", {}, missing],
  ["a file below a file", "GET", "/home/a.txt/x", {}, missing],
  ["a missing folder", "GET", "/home/missing/", {}, missing],
  ["a missing file to remove", "DELETE", "/home/missing", {}, missing],
  ["a missing folder to remove", "DELETE", "/home/missing/", {}, missing],
  ["the account's root to remove", "DELETE", "/home/", {}, denied],
  ["the reserved name as a file", "PUT", "/home/__svc__", { body: "x" }, denied],
  ["a file below the reserved name", "PUT", "/home/__svc__/x", { body: "x" }, denied],
  ["the reserved name as a folder", "PUT", "/home/__svc__/", {}, denied],
  ["the reserved name as a collection", "MKCOL", "/home/__svc__/", {}, denied],
  ["the reserved name to remove", "DELETE", "/home/__svc__/", {}, denied],
  ["a request from another site", "PUT", "/home/x", { headers: { origin: "https://evil.example" } }, denied],
  ["a malformed path", "GET", "/home/a%2fb", {}, malformed],
  ["a malformed path to write", "PUT", "/home/a%00b", { body: "x" }, malformed],
  ["a part of a file to put", "PUT", "/home/x", { body: "x", headers: { "content-range": "bytes 0-0/1" } }, malformed],
  ["a malformed If-Match", "PUT", "/home/x", { body: "x", headers: { "if-match": "no tag" } }, malformed],
  ["a malformed If-None-Match", "GET", "/home/a.txt", { headers: { "if-none-match": "no tag" } }, malformed],
  ["a malformed Content-Length", "PUT", "/home/x", { body: "x", headers: { "content-length": "1e3" } }, malformed],
  ["a malformed login", "POST", "/__svc__/login", { body: "{", headers: json }, malformed],
  ["a file without its parent", "PUT", "/home/no/x", { body: "x" }, parentMissing],
  ["a folder without its parent", "PUT", "/home/no/x/", {}, parentMissing],
  ["a collection without its parent", "MKCOL", "/home/no/x/", {}, parentMissing],
  ["a folder that is there", "PUT", "/home/folder/", {}, exists],
  ["a collection that is there", "MKCOL", "/home/folder/", {}, exists],
  ["a folder where a file is", "PUT", "/home/a.txt/", {}, exists],
  ["a collection where a file is", "MKCOL", "/home/a.txt/", {}, exists],
  ["the root as a folder", "PUT", "/home/", {}, exists],
  ["the root as a collection", "MKCOL", "/home/", {}, exists],
  ["a file where a folder is", "PUT", "/home/folder", { body: "x" }, wrongKind],
  ["a file below a file to put", "PUT", "/home/a.txt/x", { body: "x" }, wrongKind],
  ["a folder below a file", "PUT", "/home/a.txt/x/", {}, wrongKind],
  ["a collection below a file", "MKCOL", "/home/a.txt/x/", {}, wrongKind],
  ["If-Match to put", "PUT", "/home/a.txt", { body: "x", headers: { "if-match": '"other"' } }, preconditionFailed],
  ["If-None-Match to put", "PUT", "/home/a.txt", { body: "x", headers: { "if-none-match": "*" } }, preconditionFailed],
  [
    "If-Unmodified-Since to put",
    "PUT",
    "/home/a.txt",
    { body: "x", headers: { "if-unmodified-since": "Mon, 01 Jan 2001 00:00:00 GMT" } },
    preconditionFailed,
  ],
  ["If-Match to get", "GET", "/home/a.txt", { headers: { "if-match": '"other"' } }, preconditionFailed],
  ["If-Match to remove", "DELETE", "/home/a.txt", { headers: { "if-match": '"other"' } }, preconditionFailed],
  ["a body over 1 MiB", "POST", "/__svc__/login", { body: overLimit, headers: form }, tooLarge],
  ["POST to a file", "POST", "/home/a.txt", { body: "x" }, notAllowed],
  ["POST to a missing file", "POST", "/home/missing", { body: "x" }, notAllowed],
  ["MKCOL of a file", "MKCOL", "/home/a.txt", {}, notAllowed],
  ["MKCOL of a missing file", "MKCOL", "/home/missing", {}, notAllowed],
  ["PUT of the login page", "PUT", "/__svc__/login", {}, notAllowed],
  ["MKCOL with a body", "MKCOL", "/home/new/", { body: "<x/>" }, hasBody],
  ["PROPFIND", "PROPFIND", "/home/folder/", {}, notImplemented],
  ["LOCK", "LOCK", "/home/a.txt", {}, notImplemented],
  ["MOVE", "MOVE", "/home/a.txt", {}, notImplemented],
  ["PATCH", "PATCH", "/home/a.txt", {}, notImplemented],
  ["an unknown method", "BREW", "/home/missing", {}, notImplemented],
  ["an unknown method on the login page", "BREW", "/__svc__/login", {}, notImplemented],
];

describe("the status of a failure", () => {
  it.each(rows)(
    "for %s (%s %s) is the one of its variant (7.1, CONTRACT 1)",
    async (_what, method, path, options, statuses) => {
      const { call } = await createTestService({ files });
      const got: number[] = [];
      for (const variant of variants) {
        const answer = await call(method, path, { variant, ...options });
        got.push(answer.status);
        // Without a preference, a folder's GET speaks HTML.
        expectErrorBody(answer, method === "GET" && path.endsWith("/") && variant === "webdav" ? "html" : variant);
        if (answer.status === 405) expect(answer.header("allow")).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
      }
      expect(got).toEqual(statuses);
    },
  );

  it("is told without doing anything (4.3.5, CONTRACT 4.1)", async () => {
    const { call, storage, stored } = await createTestService({ files });
    for (const [, method, path, options] of rows) {
      for (const variant of variants) await call(method, path, { variant, ...options });
    }
    expect(await stored("/alice/a.txt")).toBe("top");
    expect(await stored("/alice/folder/a.txt")).toBe("a");
    const members: string[] = [];
    for await (const { name } of storage.list("/alice")) members.push(name);
    expect(members.sort()).toEqual(["a.txt", "folder"]);
  });
});

describe("a failed login's status", () => {
  it.each([
    ["json", { errors: [{ message: expect.any(String), title: "Unauthorized" }] }],
    ["webdav", { errors: [{ message: expect.any(String), title: "Unauthorized" }] }],
  ] as const)("is 401 with the errors body and its title in %s (7.1)", async (variant, body) => {
    const { call } = await createTestService();
    const headers = { authorization: "Basic YWxpY2U6d3Jvbmc=" };
    const answer = await call("GET", "/home/x", { variant, headers });
    expect(answer.status).toBe(401);
    expect(answer.json()).toEqual(body);
  });
});

describe("the browser's GET and HEAD of a folder or file", () => {
  it.each([
    [200, "/home/folder/", {}],
    [404, "/home/missing/", {}],
    [404, "/home/missing", {}],
    [400, "/home/a%2fb", {}],
    [412, "/home/a.txt", { "if-match": '"other"' }],
  ])("answers %i to %s as a page (4.6)", async (status, path, headers) => {
    const { call } = await createTestService({ files });
    const page = await call("GET", path, { variant: "html", headers });
    expect(page.status).toBe(status);
    expect(page.header("content-type")).toBe("text/html; charset=utf-8");
    const head = await call("HEAD", path, { variant: "html", headers });
    expect(head.status).toBe(status);
    expect(head.bytes).toHaveLength(0);
  });
});

function expectErrorBody(answer: Answer, variant: Variant): void {
  if (variant === "html") {
    expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.text).toMatch(/^<!doctype html>/);
    return;
  }
  expect(answer.header("content-type")).toBe("application/json; charset=utf-8");
  expect(answer.json()).toEqual({ errors: [{ message: expect.stringMatching(/./) }] });
}
