import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { fillStorage, withLinks } from "../../support/storage.ts";

async function createTest(): Promise<TestService> {
  const base = createMemoryStorage();
  await fillStorage(base, { "/alice/f/a": "x" });
  return createTestService({ storage: withLinks(base, ["/alice/link", "/alice/f/link"]) });
}

describe("a link of the storage", () => {
  it("is not listed, as JSON or HTML (CONTRACT 2.8)", async () => {
    const { call } = await createTest();
    expect((await call("GET", "/home/", { variant: "json" })).json()).toMatchObject({ content: [{ name: "f" }] });
    expect((await call("GET", "/home/f/", { variant: "json" })).text).not.toContain("link");
    const page = (await call("GET", "/home/f/", { variant: "html" })).text;
    expect(page).toContain('<main id="folder"');
    expect(page).not.toContain('data-name="link"');
  });

  it.each(["GET", "HEAD"])("does not exist for %s (CONTRACT 2.8)", async (method) => {
    const { call } = await createTest();
    for (const path of ["/home/link", "/home/link/", "/home/link/x", "/home/f/link"]) {
      expect((await call(method, path)).status).toBe(404);
      const conditional = await call(method, path, { headers: { "if-none-match": "*", range: "bytes=0-1" } });
      expect(conditional.status).toBe(404);
    }
  });

  it("is replaced by PUT, never followed (CONTRACT 2.8)", async () => {
    const { call } = await createTest();
    expect((await call("PUT", "/home/link", { body: "a file now" })).status).toBe(201);
    expect((await call("GET", "/home/link")).text).toBe("a file now");
  });

  it("is removed itself by DELETE (CONTRACT 2.8)", async () => {
    const { call, storage } = await createTest();
    expect((await call("DELETE", "/home/link")).status).toBe(204);
    expect(await storage.stat("/alice/link")).toBeUndefined();
    expect((await call("DELETE", "/home/link")).status).toBe(404);
  });

  it("is removed itself by a command (CONTRACT 2.8)", async () => {
    const { call, storage } = await createTest();
    const body = JSON.stringify({ commands: [{ command: "delete", target: "link" }] });
    const headers = { "content-type": "application/json" };
    expect((await call("POST", "/home/f/", { body, headers })).status).toBe(200);
    expect(await storage.stat("/alice/f/link")).toBeUndefined();
  });

  it("does not become a folder (4.2)", async () => {
    const { call } = await createTest();
    for (const method of ["PUT", "MKCOL"]) {
      expect((await call(method, "/home/link/", { variant: "webdav" })).status).toBe(405);
    }
  });
});
