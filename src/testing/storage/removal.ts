import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import { expect, expectEqual, expectRefusal } from "../expectations.ts";
import type { StorageCase } from "./case.ts";
import { makeFilledFolder, namesIn, put, readFileText, stalled } from "./content.ts";

/** Cases about `remove`. */
export const removalCases: readonly StorageCase[] = [
  {
    name: "remove: removes a file and nothing else",
    async run({ storage }) {
      for (const path of ["/a", "/ab", "/b"]) await put(storage, path, path);
      await storage.remove("/a");
      expectEqual(await namesIn(storage, "/"), ["ab", "b"], "members");
      expectEqual(await storage.stat("/a"), undefined, "stat");
      await expectRefusal(storage.read("/a"), "not-found");
    },
  },
  {
    name: "remove: removes a folder with everything in it, but no member whose name only begins the same",
    async run({ storage }) {
      for (const path of ["/a", "/a/b", "/a/b/c", "/a/empty", "/a-b", "/a.b", "/ab"]) await storage.createFolder(path);
      for (const path of ["/a/1", "/a/b/2", "/a/b/c/3", "/a-b/4", "/ab/5", "/a0"]) await put(storage, path, path);
      await storage.remove("/a");
      expectEqual(await namesIn(storage, "/"), ["a-b", "a.b", "a0", "ab"], "members");
      expectEqual([await storage.stat("/a/b/c/3"), await storage.stat("/a/1")], [undefined, undefined], "below");
      expectEqual(
        [await readFileText(storage, "/a-b/4"), await readFileText(storage, "/ab/5")],
        ["/a-b/4", "/ab/5"],
        "beside",
      );
    },
  },
  {
    name: "remove: removes an empty folder, whose name can then be used for a file",
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
    name: "remove: not-found for a missing member, below a missing folder and below a file",
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
    name: "remove: denied for the root, and nothing is removed",
    async run({ storage }) {
      await put(storage, "/file", "kept");
      await expectRefusal(storage.remove("/"), "denied");
      expectEqual(await readFileText(storage, "/file"), "kept", "text");
    },
  },
  {
    name: "remove: removes a tree of 10,000 members in 100 folders",
    async run(context) {
      await context.storage.createFolder("/big");
      for (let number = 0; number < 100; number += 1) await makeFilledFolder(context, `/big/${number}`, 99);
      await context.storage.remove("/big");
      expectEqual(await namesIn(context.storage, "/"), [], "members");
    },
  },
  {
    name: "remove with a kind: not-found for a member of another kind, which stays",
    async run({ storage }) {
      await put(storage, "/file", "kept");
      await storage.createFolder("/folder");
      await put(storage, "/folder/member", "kept");
      await expectRefusal(storage.remove("/file", { kind: "folder" }), "not-found");
      await expectRefusal(storage.remove("/folder", { kind: "file" }), "not-found");
      for (const kind of ["file", "folder"] as const)
        await expectRefusal(storage.remove("/none", { kind }), "not-found");
      expectEqual(
        [await readFileText(storage, "/file"), await readFileText(storage, "/folder/member")],
        ["kept", "kept"],
        "texts",
      );
      await storage.remove("/file", { kind: "file" });
      await storage.remove("/folder", { kind: "folder" });
      expectEqual(await namesIn(storage, "/"), [], "members");
    },
  },
  {
    name: "remove with a kind: never removes a folder that replaces the file meanwhile, nor a file that replaces the folder",
    async run({ storage }) {
      for (let round = 0; round < 4; round += 1) {
        await expectNothingElseRemoved(storage, "file");
        await expectNothingElseRemoved(storage, "folder");
      }
    },
  },
  {
    name: "remove: of several parallel removals of one file at least one succeeds, and the others are not-found",
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
    name: "remove: several parallel removals of one tree remove it",
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
    name: "remove: files written into a tree during its removal are removed or complete",
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
        expectEqual(await readFileText(storage, `/tree/${name}`), "whole", name);
      await storage.remove("/tree");
    },
  },
  {
    name: "remove: removes a folder during a write into it, and the write leaves nothing",
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

/** Removes members of one kind while another call replaces the member by one of the other kind, which must stay. */
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
  expectEqual(
    await readFileText(storage, kind === "file" ? "/name/member" : "/name"),
    "content",
    `in place of a ${kind}`,
  );
  await storage.remove("/name");
}

function newPromise(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((resolver) => {
    resolve = resolver;
  });
  return { promise, resolve };
}
