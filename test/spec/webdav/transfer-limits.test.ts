import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import type { TestService } from "../../support/service.ts";
import { fillStorage } from "../../support/storage.ts";
import { call, createDav, set, undescribed } from "./calls.ts";

/** A service where the only transfer that alice may have at a time is running; the result ends it. */
async function createBusy(): Promise<{ test: TestService; end: () => Promise<void> }> {
  const [home, other] = [createMemoryStorage(), createMemoryStorage()];
  await fillStorage(home, { "/alice/": "" });
  await fillStorage(other, { "/taken.txt": "taken" });
  const storage = mountStorage({ "/": home, "/alice/other": other });
  const test = await createDav({ storage, limits: { transfersPerAccount: 1 } });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const upload = test.call("PUT", "/home/slow.txt", { body: readable, undescribed });
  await writer.write(new TextEncoder().encode("slow"));
  return {
    test,
    async end() {
      await writer.close();
      expect((await upload).status).toBe(201);
    },
  };
}

describe("transfersPerAccount with the methods of WebDAV", () => {
  it("counts what may read content, and no move within one storage", async () => {
    const { test, end } = await createBusy();
    expect((await call(test, "COPY", "/home/a.txt", { destination: "/home/b.txt" })).status).toBe(503);
    expect((await call(test, "PROPPATCH", "/home/a.txt", {}, set("<x:a/>"))).status).toBe(503);
    expect((await call(test, "MOVE", "/home/a.txt", { destination: "/home/b.txt" })).status).toBe(201);
    expect((await call(test, "PROPFIND", "/home/", { depth: "1" })).status).toBe(207);
    await end();
  });

  it("counts a move between two storages, which changes nothing if there are too many", async () => {
    const { test, end } = await createBusy();
    const move = () => call(test, "MOVE", "/home/a.txt", { destination: "/home/other/taken.txt" });
    const refused = await move();
    expect([refused.status, refused.header("error-code")]).toEqual([503, "too-many-transfers"]);
    const commands = [{ command: "move", target: "f", destination: "other/f" }];
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ commands });
    expect((await test.call("POST", "/home/", { variant: "json", headers, body })).status).toBe(422);
    expect([await test.stored("/alice/a.txt"), await test.stored("/alice/other/taken.txt")]).toEqual(["a", "taken"]);
    await end();
    expect((await move()).status).toBe(204);
    expect(await test.stored("/alice/other/taken.txt")).toBe("a");
  });
});
