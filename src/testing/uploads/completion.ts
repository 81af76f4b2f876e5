import type { UploadKey } from "../../contracts/storage-uploads.ts";
import { expect, expectEqual, expectRefusal } from "../expectations.ts";
import { areSameBytes, bodyBytes, inChunks, namesIn, noise, put, readFileText } from "../storage/content.ts";
import type { UploadCase } from "./case.ts";
import { appendText, beginUpload, newKey, offsetOf, uploadsOf } from "./setup.ts";

/** Cases about uploads that become files. */
export const completionCases: readonly UploadCase[] = [
  {
    name: "create: an upload is no file: nothing is listed, found or changed",
    async run({ storage }) {
      await put(storage, "/file", "previous");
      const { key } = await beginUpload(storage, "/file", { size: 3 });
      await beginUpload(storage, "/other");
      await appendText(storage, key, 0, "new");
      expectEqual(await namesIn(storage, "/"), ["file"], "members");
      expectEqual(await storage.stat("/other"), undefined, "the file of the other upload");
      expectEqual(await readFileText(storage, "/file"), "previous", "text");
    },
  },
  {
    name: "create: the place is checked as by a write",
    async run({ storage }) {
      await storage.createFolder("/folder");
      const { etag } = await put(storage, "/file", "text");
      await expectRefusal(beginUpload(storage, "/folder"), "not-a-file");
      await expectRefusal(beginUpload(storage, "/missing/file"), "parent-missing");
      await expectRefusal(beginUpload(storage, "/file/below"), "not-a-folder");
      await expectRefusal(beginUpload(storage, `/${"n".repeat(300)}`), "bad-name");
      await expectRefusal(beginUpload(storage, "/file", { ifNoneMatch: "*" }), "precondition-failed");
      await expectRefusal(beginUpload(storage, "/none", { ifMatch: "*" }), "precondition-failed");
      await beginUpload(storage, "/file", { ifMatch: "*" });
      if (etag !== undefined && !etag.startsWith("W/")) await beginUpload(storage, "/file", { ifMatch: [etag] });
    },
  },
  {
    name: "create: a key is used once; another owner may use the same id",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file");
      await expectRefusal(beginUpload(storage, "/other", {}, key), "already-exists");
      const other = { owner: "account:bob", id: key.id };
      await beginUpload(storage, "/other", {}, other);
      await appendText(storage, key, 0, "abc");
      expectEqual([await offsetOf(storage, key), await offsetOf(storage, other)], [3, 0], "offsets");
    },
  },
  {
    name: "find: returns what was created",
    async run({ storage }) {
      const expires = new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000);
      const key = newKey("a/../b\u0000\n \ud83d\udea2");
      const created = await uploadsOf(storage).create(key, "/file", { size: 7, note: '{"ü":"\\n"}', expires });
      const found = await uploadsOf(storage).find(key);
      expectEqual(found, created, "state");
      expectEqual(
        [found?.key, found?.path, found?.offset, found?.size, found?.note, found?.expires, found?.done],
        [key, "/file", 0, 7, '{"ü":"\\n"}', expires, undefined],
        "members",
      );
      expectEqual(await uploadsOf(storage).find(newKey()), undefined, "an unknown upload");
    },
  },
  {
    name: "update: changes what it names, and nothing else",
    async run({ storage }) {
      const { key, expires } = await beginUpload(storage, "/file");
      await appendText(storage, key, 0, "abc");
      await uploadsOf(storage).update(key, { size: 6 });
      await uploadsOf(storage).update(key, { note: "other" });
      const later = new Date(expires.getTime() + 60_000);
      const changed = await uploadsOf(storage).update(key, { expires: later });
      expectEqual(await uploadsOf(storage).find(key), changed, "state");
      expectEqual([changed.size, changed.note, changed.expires, changed.offset], [6, "other", later, 3], "members");
      await expectRefusal(uploadsOf(storage).update(newKey(), { note: "" }), "not-found");
    },
  },
  {
    name: "complete: replaces the file, and returns the same entry again",
    async run({ storage }) {
      await put(storage, "/file", "previous");
      const { key } = await beginUpload(storage, "/file", { size: 3 });
      await appendText(storage, key, 0, "new");
      const entry = await uploadsOf(storage).complete(key);
      expectEqual(entry, await storage.stat("/file"), "entry");
      expectEqual(await uploadsOf(storage).complete(key), entry, "entry again");
      const found = await uploadsOf(storage).find(key);
      expectEqual([found?.done, found?.offset], [entry, 3], "state");
      expectEqual(await namesIn(storage, "/"), ["file"], "members");
      await put(storage, "/file", "next");
      expectEqual(await uploadsOf(storage).complete(key), entry, "entry after the file was replaced");
      expectEqual(await readFileText(storage, "/file"), "next", "text");
    },
  },
  {
    name: "complete: is `incomplete` below the size, and `not-found` without an upload",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file", { size: 4 });
      await appendText(storage, key, 0, "new");
      await expectRefusal(uploadsOf(storage).complete(key), "incomplete");
      expectEqual(await storage.stat("/file"), undefined, "the file");
      await expectRefusal(uploadsOf(storage).complete(newKey()), "not-found");
      await appendText(storage, key, 3, "!");
      await uploadsOf(storage).complete(key);
      expectEqual(await readFileText(storage, "/file"), "new!", "text");
    },
  },
  {
    name: "complete: conditions that are not met leave the file and the upload",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file", { ifNoneMatch: "*" });
      await appendText(storage, key, 0, "new");
      await put(storage, "/file", "faster");
      await expectRefusal(uploadsOf(storage).complete(key, { ifNoneMatch: "*" }), "precondition-failed");
      expectEqual(await readFileText(storage, "/file"), "faster", "text");
      expectEqual(await offsetOf(storage, key), 3, "offset");
      await uploadsOf(storage).complete(key, { ifMatch: "*" });
      expectEqual(await readFileText(storage, "/file"), "new", "text");
    },
  },
  {
    name: "complete: of 10 uploads to one new name with a condition, exactly one succeeds",
    needs: "atomicConditions",
    async run({ storage }) {
      const uploads = await Promise.all(Array.from({ length: 10 }, () => beginUpload(storage, "/file")));
      await Promise.all(uploads.map(({ key }, number) => appendText(storage, key, 0, `text ${number}`)));
      const results = await Promise.allSettled(
        uploads.map(({ key }) => uploadsOf(storage).complete(key, { ifNoneMatch: "*" })),
      );
      const winners = results.flatMap(({ status }, number) => (status === "fulfilled" ? [number] : []));
      expectEqual(winners.length, 1, "completions that succeed");
      expectEqual(await readFileText(storage, "/file"), `text ${winners[0]}`, "text");
    },
  },
  {
    name: "complete: several callers get one entry",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file");
      await appendText(storage, key, 0, "abc");
      const results = await Promise.allSettled(Array.from({ length: 5 }, () => uploadsOf(storage).complete(key)));
      const entries = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      expect(entries.length > 0, "one of them succeeds");
      expectEqual(new Set(entries.map(({ etag }) => etag)).size, 1, "different entries");
      expectEqual(await readFileText(storage, "/file"), "abc", "text");
    },
  },
  {
    name: "complete: of several callers all but one are told that it was done, or none is",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file");
      await appendText(storage, key, 0, "abc");
      let repeated = 0;
      const onRepeat = (): void => {
        repeated += 1;
      };
      const calls = Array.from({ length: 5 }, () => uploadsOf(storage).complete(key, { onRepeat }));
      const results = await Promise.allSettled(calls);
      const succeeded = results.filter(({ status }) => status === "fulfilled").length;
      expect(repeated === 0 || repeated === succeeded - 1, `${repeated} of ${succeeded} callers are told`);
    },
  },
  {
    name: "create: keeps a note of 16 KiB",
    async run({ storage }) {
      const key = newKey();
      const note = "\u00fc".repeat(8 * 1024);
      await uploadsOf(storage).create(key, "/file", { note, expires: new Date(Date.now() + 3_600_000) });
      expectEqual((await uploadsOf(storage).find(key))?.note, note, "note");
    },
  },
  {
    name: "complete: takes another name in the same folder, and no other folder",
    async run({ storage }) {
      await storage.createFolder("/folder");
      const { key } = await beginUpload(storage, "/folder/file");
      await appendText(storage, key, 0, "abc");
      await expectRefusal(uploadsOf(storage).complete(key, { path: "/other" }), "denied");
      await uploadsOf(storage).complete(key, { path: "/folder/other", ifNoneMatch: "*" });
      expectEqual(await namesIn(storage, "/folder"), ["other"], "members");
    },
  },
  {
    name: "complete: gives an upload of any size the name that is free, if it was created to be named later",
    async run({ storage }) {
      await storage.createFolder("/folder");
      await put(storage, "/folder/taken", "previous");
      const bytes = noise(9 * 1_048_576 + 1, 5);
      const { key } = await beginUpload(storage, "/folder/kept", { isNamedLater: true });
      const { complete, append } = uploadsOf(storage);
      await append(key, 0, inChunks(bytes, 65_536));
      const options = { ifNoneMatch: "*" } as const;
      await expectRefusal(complete(key, { ...options, path: "/folder/taken" }), "precondition-failed");
      const entry = await complete(key, { ...options, path: "/folder/free" });
      expectEqual(entry, await storage.stat("/folder/free"), "entry");
      expectEqual(await complete(key, { ...options, path: "/folder/free" }), entry, "entry of a second completion");
      expect(areSameBytes(await bodyBytes((await storage.read("/folder/free")).body), bytes), "the bytes");
      expectEqual(await readFileText(storage, "/folder/taken"), "previous", "text of the other file");
      expectEqual(await namesIn(storage, "/folder"), ["free", "taken"], "members");
      expectEqual(await uploadsOf(storage).discard(key), "done", "discard");
    },
  },
  {
    name: "discard: removes the upload once, never a file",
    async run({ storage }) {
      await put(storage, "/file", "previous");
      const { key } = await beginUpload(storage, "/file");
      await appendText(storage, key, 0, "new");
      const results = await Promise.all(Array.from({ length: 5 }, () => uploadsOf(storage).discard(key)));
      expectEqual(results.filter(Boolean), ["unfinished"], "callers that get a result");
      expectEqual(await uploadsOf(storage).find(key), undefined, "the upload");
      await expectRefusal(appendText(storage, key, 3, "!"), "not-found");
      const done = await beginUpload(storage, "/file");
      await appendText(storage, done.key, 0, "new");
      await uploadsOf(storage).complete(done.key);
      expectEqual(await uploadsOf(storage).discard(done.key), "done", "discard of a complete one");
      expectEqual(await uploadsOf(storage).discard(done.key), undefined, "discard of one that is not there");
      expectEqual(await readFileText(storage, "/file"), "new", "text");
    },
  },
  {
    name: "an upload whose folder was removed or moved is lost",
    async run({ storage }) {
      for (const path of ["/removed", "/moved"]) {
        await storage.createFolder(path);
        const { key } = await beginUpload(storage, `${path}/file`);
        await appendText(storage, key, 0, "abc");
        await (path === "/removed" ? storage.remove(path) : storage.move(path, "/elsewhere"));
        expectEqual(await uploadsOf(storage).find(key), undefined, "the upload");
        await storage.createFolder(path);
        expectEqual(await uploadsOf(storage).find(key), undefined, "the upload, with a new folder at its path");
        await expectRefusal(appendText(storage, key, 3, "d"), "not-found");
        await expectRefusal(uploadsOf(storage).complete(key), "not-found");
      }
      expectEqual(await namesIn(storage, "/elsewhere"), [], "members of the moved folder");
    },
  },
  {
    name: "list: ends no upload that another call creates at the same time",
    async run({ storage }) {
      let isCreating = true;
      const listing = (async () => {
        while (isCreating) await pathsOf(uploadsOf(storage).list());
      })();
      const keys: UploadKey[] = [];
      try {
        for (let index = 0; index < 50; index++) keys.push((await beginUpload(storage, `/${index}`)).key);
      } finally {
        isCreating = false;
        await listing;
      }
      for (const key of keys) expectEqual(await offsetOf(storage, key), 0, "the offset");
    },
  },
  {
    name: "a complete upload is known when its folder was removed",
    async run({ storage }) {
      await storage.createFolder("/folder");
      const { key } = await beginUpload(storage, "/folder/file");
      await appendText(storage, key, 0, "abc");
      const entry = await uploadsOf(storage).complete(key);
      await storage.remove("/folder");
      expectEqual((await uploadsOf(storage).find(key))?.done, entry, "the file");
      expectEqual(await uploadsOf(storage).discard(key), "done", "discard");
    },
  },
  {
    name: "list: a lost upload is told as `lost` until it is discarded, or not at all",
    async run({ storage }) {
      await storage.createFolder("/folder");
      const { key } = await beginUpload(storage, "/folder/file");
      await storage.remove("/folder");
      expectEqual(await uploadsOf(storage).find(key), undefined, "the upload");
      let listed = 0;
      for await (const state of uploadsOf(storage).list(key.owner)) {
        expectEqual([state.key, state.lost], [key, true], "the lost upload");
        listed += 1;
      }
      const results = await Promise.all(Array.from({ length: 3 }, () => uploadsOf(storage).discard(key)));
      const expected = listed === 0 ? [] : ["unfinished"];
      expectEqual(results.filter(Boolean), expected, "callers that get a result");
      expectEqual(await pathsOf(uploadsOf(storage).list()), [], "uploads after that");
    },
  },
  {
    name: "list: has the uploads of an owner, or of all",
    async run({ storage }) {
      const mine = await beginUpload(storage, "/mine");
      const other = await beginUpload(storage, "/other", {}, newKey("account:bob"));
      await beginUpload(storage, "/done").then(async ({ key }) => uploadsOf(storage).complete(key));
      expectEqual(await pathsOf(uploadsOf(storage).list(mine.key.owner)), ["/done", "/mine"], "uploads of one owner");
      expectEqual(await pathsOf(uploadsOf(storage).list(other.key.owner)), ["/other"], "uploads of the other one");
      expectEqual(await pathsOf(uploadsOf(storage).list("nobody")), [], "uploads of nobody");
      expectEqual(await pathsOf(uploadsOf(storage).list()), ["/done", "/mine", "/other"], "uploads of all");
    },
  },
];

async function pathsOf(states: AsyncIterable<{ readonly path: string }>): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of states) paths.push(path);
  return paths.sort();
}
