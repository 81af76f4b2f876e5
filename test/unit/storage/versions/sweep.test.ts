import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { createVersionsStorage } from "../../../../src/storage/versions.ts";
import { put, readFileText } from "../../../../src/testing/storage/content.ts";
import { fillStorage, overrideStorage } from "../../../support/storage.ts";
import { pathsIn } from "../trash/setup.ts";
import { openVersions, textsOf, versionsOf } from "./setup.ts";

const ID = "20260101T000000000Z-0123456789abcdef";
const MOVES = "/__svc__/versions-moves";

describe("the sweep of versions", () => {
  it("leaves out what a crash has left of a write, and removes it an hour later", async () => {
    const { inner, storage, pass } = openVersions();
    await put(storage, "/a", "one");
    await put(storage, "/a", "two");
    await fillStorage(inner, { "/__svc__/versions/a~v/20260101T000100000Z-0123456789abcdef": "two" });
    expect(await textsOf(storage, "/a")).toEqual(["one"]);
    expect(await storage.versions.sweep()).toBe(0);
    pass(3700);
    expect(await storage.versions.sweep()).toBe(1);
    expect(await textsOf(storage, "/a")).toEqual(["one"]);
    await put(storage, "/a", "three");
    expect(await textsOf(storage, "/a")).toEqual(["two", "one"]);
  });

  it("removes those beyond the number, which other processes have made", async () => {
    const memory = createMemoryStorage();
    const { storage } = openVersions({ keep: 9 }, memory);
    for (const text of ["1", "2", "3", "4", "5"]) await put(storage, "/a", text);
    const strict = createVersionsStorage(memory, { keep: 2 });
    expect(await textsOf(strict, "/a")).toEqual(["4", "3"]);
    expect(await strict.versions.sweep()).toBe(2);
    expect(await textsOf(storage, "/a")).toEqual(["4", "3"]);
  });

  it.each([
    ["a file that has moved", { from: "/old", to: "/a", kind: "file", ids: [ID] }, "/old", "/a"],
    ["a file that has not moved", { from: "/a", to: "/new", kind: "file", ids: [ID] }, "/new", "/a"],
    ["a file that was not moved over another", { from: "/a", to: "/b", kind: "file", ids: [ID] }, "/b", "/a"],
    ["a folder that has moved", { from: "/gone", to: "/folder", kind: "folder" }, "/gone/c", "/folder/c"],
    ["a folder that has not moved", { from: "/folder", to: "/gone", kind: "folder" }, "/gone/c", "/folder/c"],
    ["a removed file", { from: "/gone", kind: "file" }, "/gone", undefined],
    ["a file that was not removed", { from: "/a", kind: "file" }, "/a", "/a"],
  ])("ends what a crash has left: the versions of %s", async (_, record, at, expected) => {
    const { inner, storage, pass } = openVersions();
    const text = JSON.stringify(record);
    await fillStorage(inner, { "/a": "a", "/b": "b", "/folder/c": "c", [`/__svc__/versions${at}~v/${ID}`]: "former" });
    await fillStorage(inner, { [`${MOVES}/${ID}`]: text, [`${MOVES}/20260101T020000000Z-0123456789abcdef`]: "{" });
    pass(3700);
    await storage.versions.sweep();
    const ids = (await pathsIn(inner)).filter((path) => path.endsWith(ID));
    expect(ids).toEqual(expected === undefined ? [] : [`/__svc__/versions${expected}~v/${ID}`]);
    expect((await pathsIn(inner)).filter((path) => path.startsWith(`${MOVES}/2`)).length).toBe(1);
    pass(7200);
    await storage.versions.sweep();
    expect((await pathsIn(inner)).filter((path) => path.startsWith(`${MOVES}/2`))).toEqual([]);
  });

  it("removes no file of a move that a crash has cut off if the other one is a file of its own", async () => {
    const { inner, storage, pass } = openVersions();
    for (const text of ["one", "two"]) await put(storage, "/a", text);
    await put(storage, "/b", "two");
    const [version] = await versionsOf(storage, "/a");
    const record = { from: "/a", to: "/b", kind: "file", etag: (await storage.stat("/a"))?.etag, ids: [version?.id] };
    await fillStorage(inner, { [`${MOVES}/${ID}`]: JSON.stringify(record) });
    pass(3700);
    await storage.versions.sweep();
    expect([await readFileText(storage, "/a"), await readFileText(storage, "/b")]).toEqual(["two", "two"]);
    expect([await textsOf(storage, "/a"), await textsOf(storage, "/b")]).toEqual([["one"], []]);
  });

  it("goes on after folders that fail, and then reports a failure", async () => {
    const memory = createMemoryStorage();
    const { storage } = openVersions({ keep: 9 }, memory);
    const names = Array.from({ length: 30 }, (_, index) => `/${String(index).padStart(2, "0")}`);
    for (const name of names) for (const text of ["1", "2", "3"]) await put(storage, name, text);
    const failing = overrideStorage(memory, {
      async remove(path, options) {
        if (/\/0\d~v\//.test(path)) throw new Error("This version cannot be removed.");
        await memory.remove(path, options);
      },
    });
    const strict = createVersionsStorage(failing, { keep: 1 });
    await expect(strict.versions.sweep()).rejects.toThrow("cannot be removed");
    const left = await Promise.all(names.map(async (name) => (await versionsOf(storage, name)).length));
    expect(left).toEqual(names.map((name) => (name.startsWith("/0") ? 2 : 1)));
  });

  it("removes empty folders an hour later, and brings back what has come into one", async () => {
    const { inner, storage, pass } = openVersions();
    await fillStorage(storage, { "/home/a": "1", "/home/b": "1" });
    for (const path of ["/home/a", "/home/b"]) await put(storage, path, "2");
    for (const path of ["/home/a", "/home/b"]) {
      const [version] = await versionsOf(storage, path);
      await storage.versions.purge(path, version?.id ?? "");
    }
    await storage.versions.sweep();
    const aside = (await pathsIn(inner)).filter((path) => path.includes("/versions-unused/"));
    expect(aside.length).toBe(2);
    // Another process was about to use it.
    const used = aside.find((path) => path.endsWith("a~v/")) ?? "";
    await fillStorage(inner, { [`${used}${ID}`]: "former" });
    pass(3700);
    await storage.versions.sweep();
    expect(await textsOf(storage, "/home/a")).toEqual(["former"]);
    expect((await pathsIn(inner)).filter((path) => /versions-unused\/2.*~v/.test(path))).toEqual([]);
  });
});
