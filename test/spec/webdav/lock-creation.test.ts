import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import type { Answer, TestService } from "../../support/service.ts";
import { call, createDav, undescribed } from "./calls.ts";

const BODY = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`;

function lock(test: TestService, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return call(test, "LOCK", path, headers, BODY);
}

/** Whether anything can be written without a token. */
async function isFree(test: TestService, path: string, headers: Readonly<Record<string, string>> = {}) {
  return (await test.call("PUT", path, { body: "x", headers, undescribed })).status === 201;
}

describe("a LOCK of a name that does not exist, by the way of a PUT of no bytes", () => {
  it("needs the metadata that an upload needs, and leaves no lock without them", async () => {
    const test = await createDav({ metadataFields: "x-labels, required\nproject, required" });
    expect((await lock(test, "/home/new.txt")).status).toBe(400);
    expect(await test.stored("/alice/new.txt")).toBeUndefined();
    expect(await isFree(test, "/home/new.txt", { "x-labels": "project=a" })).toBe(true);
    expect((await lock(test, "/home/other.txt", { "x-labels": "project=a" })).status).toBe(201);
  });

  it("is asked for by beforeCommit, and leaves no lock if that refuses it", async () => {
    const seen: unknown[] = [];
    const test = await createDav({
      beforeCommit: async ({ path, size }) => {
        seen.push([path, size]);
        return size === 0 ? "Empty files are not wanted." : undefined;
      },
    });
    expect((await lock(test, "/home/new.txt")).status).toBe(422);
    expect(seen).toEqual([["/new.txt", 0]]);
    expect(await test.stored("/alice/new.txt")).toBeUndefined();
    expect(await isFree(test, "/home/new.txt")).toBe(true);
  });

  it("tells of the lock and of the upload", async () => {
    const events: FileEvent[] = [];
    const test = await createDav({ onEvent: (event) => void events.push(event) });
    await lock(test, "/home/new.txt");
    expect(events.map(({ id }) => id)).toEqual([40007, 49003, 40021, 40017]);
  });

  it("needs the token of a lock on the folder around it", async () => {
    const test = await createDav();
    const token = (await lock(test, "/home/f/", { depth: "0" })).header("lock-token");
    const refused = await lock(test, "/home/f/new.txt");
    expect([refused.status, refused.text.includes("<D:href>/home/f/</D:href>")]).toEqual([423, true]);
    expect(await test.stored("/alice/f/new.txt")).toBeUndefined();
    expect((await lock(test, "/home/f/new.txt", { if: `</home/f/> (${token})` })).status).toBe(201);
  });
});

describe("a store of locks that is full", () => {
  it("refuses one more lock with 507, and forgets none", async () => {
    const lockStore = createMemoryKeyValueStore({ maxEntries: 3 });
    const test = await createDav({ webdav: { lockStore } });
    const statuses: number[] = [];
    for (const path of ["/home/a.txt", "/home/f/sub/deep.txt", "/home/g/"]) {
      statuses.push((await lock(test, path)).status);
    }
    expect(statuses).toEqual([200, 507, 200]);
    expect(await isFree(test, "/home/a.txt")).toBe(false);
    expect(await isFree(test, "/home/f/sub/deep.txt")).toBe(true);
  });
});
