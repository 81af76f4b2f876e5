import type { StorageAdapter, WriteOptions } from "../../contracts/storage-adapter.ts";
import { expect, expectEqual, expectRefusal } from "../expectations.ts";
import type { StorageCase } from "./case.ts";
import { bodyText, namesIn, put, readFileText, textChunks, untouched } from "./content.ts";

const STALE = '"a-tag-of-no-version"';

/** Cases about `ifMatch` and `ifNoneMatch` (RFC 9110 13.1.1, 13.1.2). */
export const conditionCases: readonly StorageCase[] = [
  {
    name: 'ifMatch "*": met by any file, not met if there is none',
    async run({ storage }) {
      await expectFailedPrecondition(storage, "/file", { ifMatch: "*" });
      await put(storage, "/file", "first");
      await put(storage, "/file", "second", { ifMatch: "*" });
      expectEqual(await readFileText(storage, "/file"), "second", "text");
    },
  },
  {
    name: 'ifNoneMatch "*": met if there is no file, not met by any file',
    async run({ storage }) {
      await put(storage, "/file", "first", { ifNoneMatch: "*" });
      await expectFailedPrecondition(storage, "/file", { ifNoneMatch: "*" });
      expectEqual(await readFileText(storage, "/file"), "first", "text");
    },
  },
  {
    name: "ifMatch with tags: not met if there is no file, nor by a file with another tag",
    async run({ storage }) {
      await expectFailedPrecondition(storage, "/file", { ifMatch: [STALE] });
      await put(storage, "/file", "first");
      await expectFailedPrecondition(storage, "/file", { ifMatch: [STALE] });
      await expectFailedPrecondition(storage, "/file", { ifMatch: [] });
      expectEqual(await readFileText(storage, "/file"), "first", "text");
    },
  },
  {
    name: "ifMatch with tags: met by the file's own tag among several, until the file changes",
    needs: "strongTags",
    async run({ storage }) {
      const first = await put(storage, "/file", "first");
      const own = first.etag ?? "";
      await put(storage, "/file", "second", { ifMatch: [STALE, own] });
      await expectFailedPrecondition(storage, "/file", { ifMatch: [STALE, own] });
      expectEqual(await readFileText(storage, "/file"), "second", "text");
    },
  },
  {
    name: "ifMatch with tags: a weak tag never matches",
    needs: "strongTags",
    async run({ storage }) {
      const { etag } = await put(storage, "/file", "first");
      await expectFailedPrecondition(storage, "/file", { ifMatch: [`W/${etag}`] });
    },
  },
  {
    name: "ifMatch with tags: not met after the file was removed",
    needs: "strongTags",
    async run({ storage }) {
      const { etag = "" } = await put(storage, "/file", "first");
      await storage.remove("/file");
      await expectFailedPrecondition(storage, "/file", { ifMatch: [etag] });
      expectEqual(await namesIn(storage, "/"), [], "members");
    },
  },
  {
    name: "ifNoneMatch with tags: met if there is no file, and by a file with another tag",
    async run({ storage }) {
      await put(storage, "/file", "first", { ifNoneMatch: [STALE] });
      await put(storage, "/file", "second", { ifNoneMatch: [STALE, `W/${STALE}`] });
      expectEqual(await readFileText(storage, "/file"), "second", "text");
    },
  },
  {
    name: "ifNoneMatch with tags: not met by the file's own tag, strong or weak",
    needs: "strongTags",
    async run({ storage }) {
      const { etag = "" } = await put(storage, "/file", "first");
      await expectFailedPrecondition(storage, "/file", { ifNoneMatch: [STALE, etag] });
      await expectFailedPrecondition(storage, "/file", { ifNoneMatch: [`W/${etag}`] });
      expectEqual(await readFileText(storage, "/file"), "first", "text");
    },
  },
  {
    name: "both conditions must be true",
    needs: "strongTags",
    async run({ storage }) {
      const { etag = "" } = await put(storage, "/file", "first");
      await expectFailedPrecondition(storage, "/file", { ifMatch: [etag], ifNoneMatch: "*" });
      await put(storage, "/file", "second", { ifMatch: [etag], ifNoneMatch: [STALE] });
      expectEqual(await readFileText(storage, "/file"), "second", "text");
    },
  },
  {
    name: "not-a-file for a folder and parent-missing for a missing parent, with any conditions",
    async run({ storage }) {
      await storage.createFolder("/folder");
      for (const options of [{ ifMatch: "*" }, { ifNoneMatch: "*" }] satisfies WriteOptions[]) {
        await expectRefusal(put(storage, "/folder", "x", options), "not-a-file");
        await expectRefusal(put(storage, "/missing/file", "x", options), "parent-missing");
      }
    },
  },
  {
    name: 'exactly one of 30 writers with ifNoneMatch "*" succeeds, and its content stays',
    needs: "atomicConditions",
    async run({ storage }) {
      const texts = Array.from({ length: 30 }, (_, index) => `writer ${index}`);
      const winners = await race(storage, texts, { ifNoneMatch: "*" });
      expectEqual(winners.length, 1, "successful writers");
      expectEqual(await readFileText(storage, "/race"), winners[0], "text");
      expectEqual(await namesIn(storage, "/"), ["race"], "members");
    },
  },
  {
    name: "exactly one of 30 writers with the tag of one version succeeds, and its content stays",
    needs: "atomicConditions",
    async run({ storage }) {
      const { etag = "" } = await put(storage, "/race", "first");
      const texts = Array.from({ length: 30 }, (_, index) => `writer ${index}`);
      const winners = await race(storage, texts, { ifMatch: [etag] });
      expectEqual(winners.length, 1, "successful writers");
      expectEqual(await readFileText(storage, "/race"), winners[0], "text");
    },
  },
  {
    name: "30 increments by parallel writers that retry are all counted",
    needs: "atomicConditions",
    async run({ storage }) {
      await put(storage, "/count", "0");
      const add = async (): Promise<void> => {
        for (;;) {
          const { entry, body } = await storage.read("/count");
          const count = Number(await bodyText(body));
          const written = put(storage, "/count", `${count + 1}`, { ifMatch: [entry.etag ?? ""] });
          if (
            await written.then(
              () => true,
              (error) => expectRefusal(Promise.reject(error), "precondition-failed"),
            )
          )
            return;
        }
      };
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          for (let round = 0; round < 3; round += 1) await add();
        }),
      );
      expectEqual(await readFileText(storage, "/count"), "30", "count");
    },
  },
  {
    name: "conditions are checked again after the content arrived: a file that was created meanwhile stays",
    needs: "atomicConditions",
    async run({ storage }) {
      const content = during(() => put(storage, "/file", "of another"));
      await expectRefusal(storage.write("/file", content, { ifNoneMatch: "*" }), "precondition-failed");
      expectEqual(await readFileText(storage, "/file"), "of another", "text");
      expectEqual(await namesIn(storage, "/"), ["file"], "members");
    },
  },
  {
    name: "conditions are checked again after the content arrived: a change or a removal meanwhile is noticed",
    needs: "atomicConditions",
    async run({ storage }) {
      const { etag = "" } = await put(storage, "/changed", "first");
      const changing = during(() => put(storage, "/changed", "of another"));
      await expectRefusal(storage.write("/changed", changing, { ifMatch: [etag] }), "precondition-failed");
      expectEqual(await readFileText(storage, "/changed"), "of another", "text");
      const removing = during(() => storage.remove("/changed"));
      await expectRefusal(storage.write("/changed", removing, { ifMatch: "*" }), "precondition-failed");
      expectEqual(await namesIn(storage, "/"), [], "members");
    },
  },
  {
    name: "remove with ifMatch: met by the file's own tag only",
    needs: "strongTags",
    async run({ storage }) {
      const { etag = "" } = await put(storage, "/file", "first");
      await expectRefusal(storage.remove("/file", { ifMatch: [STALE] }), "precondition-failed");
      expectEqual(await readFileText(storage, "/file"), "first", "text");
      await storage.remove("/file", { ifMatch: [STALE, etag] });
      expectEqual(await namesIn(storage, "/"), [], "members");
      await expectRefusal(storage.remove("/file", { ifMatch: [etag] }), "not-found");
    },
  },
  {
    name: "remove with ifMatch: not met by a folder, which has no tag and stays",
    async run({ storage }) {
      await storage.createFolder("/folder");
      await expectRefusal(storage.remove("/folder", { ifMatch: [STALE] }), "precondition-failed");
      await expectRefusal(storage.remove("/folder", { ifMatch: [STALE], kind: "folder" }), "precondition-failed");
      await expectRefusal(storage.remove("/folder", { ifMatch: [STALE], kind: "file" }), "not-found");
      expectEqual(await namesIn(storage, "/"), ["folder"], "members");
    },
  },
  {
    name: "of a replacement and a removal of one version only one succeeds",
    needs: "atomicConditions",
    async run({ storage }) {
      for (let round = 0; round < 20; round += 1) {
        const { etag = "" } = await put(storage, "/file", "first");
        const removing = storage.remove("/file", { ifMatch: [etag] }).then(
          () => 1,
          (error: unknown) => expectRefusal(Promise.reject(error), "precondition-failed").then(() => 0),
        );
        const replacing = put(storage, "/file", "second", { ifMatch: [etag] }).then(
          () => 1,
          (error: unknown) => expectRefusal(Promise.reject(error), "precondition-failed").then(() => 0),
        );
        const [removed, replaced] = await Promise.all([removing, replacing]);
        expectEqual(removed + replaced, 1, "winners");
        expectEqual(await namesIn(storage, "/"), replaced === 1 ? ["file"] : [], "members");
      }
    },
  },
];

async function expectFailedPrecondition(storage: StorageAdapter, path: string, options: WriteOptions): Promise<void> {
  const content = untouched();
  await expectRefusal(storage.write(path, content, options), "precondition-failed");
  expect(!content.wasTouched(), "content was left alone");
}

async function* during(action: () => Promise<unknown>): AsyncGenerator<Uint8Array> {
  yield* textChunks("slow");
  await action();
  yield* textChunks("content");
}

/** Writes all texts to `/race` in parallel. Returns those whose write succeeded. */
async function race(storage: StorageAdapter, texts: readonly string[], options: WriteOptions): Promise<string[]> {
  const attempts = texts.map(async (text) => {
    const written = put(storage, "/race", text, options);
    const isWritten = await written.then(
      () => true,
      (error: unknown) => expectRefusal(Promise.reject(error), "precondition-failed"),
    );
    return isWritten ? [text] : [];
  });
  return (await Promise.all(attempts)).flat();
}
