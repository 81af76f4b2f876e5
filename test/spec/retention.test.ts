import { describe, expect, it } from "vitest";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { createTestService } from "../support/service.ts";

const retention = [{ path: "/", seconds: 60 }];
const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';

describe("files whose retention is over", () => {
  it("stay while a WebDAV client has locked them, or their folder", async () => {
    const files = { "/alice/a": "a", "/alice/locked": "b", "/alice/folder/c": "c", "/alice/deep/down/d": "d" };
    const { call, service, stored, advance, storage } = await createTestService({ files, webdav: {}, retention });
    for (const [path, depth] of [
      ["locked", "0"],
      ["folder/", "0"],
      ["deep/", "infinity"],
    ]) {
      const headers = { "content-type": "application/xml", timeout: "Second-600", depth: depth ?? "" };
      const undescribed = "OpenAPI has no place for the methods of WebDAV";
      expect((await call("LOCK", `/home/${path}`, { headers, body: LOCK, undescribed })).status).toBe(200);
    }
    advance(120);
    expect(await service.sweep()).toBe(1);
    const texts = ["a", "locked", "folder/c", "deep/down/d"].map((path) => stored(`/alice/${path}`));
    expect(await Promise.all(texts)).toEqual([undefined, "b", "c", "d"]);
    advance(3600);
    expect(await service.sweep()).toBe(3);
    expect(await storage.stat("/alice/deep/down")).toMatchObject({ kind: "folder" });
  });

  it("stay if the store of the locks fails", async () => {
    const lockStore = { ...createMemoryKeyValueStore(), get: () => Promise.reject(new Error("The store is down.")) };
    const { service, stored, advance } = await createTestService({
      files: { "/alice/a": "a" },
      webdav: { lockStore },
      retention,
    });
    advance(120);
    await expect(service.sweep()).rejects.toMatchObject({ failure: "unavailable" });
    expect(await stored("/alice/a")).toBe("a");
  });
});
