import { describe, expect, it } from "vitest";
import { createTestService } from "../support/service.ts";

/** A PUT onto a folder's name is answered with another status in every variant (CONTRACT 1). */
const variantOfStatus: Readonly<Record<number, string>> = { 422: "json", 409: "webdav", 400: "html" };

type Row = readonly [accept: string | undefined, contentType: string | undefined, variant: string];

const browsers = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

function toHeaders(accept: string | undefined, contentType: string | undefined): Record<string, string> {
  return {
    ...(accept !== undefined && { accept }),
    ...(contentType !== undefined && { "content-type": contentType }),
  };
}

describe("the variant of a request", () => {
  it.each<Row>([
    [undefined, undefined, "webdav"],
    ["*/*", undefined, "webdav"],
    ["", undefined, "webdav"],
    [",,;;", undefined, "webdav"],
    ["application/json", undefined, "json"],
    ["APPLICATION/JSON", undefined, "json"],
    ["application/json; charset=utf-8", undefined, "json"],
    ["application/json;q=0.001", undefined, "json"],
    ["application/json, text/plain, */*", undefined, "json"],
    ["application/json;q=0.7, */*;q=0.7", undefined, "json"],
    ["image/png, application/json;q=0.1", undefined, "json"],
    ["application/json;q=0.5, text/html;q=0.4", undefined, "json"],
    ["text/html;q=0, application/json", undefined, "json"],
    ["application/json;q=0.4, text/html;q=0.5", undefined, "html"],
    ["application/json; q=0.4, text/html; q=0.5", undefined, "html"],
    ["application/json ;charset=utf-8 ; q=0.4 , text/html ; q=0.5", undefined, "html"],
    ["text/html;charset=utf-8;q=0.4, application/json; charset=utf-8; q=0.5", undefined, "json"],
    ["text/html", undefined, "html"],
    ["text/html;charset=utf-8", undefined, "html"],
    [browsers, undefined, "html"],
    ["text/html;q=0.1, */*;q=0.1", undefined, "html"],
    ["text/html, application/json;q=0.9", undefined, "html"],
    ["text/plain", undefined, "webdav"],
    ["application/xml, text/xml", undefined, "webdav"],
    ["application/json;q=0", undefined, "webdav"],
    ["application/json;q=0.5, */*;q=0.8", undefined, "webdav"],
    [`${"a/b,".repeat(99)}application/json`, undefined, "json"],
    // Looking at 4,000 of them took longer than most answers.
    [`${"a/b,".repeat(100)}application/json`, undefined, "webdav"],
    [undefined, "application/json", "json"],
    [undefined, "application/json; charset=utf-8", "json"],
    ["*/*", "application/json", "json"],
    ["text/plain", "application/json", "json"],
    ["text/html", "application/json", "html"],
    [browsers, "application/json", "html"],
    ["application/json", "text/html", "json"],
    [undefined, "text/html", "html"],
    ["*/*", "text/html; charset=utf-8", "html"],
    [undefined, "text/plain", "webdav"],
    [undefined, "application/octet-stream", "webdav"],
    [undefined, "multipart/form-data; boundary=x", "webdav"],
    ["application/json", "multipart/form-data; boundary=x", "json"],
  ])("with Accept %j and Content-Type %j is %s (1.5, CONTRACT 1)", async (accept, contentType, variant) => {
    const { call } = await createTestService({ files: { "/alice/folder/": "" } });
    const answer = await call("PUT", "/home/folder", { headers: toHeaders(accept, contentType), body: "x" });
    expect(variantOfStatus[answer.status]).toBe(variant);
    const isPage = answer.header("content-type")?.startsWith("text/html");
    expect(isPage).toBe(variant === "html");
  });

  it.each<Row>([
    [undefined, undefined, "text/html"],
    ["*/*", undefined, "text/html"],
    ["text/html", undefined, "text/html"],
    [browsers, undefined, "text/html"],
    ["text/plain", undefined, "text/html"],
    ["application/json;q=0", undefined, "text/html"],
    ["application/json;q=0.5, text/html;q=0.9", undefined, "text/html"],
    ["application/json", undefined, "application/json"],
    ["application/json; charset=utf-8", undefined, "application/json"],
    ["application/json, text/plain, */*", undefined, "application/json"],
    [undefined, "application/json; charset=utf-8", "application/json"],
    ["*/*", "application/json", "application/json"],
    ["text/html", "application/json", "text/html"],
  ])("lists a folder with Accept %j and Content-Type %j as %s (1.5, CONTRACT 1)", async (accept, contentType, type) => {
    const { call } = await createTestService();
    for (const method of ["GET", "HEAD"]) {
      const answer = await call(method, "/home/", { headers: toHeaders(accept, contentType) });
      expect(answer.status).toBe(200);
      expect(answer.header("content-type")).toBe(`${type}; charset=utf-8`);
    }
  });

  it.each<Row>([
    [undefined, "multipart/form-data; boundary=x", "text/html"],
    ["*/*", "multipart/form-data; boundary=x", "text/html"],
    ["text/plain", "multipart/form-data; boundary=x", "text/html"],
    ["application/json", "multipart/form-data; boundary=x", "application/json"],
    [undefined, "application/x-www-form-urlencoded", "application/json"],
  ])("answers a POST with Accept %j and Content-Type %j as %s (CONTRACT 1)", async (accept, contentType, type) => {
    const { call } = await createTestService({ files: { "/alice/a.txt": "x" } });
    const answer = await call("POST", "/home/a.txt", { headers: toHeaders(accept, contentType), body: "x" });
    expect(answer.status).toBe(405);
    expect(answer.header("content-type")).toBe(`${type}; charset=utf-8`);
  });

  it("is JSON by default for errors (1.5)", async () => {
    const { call } = await createTestService();
    const answer = await call("GET", "/home/missing");
    expect(answer.status).toBe(404);
    expect(answer.json()).toEqual({ errors: [{ message: expect.any(String) }] });
  });

  it("does not change what a file's GET answers (4.2, 4.5, 4.6)", async () => {
    const { call } = await createTestService({ files: { "/alice/a.json": "{}" } });
    for (const variant of ["json", "webdav", "html"] as const) {
      const answer = await call("GET", "/home/a.json", { variant });
      expect([answer.status, answer.text, answer.header("content-type")]).toEqual([200, "{}", "application/json"]);
    }
  });
});
