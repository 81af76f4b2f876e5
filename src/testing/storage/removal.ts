import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import { expect, expectEqual, expectRefusal } from "../expectations.ts";
import type { StorageCase } from "./case.ts";
import { makeFilledFolder, namesIn, put, stalled, textOf } from "./content.ts";

/** Cases about `remove`. */
export const removalCases: readonly StorageCase[] = [
  {
    name: "remove: a file, and nothing beside it",
    async run({ storage }) {
      for (const path of ["/a", "/ab", "/b"]) await put(storage, path, path);
      await storage.remove("/a");
      expectEqual(await namesIn(storage, "/"), ["ab", "b"], "members");
      expectEqual(await storage.stat("/a"), undefined, "stat");
      await expectRefusal(storage.read("/a"), "not-found");
    },
  },
  {
    name: "remove: a folder with everything under it, and nothing whose name begins alike",
    async run({ storage }) {
      for (const path of ["/a", "/a/b", "/a/b/c", "/a/empty", "/a-b", "/a.b", "/ab"]) await storage.createFolder(path);
      for (const path of ["/a/1", "/a/b/2", "/a/b/c/3", "/a-b/4", "/ab/5", "/a0"]) await put(storage, path, path);
      await storage.remove("/a");
      expectEqual(await namesIn(storage, "/"), ["a-b", "a.b", "a0", "ab"], "members");
      expectEqual([await storage.stat("/a/b/c/3"), await storage.stat("/a/1")], [undefined, undefined], "below");
      expectEqual([await textOf(storage, "/a-b/4"), await textOf(storage, "/ab/5")], ["/a-b/4", "/ab/5"], "beside");
    },
  },
  {
    name: "remove: an empty folder, whose name is free again for a file",
    async run({ storage }) {
      await storage.createFolder("/name");
      await storage.remove("/name");
      await put(storage, "/name", "file");
      await storage.remove("/name");
      await storage.createFolder("/name");
      expectEqual((await storage.stat("/name"))?.kind, "folder", "kind");
    },
  },
  {
    name: "remove: not-found where nothing is, below nothing and below a file",
    async run({ storage }) {
      await put(storage, "/file", "kept");
      for (const path of ["/missing", "/missing/a", "/file/a", "/file/a/b"]) {
        await expectRefusal(storage.remove(path), "not-found");
      }
      await storage.remove("/file");
      await expectRefusal(storage.remove("/file"), "not-found");
    },
  },
  {
    name: "remove: denied for the root, and nothing is touched",
    async run({ storage }) {
      await put(storage, "/file", "kept");
      await expectRefusal(storage.remove("/"), "denied");
      expectEqual(await textOf(storage, "/file"), "kept", "text");
    },
  },
  {
    name: "remove: a tree of 10,000 members in 100 folders",
    async run(context) {
      await context.storage.createFolder("/big");
      for (let number = 0; number < 100; number += 1) await makeFilledFolder(context, `/big/${number}`, 99);
      await context.storage.remove("/big");
      expectEqual(await namesIn(context.storage, "/"), [], "members");
    },
  },
  {
    name: "remove with a kind: what is of another kind is not-found and stays",
    async run({ storage }) {
      await put(storage, "/file", "kept");
      await storage.createFolder("/folder");
      await put(storage, "/folder/member", "kept");
      await expectRefusal(storage.remove("/file", { kind: "folder" }), "not-found");
      await expectRefusal(storage.remove("/folder", { kind: "file" }), "not-found");
      for (const kind of ["file", "folder"] as const)
        await expectRefusal(storage.remove("/none", { kind }), "not-found");
      expectEqual([await textOf(storage, "/file"), await textOf(storage, "/folder/member")], ["kept", "kept"], "texts");
      await storage.remove("/file", { kind: "file" });
      await storage.remove("/folder", { kind: "folder" });
      expectEqual(await namesIn(storage, "/"), [], "members");
    },
  },
  {
    name: "remove with a kind: a file that becomes a folder meanwhile is removed as a file or not at all, and the reverse",
    async run({ storage }) {
      for (let round = 0; round < 4; round += 1) {
        await expectNothingElseRemoved(storage, "file");
        await expectNothingElseRemoved(storage, "folder");
      }
    },
  },
  {
    name: "remove: of several removers of one file at least one succeeds, and the others find nothing",
    async run({ storage }) {
      await put(storage, "/file", "x");
      const removers = Array.from({ length: 10 }, () => storage.remove("/file"));
      const outcomes = await Promise.allSettled(removers);
      const refused = removers.filter((_, index) => outcomes[index]?.status === "rejected");
      expect(refused.length <= 9, "one succeeded");
      for (const remover of refused) await expectRefusal(remover, "not-found");
      expectEqual(await storage.stat("/file"), undefined, "stat");
    },
  },
  {
    name: "remove: several removers of one tree together remove it",
    async run({ storage }) {
      await storage.createFolder("/tree");
      for (let branch = 0; branch < 10; branch += 1) {
        await storage.createFolder(`/tree/${branch}`);
        await storage.createFolder(`/tree/${branch}/deep`);
        await put(storage, `/tree/${branch}/deep/file`, "x");
      }
      const removers = Array.from({ length: 5 }, () => storage.remove("/tree"));
      const outcomes = await Promise.allSettled(removers);
      expect(
        outcomes.some(({ status }) => status === "fulfilled"),
        "one succeeded",
      );
      for (const [index, { status }] of outcomes.entries()) {
        if (status === "rejected") await expectRefusal(removers[index] ?? Promise.resolve(), "not-found");
      }
      expectEqual(await namesIn(storage, "/"), [], "members");
    },
  },
  {
    name: "remove: a tree that is written to meanwhile is removed, or what is left of it is whole",
    async run({ storage }) {
      await storage.createFolder("/tree");
      const writer = async (number: number) => {
        for (let round = 0; round < 10; round += 1) {
          const written = put(storage, `/tree/${number}-${round}`, "whole");
          await written.catch(() => expectRefusal(written, "parent-missing", "unavailable"));
        }
      };
      const remover = async () => {
        const removed = storage.remove("/tree");
        await removed.catch(() => expectRefusal(removed, "unavailable"));
      };
      await Promise.all([writer(0), writer(1), writer(2), remover()]);
      if ((await storage.stat("/tree")) === undefined) return;
      for (const name of await namesIn(storage, "/tree"))
        expectEqual(await textOf(storage, `/tree/${name}`), "whole", name);
      await storage.remove("/tree");
    },
  },
  {
    name: "remove: a folder into which a write is on its way goes, and the write leaves nothing",
    async run({ storage }) {
      await storage.createFolder("/folder");
      const controller = new AbortController();
      const { promise: isWaiting, resolve } = newPromise();
      const written = storage.write("/folder/file", stalled(resolve, "some"), { signal: controller.signal });
      written.catch(() => {});
      await isWaiting;
      await storage.remove("/folder");
      expectEqual(await namesIn(storage, "/"), [], "members");
      controller.abort();
      await written.catch(() => {});
      expectEqual(await namesIn(storage, "/"), [], "members in the end");
    },
  },
];

/** Removes what is of a kind while it is replaced by what is of the other one, which has to stay. */
async function expectNothingElseRemoved(storage: StorageAdapter, kind: "file" | "folder"): Promise<void> {
  const make = async (what: "file" | "folder") => {
    if (what === "file") return put(storage, "/name", "content");
    await storage.createFolder("/name");
    return put(storage, "/name/member", "content");
  };
  await make(kind);
  let isReplaced = false;
  const replace = async () => {
    const removed = storage.remove("/name");
    await removed.catch(() => expectRefusal(removed, "not-found"));
    await make(kind === "file" ? "folder" : "file");
    isReplaced = true;
  };
  const keepRemoving = async () => {
    for (let round = 0; round < 50 && !isReplaced; round += 1) {
      const removed = storage.remove("/name", { kind });
      await removed.catch(() => expectRefusal(removed, "not-found"));
    }
  };
  await Promise.all([keepRemoving(), keepRemoving(), replace()]);
  expectEqual(await textOf(storage, kind === "file" ? "/name/member" : "/name"), "content", `in place of a ${kind}`);
  await storage.remove("/name");
}

function newPromise(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((resolver) => {
    resolve = resolver;
  });
  return { promise, resolve };
}
