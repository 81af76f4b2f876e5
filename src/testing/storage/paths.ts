import { expect, expectEqual, expectRefusal, rejectionOf } from "../expectations.ts";
import type { StorageCase } from "./case.ts";
import { firstOf, makeFilledFolder, namesIn, put, readFileText, untouched } from "./content.ts";

const NOT_CANONICAL = ["", "a", "a/b", "//", "/a/", "//a", "/a//b", "/.", "/..", "/a/.", "/a/../b", "/./a"];

/** Cases about what is at a path: `stat`, `list`, `createFolder`. */
export const pathCases: readonly StorageCase[] = [
  {
    name: "stat: the root is a folder with an empty name",
    async run({ storage }) {
      const root = await storage.stat("/");
      expectEqual([root?.name, root?.kind, root?.size, root?.etag], ["", "folder", 0, undefined], "root");
    },
  },
  {
    name: "stat: undefined for a missing member, below a missing folder and below a file",
    async run({ storage }) {
      await put(storage, "/file", "x");
      for (const path of ["/missing", "/missing/a/b", "/file/a", "/file/a/b"]) {
        expectEqual(await storage.stat(path), undefined, path);
      }
    },
  },
  {
    name: "stat: returns name, kind, size and current time of a new file and a new folder",
    async run({ storage }) {
      await storage.createFolder("/folder");
      await put(storage, "/folder/file.txt", "12345");
      const file = await storage.stat("/folder/file.txt");
      const folder = await storage.stat("/folder");
      expectEqual([file?.name, file?.kind, file?.size], ["file.txt", "file", 5], "file");
      expectEqual(
        [folder?.name, folder?.kind, folder?.size, folder?.etag],
        ["folder", "folder", 0, undefined],
        "folder",
      );
      for (const entry of [file, folder]) {
        const distance = Math.abs((entry?.modified.getTime() ?? 0) - Date.now());
        expect(distance < 120_000, `${entry?.name} was modified about now`);
      }
    },
  },
  {
    name: "every method throws TypeError for a path that is not canonical",
    async run({ storage }) {
      for (const path of NOT_CANONICAL) {
        const content = untouched();
        const calls: (() => Promise<unknown>)[] = [
          () => storage.stat(path),
          () => firstOf(storage, path),
          () => storage.read(path),
          () => storage.write(path, content),
          () => storage.createFolder(path),
          () => storage.remove(path),
        ];
        for (const call of calls) {
          const error = await rejectionOf(Promise.resolve().then(call));
          expectEqual(error instanceof TypeError, true, `${JSON.stringify(path)} is a TypeError for ${call}`);
        }
        expect(!content.wasTouched(), "content was left alone");
      }
    },
  },
  {
    name: "list: returns nothing for an empty root and a new folder",
    async run({ storage }) {
      expectEqual(await namesIn(storage, "/"), [], "root");
      await storage.createFolder("/new");
      expectEqual(await namesIn(storage, "/new"), [], "new folder");
    },
  },
  {
    name: "list: returns the members of this folder only, with the entries of stat",
    async run({ storage }) {
      await storage.createFolder("/a");
      await storage.createFolder("/a/folder");
      await put(storage, "/a/folder/deep", "deep");
      await put(storage, "/a/file", "123");
      await put(storage, "/ab", "beside");
      expectEqual(await namesIn(storage, "/"), ["a", "ab"], "root");
      expectEqual(await namesIn(storage, "/a"), ["file", "folder"], "/a");
      for await (const entry of storage.list("/a")) {
        expectEqual(entry, await storage.stat(`/a/${entry.name}`), entry.name);
      }
    },
  },
  {
    name: "list: not-found for a missing folder and not-a-folder for a file, both at the first step",
    async run({ storage }) {
      await put(storage, "/file", "x");
      for (const path of ["/missing", "/missing/a", "/file/a", "/file/a/b"]) {
        await expectRefusal(firstOf(storage, path), "not-found");
      }
      await expectRefusal(firstOf(storage, "/file"), "not-a-folder");
    },
  },
  {
    name: "list: returns each of 2,000 members once",
    async run(context) {
      await makeFilledFolder(context, "/many", 2000);
      const names = await namesIn(context.storage, "/many");
      expectEqual([names.length, new Set(names).size], [2000, 2000], "members and different members");
    },
  },
  {
    name: "list: does not fail while members appear and disappear, and returns all others once",
    async run(context) {
      const { storage } = context;
      await makeFilledFolder(context, "/busy", 200);
      const seen: string[] = [];
      for await (const { name } of storage.list("/busy")) {
        seen.push(name);
        if (seen.length % 10 !== 1) continue;
        await put(storage, `/busy/new-${seen.length}`, "new");
        await storage.remove(`/busy/${199 - (seen.length - 1) / 10}`).catch(() => {});
      }
      const kept = seen.filter((name) => !name.startsWith("new-") && Number(name) < 170);
      expectEqual([kept.length, new Set(seen).size], [170, seen.length], "untouched members, and all different");
    },
  },
  {
    name: "list: can be stopped early many times",
    async run(context) {
      await makeFilledFolder(context, "/left", 100);
      for (let round = 0; round < 100; round += 1) {
        for await (const entry of context.storage.list("/left")) {
          expectEqual(entry.kind, "file", "kind");
          break;
        }
      }
      expectEqual((await namesIn(context.storage, "/left")).length, 100, "members in the end");
    },
  },
  {
    name: "createFolder: already-exists for a folder, a file and the root",
    async run({ storage }) {
      await storage.createFolder("/folder");
      await put(storage, "/folder/kept", "kept");
      await put(storage, "/file", "kept");
      for (const path of ["/folder", "/file", "/"]) await expectRefusal(storage.createFolder(path), "already-exists");
      expectEqual(
        [await readFileText(storage, "/folder/kept"), await readFileText(storage, "/file")],
        ["kept", "kept"],
        "content",
      );
    },
  },
  {
    name: "createFolder: parent-missing below a missing folder, not-a-folder below a file",
    async run({ storage }) {
      await put(storage, "/file", "x");
      await expectRefusal(storage.createFolder("/missing/a"), "parent-missing");
      await expectRefusal(storage.createFolder("/file/a"), "not-a-folder");
      await expectRefusal(storage.createFolder("/file/a/b"), "not-a-folder");
      expectEqual(await namesIn(storage, "/"), ["file"], "root");
    },
  },
  {
    name: "createFolder: denied for an unknown user or group, before the path is checked, and creates nothing",
    async run({ storage }) {
      for (const owner of [
        { user: "no such user" },
        { group: "no such group" },
        { user: "-u" },
        { group: "4294967295" },
      ]) {
        await expectRefusal(storage.createFolder("/owned", { owner }), "denied");
        await expectRefusal(storage.createFolder("/missing/owned", { owner }), "denied");
      }
      expectEqual(await namesIn(storage, "/"), [], "root");
      await storage.createFolder("/own", { owner: {} });
      expectEqual(await namesIn(storage, "/"), ["own"], "root");
    },
  },
  {
    name: "createFolder: exactly one of 20 parallel calls for one path succeeds",
    async run({ storage }) {
      const makers = Array.from({ length: 20 }, () => storage.createFolder("/race"));
      const outcomes = await Promise.allSettled(makers);
      expectEqual(outcomes.filter(({ status }) => status === "fulfilled").length, 1, "successful makers");
      await Promise.all(
        outcomes.map(
          (outcome, index) =>
            outcome.status === "rejected" && expectRefusal(makers[index] ?? Promise.resolve(), "already-exists"),
        ),
      );
    },
  },
  {
    name: "a folder stays when its last member is removed",
    async run({ storage }) {
      await storage.createFolder("/stays");
      await put(storage, "/stays/only", "x");
      await storage.remove("/stays/only");
      expectEqual((await storage.stat("/stays"))?.kind, "folder", "kind");
      expectEqual(await namesIn(storage, "/stays"), [], "members");
    },
  },
  {
    name: "a tree of 300 levels can be created, filled, read, listed and removed",
    async run({ storage }) {
      let path = "";
      for (let level = 0; level < 300; level += 1) {
        path += "/d";
        await storage.createFolder(path);
      }
      await put(storage, `${path}/bottom`, "deep");
      expectEqual(await readFileText(storage, `${path}/bottom`), "deep", "text");
      expectEqual(await namesIn(storage, path), ["bottom"], "members");
      await storage.remove("/d");
      expectEqual(await namesIn(storage, "/"), [], "root");
    },
  },
];
