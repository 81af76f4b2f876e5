import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { createTestService, variants } from "../support/service.ts";

describe("GET /__svc__/health", () => {
  it.each(["GET", "HEAD"])("answers %s with 204 without a login, in every variant and API", async (method) => {
    const { call } = await createTestService();
    for (const variant of variants) {
      const answer = await call(method, "/__svc__/health", { as: null, variant });
      expect([answer.status, answer.header("cache-control"), answer.text]).toEqual([204, "no-store", ""]);
    }
    for (const api of ["rest", "webdav", "browser"] as const) {
      expect((await call(method, "/__svc__/health", { as: null, api })).status).toBe(204);
    }
  });

  it("is below the base path", async () => {
    const { call } = await createTestService({ basePath: "/files" });
    expect((await call("GET", "/files/__svc__/health", { as: null })).status).toBe(204);
    expect((await call("GET", "/__svc__/health", { as: null })).status).toBe(404);
  });

  it("refuses other methods, and has nothing below it", async () => {
    const { call } = await createTestService();
    const answer = await call("PUT", "/__svc__/health", { as: null });
    expect([answer.status, answer.header("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await call("OPTIONS", "/__svc__/health", { as: null })).header("allow")).toBe("GET, HEAD, OPTIONS");
    expect((await call("GET", "/__svc__/health/x", { as: null })).status).toBe(404);
    expect((await call("GET", "/__svc__/health/", { as: null })).status).toBe(404);
  });

  it("asks neither the storage nor a store", async () => {
    let asked = 0;
    const watch = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(own, name, receiver) {
          asked += 1;
          return Reflect.get(own, name, receiver);
        },
      });
    const session = { store: watch(createMemoryKeyValueStore()) };
    const { call } = await createTestService({ storage: watch(createMemoryStorage()), session });
    asked = 0;
    const headers = { Authorization: "Session x", Cookie: "fileferry=x" };
    expect((await call("GET", "/__svc__/health", { as: null, headers })).status).toBe(204);
    expect(asked).toBe(0);
  });
});
