import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTestService, variants } from "../../support/service.ts";
import { fillStorage, overrideStorage } from "../../support/storage.ts";

/** A service whose storage has something else at a path when it comes to the removal. */
async function createSwapped(path: string, ...others: readonly string[]) {
  const memory = createMemoryStorage();
  const storage = overrideStorage(memory, {
    async remove(removed, options) {
      if (removed === path) {
        await memory.remove(path);
        await fillStorage(memory, Object.fromEntries(others.map((other) => [other, "new"])));
      }
      await memory.remove(removed, options);
    },
  });
  return createTestService({ storage, files });
}

const files = { "/alice/f/g/h/deep": "x", "/alice/f/a": "x", "/alice/fx/b": "x", "/alice/a": "x", "/bob/c": "x" };

describe("DELETE /home/<path>", () => {
  it("removes the file and answers 204 (4.2, 4.5)", async () => {
    for (const variant of variants) {
      const { call, stored } = await createTestService({ files });
      const answer = await call("DELETE", "/home/f/a", { variant });
      expect(answer.status).toBe(204);
      expect(answer.bytes).toHaveLength(0);
      expect(answer.header("server-path")).toBe("/f/a");
      expect(await stored("/alice/f/a")).toBeUndefined();
      expect(await stored("/alice/f/g/h/deep")).toBe("x");
    }
  });

  it("removes a folder that If-Match: * demands to be there (RFC 9110 13.1.1)", async () => {
    const { call, storage } = await createTestService({ files });
    expect((await call("DELETE", "/home/f/", { headers: { "if-match": "*" } })).status).toBe(204);
    expect(await storage.stat("/alice/f")).toBeUndefined();
  });

  it("answers 404 for what is not there (7.1)", async () => {
    const { call } = await createTestService({ files });
    for (const path of ["/home/missing", "/home/no/missing", "/home/a/b", "/home/A"]) {
      expect((await call("DELETE", path)).status).toBe(404);
    }
  });

  it("answers 404 the second time (7.1)", async () => {
    const { call } = await createTestService({ files });
    expect((await call("DELETE", "/home/a")).status).toBe(204);
    expect((await call("DELETE", "/home/a")).status).toBe(404);
  });

  it("removes no folder that takes the file's place after it was looked at: 404 (4.2)", async () => {
    for (const headers of [{}, { "if-match": "*" }]) {
      const { call, stored } = await createSwapped("/alice/a", "/alice/a/deep/b", "/alice/a/c");
      expect((await call("DELETE", "/home/a", { headers })).status).toBe(404);
      expect([await stored("/alice/a/deep/b"), await stored("/alice/a/c")]).toEqual(["new", "new"]);
    }
  });

  it("removes no folder: it is redirected (4.2, CONTRACT 2.5)", async () => {
    const { call, stored } = await createTestService({ files });
    expect((await call("DELETE", "/home/f")).status).toBe(307);
    expect(await stored("/alice/f/a")).toBe("x");
  });
});

describe("DELETE /home/<folder>/", () => {
  it("removes the folder with everything under it and answers 204 (4.2, 4.5)", async () => {
    for (const variant of variants) {
      const { call, storage, stored } = await createTestService({ files });
      expect((await call("DELETE", "/home/f/", { variant })).status).toBe(204);
      for (const path of ["/alice/f", "/alice/f/a", "/alice/f/g", "/alice/f/g/h/deep"]) {
        expect(await storage.stat(path)).toBeUndefined();
      }
      expect(await stored("/alice/fx/b")).toBe("x");
      expect(await stored("/alice/a")).toBe("x");
      expect(await stored("/bob/c")).toBe("x");
    }
  });

  it("removes an empty folder (4.2)", async () => {
    const { call, storage } = await createTestService({ files: { "/alice/empty/": "" } });
    expect((await call("DELETE", "/home/empty/")).status).toBe(204);
    expect(await storage.stat("/alice/empty")).toBeUndefined();
  });

  it("answers 404 for what is not there (7.1)", async () => {
    const { call } = await createTestService({ files });
    for (const path of ["/home/missing/", "/home/no/missing/"]) expect((await call("DELETE", path)).status).toBe(404);
  });

  it("removes no file that takes the folder's place after it was looked at: 404 (4.2)", async () => {
    const { call, stored } = await createSwapped("/alice/f", "/alice/f");
    expect((await call("DELETE", "/home/f/")).status).toBe(404);
    expect(await stored("/alice/f")).toBe("new");
  });

  it("answers 404 for a file's name with a trailing / and leaves the file (CONTRACT 2.5)", async () => {
    const { call, stored } = await createTestService({ files });
    expect((await call("DELETE", "/home/a/")).status).toBe(404);
    expect(await stored("/alice/a")).toBe("x");
  });

  it("never removes the account's root: 403 (CONTRACT 4.4)", async () => {
    const { call, stored } = await createTestService({ files });
    for (const as of ["alice", "root"] as const) {
      for (const variant of variants) expect((await call("DELETE", "/home/", { as, variant })).status).toBe(403);
    }
    expect(await stored("/alice/a")).toBe("x");
    expect(await stored("/bob/c")).toBe("x");
  });

  it("refuses the reserved name by 403 (CONTRACT 2.3)", async () => {
    const { call, stored } = await createTestService({ files: { "/alice/__svc__/x": "x" } });
    for (const path of ["/home/__svc__/", "/home/__svc__", "/home/__svc__/x"]) {
      expect((await call("DELETE", path)).status).toBe(403);
    }
    expect(await stored("/alice/__svc__/x")).toBe("x");
  });
});
