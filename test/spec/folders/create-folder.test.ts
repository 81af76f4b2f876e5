import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { recordedBody, streamOf } from "../../support/bodies.ts";
import { createTestService, variants } from "../../support/service.ts";

const files = { "/alice/f/a": "x", "/alice/file": "x" };

describe.each(["PUT", "MKCOL"])("%s /home/<folder>/", (method) => {
  it("creates the folder and answers 201 (4.2, 4.5)", async () => {
    const { call, storage } = await createTestService({ files });
    for (const variant of ["json", "webdav"] as const) {
      const answer = await call(method, `/home/f/${variant}/`, { variant });
      expect(answer.status).toBe(201);
      expect(answer.header("server-path")).toBe(`/f/${variant}`);
      expect((await storage.stat(`/alice/f/${variant}`))?.kind).toBe("folder");
    }
  });

  it("fails when the folder exists, and leaves it as it is (4.2, 4.5)", async () => {
    const { call, stored } = await createTestService({ files });
    const statuses = [];
    for (const variant of variants) statuses.push((await call(method, "/home/f/", { variant })).status);
    expect(statuses).toEqual([422, 405, 400]);
    expect(await stored("/alice/f/a")).toBe("x");
  });

  it("fails when a file has the same name, and leaves it as it is (4.5, CONTRACT 2.5)", async () => {
    const { call, stored } = await createTestService({ files });
    const statuses = [];
    for (const variant of variants) statuses.push((await call(method, "/home/file/", { variant })).status);
    expect(statuses).toEqual([422, 405, 400]);
    expect(await stored("/alice/file")).toBe("x");
  });

  it("fails when the parent folder is missing, and creates nothing (4.2)", async () => {
    const { call, storage } = await createTestService({ files });
    const statuses = [];
    for (const variant of variants) statuses.push((await call(method, "/home/no/x/", { variant })).status);
    expect(statuses).toEqual([422, 409, 400]);
    expect(await storage.stat("/alice/no")).toBeUndefined();
  });

  it("says by Allow what an existing folder takes (CONTRACT 1)", async () => {
    const { call } = await createTestService({ files });
    const answer = await call(method, "/home/f/", { variant: "webdav" });
    expect(answer.status).toBe(405);
    expect(answer.header("allow")?.split(", ")).toEqual(expect.arrayContaining(["GET", "HEAD", "DELETE", "OPTIONS"]));
  });

  it("takes an announced length of 0 for no body (4.5)", async () => {
    const { call } = await createTestService();
    expect((await call(method, "/home/x/", { headers: { "content-length": "0" } })).status).toBe(201);
    expect((await call(method, "/home/y/", { body: "" })).status).toBe(201);
  });

  it("takes a body without a byte for none: there are hosts that give one to every request (4.5)", async () => {
    const { call } = await createTestService();
    expect((await call(method, "/home/x/", { body: streamOf() })).status).toBe(201);
    expect((await call(method, "/home/y/", { body: streamOf("", "") })).status).toBe(201);
  });

  it("refuses a body by 415 and creates nothing (CONTRACT 1)", async () => {
    const { call, storage } = await createTestService();
    for (const variant of variants) {
      expect((await call(method, "/home/x/", { variant, body: "<mkcol/>" })).status).toBe(415);
      expect((await call(method, "/home/x/", { variant, body: streamOf("<mkcol/>") })).status).toBe(415);
    }
    expect(await storage.stat("/alice/x")).toBeUndefined();
  });

  it("refuses the reserved name by 403, but only at the root (CONTRACT 2.3)", async () => {
    const { call } = await createTestService({ files });
    expect((await call(method, "/home/__svc__/")).status).toBe(403);
    expect((await call(method, "/home/__svc__/x/")).status).toBe(403);
    expect((await call(method, "/home/f/__svc__/")).status).toBe(201);
  });

  it("refuses the root, which is there (CONTRACT 1)", async () => {
    const { call } = await createTestService({ files });
    const statuses = [];
    for (const variant of variants) statuses.push((await call(method, "/home/", { variant })).status);
    expect(statuses).toEqual([422, 405, 400]);
  });

  it("creates a folder once, however many try (4.2)", async () => {
    const { call } = await createTestService();
    const answers = await Promise.all([1, 2, 3, 4].map(() => call(method, "/home/x/", { variant: "json" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422]);
  });

  it("creates the folder that is then listed, with a name as awkward as may be (CONTRACT 2.2)", async () => {
    const { call } = await createTestService({ storage: createMemoryStorage() });
    const name = " 100% \u{1f600} <b>'\"; ";
    expect((await call(method, `/home/${encodeURIComponent(name)}/`)).status).toBe(201);
    expect((await call("GET", "/home/", { variant: "json" })).json()).toEqual({
      content: [{ name, is_directory: true, modified: expect.any(Number), size: 0 }],
    });
  });
});

describe("MKCOL /home/<path>", () => {
  it("is not supported for file URLs: 405 with Allow (4.5, CONTRACT 1)", async () => {
    const { call, storage } = await createTestService({ files });
    for (const path of ["/home/file", "/home/new"]) {
      for (const variant of variants) {
        const answer = await call("MKCOL", path, { variant });
        expect(answer.status).toBe(405);
        expect(answer.header("allow")).toContain("PUT");
      }
    }
    expect(await storage.stat("/alice/new")).toBeUndefined();
  });
});

describe("PUT /home/<folder>/ with content", () => {
  it.each<[fields: Record<string, string>, most: number]>([
    [{ "content-length": "100" }, 0],
    [{ "transfer-encoding": "chunked", expect: "100-continue" }, 0],
    // To see whether it has content.
    [{ "transfer-encoding": "chunked" }, 5],
  ])("is refused before its body is read, with %j (CONTRACT 4.3)", async (headers, most) => {
    const { call, storage } = await createTestService();
    const body = recordedBody(..."x".repeat(100));
    expect((await call("PUT", "/home/x/", { body: body.stream, headers })).status).toBe(415);
    expect(body.pulls()).toBeLessThanOrEqual(most);
    expect(await storage.stat("/alice/x")).toBeUndefined();
  });

  it("has none if its body is empty", async () => {
    const { call } = await createTestService();
    const headers = { "transfer-encoding": "chunked" };
    expect((await call("PUT", "/home/x/", { body: streamOf(), headers })).status).toBe(201);
  });
});
