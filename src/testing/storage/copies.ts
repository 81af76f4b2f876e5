import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import { expect, expectEqual, expectRefusal } from "../expectations.ts";
import type { StorageCase } from "./case.ts";
import { areSameBytes, bodyBytes, inChunks, namesIn, noise, put, readFileText } from "./content.ts";

/** What `copy` and `move` have in common. */
const VERBS = ["copy", "move"] as const;

/** Cases about `copy`, and about what `copy` and `move` refuse. */
export const copyCases: readonly StorageCase[] = [
  {
    name: "copy: copies a file to a new name, and the original stays",
    async run({ storage }) {
      await storage.createFolder("/folder");
      await put(storage, "/a.txt", "content");
      expectEqual(await storage.copy("/a.txt", "/folder/b.txt"), "created", "placement");
      const copy = await storage.stat("/folder/b.txt");
      expectEqual([copy?.name, copy?.kind, copy?.size], ["b.txt", "file", 7], "copy");
      expectEqual(
        [await readFileText(storage, "/a.txt"), await readFileText(storage, "/folder/b.txt")],
        ["content", "content"],
        "texts",
      );
    },
  },
  {
    name: "copy: copies large and empty files byte by byte",
    async run({ storage }) {
      const bytes = noise(1_500_000, 7);
      await storage.write("/large", inChunks(bytes, 65_536));
      await put(storage, "/empty", "");
      await storage.copy("/large", "/large copy");
      await storage.copy("/empty", "/empty copy");
      const copied = await bodyBytes((await storage.read("/large copy")).body);
      expect(areSameBytes(copied, bytes), "the copy has the bytes of the original");
      expectEqual((await storage.stat("/empty copy"))?.size, 0, "size of the empty copy");
    },
  },
  {
    name: "copy: a copy has an entity-tag of its own, and later changes of either do not affect the other",
    async run({ storage }) {
      await put(storage, "/a", "one");
      await storage.copy("/a", "/b");
      await put(storage, "/a", "two");
      expectEqual([await readFileText(storage, "/a"), await readFileText(storage, "/b")], ["two", "one"], "texts");
      await put(storage, "/b", "three");
      expectEqual([await readFileText(storage, "/a"), await readFileText(storage, "/b")], ["two", "three"], "texts");
      await storage.remove("/a");
      expectEqual(await readFileText(storage, "/b"), "three", "text");
    },
  },
  {
    name: "copy: copies a folder with everything in it, empty folders too, and nothing next to it",
    async run({ storage }) {
      await makeTree(storage);
      expectEqual(await storage.copy("/tree", "/copy"), "created", "placement");
      for (const top of ["/tree", "/copy"]) await expectTree(storage, top);
      expectEqual(await namesIn(storage, "/"), ["copy", "tree", "tree2"], "members");
      await storage.remove("/tree");
      await expectTree(storage, "/copy");
    },
  },
  {
    name: "copy with replace: replaces a file or a folder by either kind, completely",
    async run({ storage }) {
      for (const source of ["file", "folder"] as const) {
        for (const target of ["file", "folder"] as const) {
          const [from, to] = [`/${source}-${target}`, `/to-${source}-${target}`];
          await makeMember(storage, from, source, "new");
          await makeMember(storage, to, target, "old");
          expectEqual(await storage.copy(from, to, { replace: true }), "replaced", "placement");
          await expectMember(storage, to, source, "new");
          await expectMember(storage, from, source, "new");
        }
      }
    },
  },
  {
    name: "copy: of several parallel copies to one new name exactly one succeeds",
    needs: "exactMoves",
    async run({ storage }) {
      for (let number = 0; number < 10; number += 1) await put(storage, `/${number}`, `text ${number}`);
      const copies = Array.from({ length: 10 }, (_, number) => storage.copy(`/${number}`, "/to"));
      const outcomes = await Promise.allSettled(copies);
      const winners = [...outcomes.keys()].filter((index) => outcomes[index]?.status === "fulfilled");
      expectEqual(winners.length, 1, "number of winners");
      expectEqual(await readFileText(storage, "/to"), `text ${winners[0]}`, "text");
      for (const [index, copy] of copies.entries())
        if (index !== winners[0]) await expectRefusal(copy, "already-exists");
    },
  },
  {
    name: "copy and move: already-exists for a file or a folder, which stays",
    async run({ storage }) {
      for (const verb of VERBS) {
        for (const kind of ["file", "folder"] as const) {
          const [from, to] = [`/${verb}-${kind}`, `/${verb}-${kind}-to`];
          await makeMember(storage, from, "file", "new");
          await makeMember(storage, to, kind, "old");
          await expectRefusal(storage[verb](from, to), "already-exists");
          await expectRefusal(storage[verb](from, to, { replace: false }), "already-exists");
          await expectMember(storage, to, kind, "old");
          await expectMember(storage, from, "file", "new");
        }
      }
    },
  },
  {
    name: "copy and move: not-found for a missing source, below a missing folder and below a file",
    async run({ storage }) {
      await put(storage, "/file", "kept");
      await put(storage, "/to", "kept");
      for (const verb of VERBS) {
        for (const from of ["/missing", "/missing/a", "/file/a"]) {
          await expectRefusal(storage[verb](from, "/new"), "not-found");
          await expectRefusal(storage[verb](from, "/to", { replace: true }), "not-found");
        }
      }
      expectEqual(await namesIn(storage, "/"), ["file", "to"], "members");
      expectEqual(await readFileText(storage, "/to"), "kept", "text");
    },
  },
  {
    name: "copy and move: parent-missing for a missing parent of the new path, not-a-folder if a parent is a file",
    async run({ storage }) {
      await put(storage, "/file", "kept");
      await makeTree(storage);
      for (const verb of VERBS) {
        for (const from of ["/file", "/tree"]) {
          await expectRefusal(storage[verb](from, "/missing/new"), "parent-missing");
          await expectRefusal(storage[verb](from, "/missing/a/new", { replace: true }), "parent-missing");
        }
        await expectRefusal(storage[verb]("/tree", "/file/new"), "not-a-folder");
      }
      expectEqual(await readFileText(storage, "/file"), "kept", "text");
      await expectTree(storage, "/tree");
    },
  },
  {
    name: "copy and move: denied for the root, for the same path, and if one path is in the other",
    async run({ storage }) {
      await makeTree(storage);
      await put(storage, "/file", "kept");
      const pairs = [
        ["/", "/new"],
        ["/tree", "/"],
        ["/file", "/file"],
        ["/tree", "/tree"],
        ["/tree", "/tree/deep/new"],
        ["/tree/deep", "/tree"],
      ] as const;
      for (const verb of VERBS) {
        for (const [from, to] of pairs) {
          await expectRefusal(storage[verb](from, to, { replace: true }), "denied");
          await expectRefusal(storage[verb](from, to), "denied");
        }
      }
      await expectTree(storage, "/tree");
      expectEqual(await storage.copy("/tree", "/tree3"), "created", "a name that only begins the same");
    },
  },
  {
    name: "copy and move with a kind: not-found for a member of another kind, and nothing is replaced",
    async run({ storage }) {
      await makeMember(storage, "/file", "file", "kept");
      await makeMember(storage, "/folder", "folder", "kept");
      await put(storage, "/to", "old");
      for (const verb of VERBS) {
        await expectRefusal(storage[verb]("/file", "/to", { kind: "folder", replace: true }), "not-found");
        await expectRefusal(storage[verb]("/folder", "/to", { kind: "file", replace: true }), "not-found");
      }
      await expectMember(storage, "/file", "file", "kept");
      await expectMember(storage, "/folder", "folder", "kept");
      expectEqual(await readFileText(storage, "/to"), "old", "text");
      expectEqual(await storage.copy("/file", "/file 2", { kind: "file" }), "created", "file");
      expectEqual(await storage.copy("/folder", "/folder 2", { kind: "folder" }), "created", "folder");
      await expectMember(storage, "/folder 2", "folder", "kept");
    },
  },
  {
    name: "copy and move with ifMatch: precondition-failed for another entity-tag and for a folder, and nothing happens",
    needs: "strongTags",
    async run({ storage }) {
      await makeMember(storage, "/folder", "folder", "kept");
      const { etag = "" } = await put(storage, "/file", "one");
      await put(storage, "/file", "two");
      await put(storage, "/to", "old");
      for (const verb of VERBS) {
        const options = { ifMatch: [etag], replace: true };
        await expectRefusal(storage[verb]("/file", "/to", options), "precondition-failed");
        await expectRefusal(storage[verb]("/folder", "/to", options), "precondition-failed");
      }
      expectEqual([await readFileText(storage, "/to"), await readFileText(storage, "/file")], ["old", "two"], "texts");
      const current = (await storage.stat("/file"))?.etag ?? "";
      expectEqual(await storage.copy("/file", "/to", { ifMatch: [current], replace: true }), "replaced", "placement");
      expectEqual(await storage.move("/file", "/moved", { ifMatch: [current] }), "created", "placement");
    },
  },
  {
    name: "copy and move: reject with the reason of a signal that has aborted, and nothing happens",
    async run({ storage }) {
      await put(storage, "/file", "kept");
      const reason = new Error("No longer needed.");
      for (const verb of VERBS) {
        const outcome = storage[verb]("/file", "/to", { signal: AbortSignal.abort(reason) }).catch((error) => error);
        expect((await outcome) === reason, `${verb} rejects with the reason`);
      }
      expectEqual(await namesIn(storage, "/"), ["file"], "members");
    },
  },
  {
    name: "copy and move: throw TypeError for a path that is not canonical",
    async run({ storage }) {
      await put(storage, "/file", "kept");
      for (const verb of VERBS) {
        for (const path of ["", "a", "/a/", "//a", "/..", "/a/../b"]) {
          for (const [from, to] of [
            [path, "/to"],
            ["/file", path],
          ] as const) {
            const error: unknown = await storage[verb](from, to).catch((thrown: unknown) => thrown);
            expectEqual(error instanceof TypeError, true, `${verb} of ${JSON.stringify(path)} is a TypeError`);
          }
        }
      }
    },
  },
  {
    name: "copy and move: links are never followed, a copy leaves them out, and a move takes them along",
    needs: "makeLink",
    async run({ storage, makeLink }) {
      if (makeLink === undefined) return;
      await storage.createFolder("/folder");
      await put(storage, "/folder/file", "content");
      const inside = await makeLink("/folder/link", "folder");
      const outside = await makeLink("/link", "file");
      await expectRefusal(storage.copy("/link", "/new"), "not-found");
      await storage.copy("/folder", "/copy");
      expectEqual(await namesIn(storage, "/copy"), ["file"], "members of the copy");
      await storage.move("/folder", "/moved");
      expectEqual((await storage.stat("/moved/link"))?.kind, "link", "kind in the moved folder");
      await storage.move("/link", "/moved link");
      expectEqual((await storage.stat("/moved link"))?.kind, "link", "kind of the moved link");
      await storage.move("/moved/file", "/moved link", { replace: true });
      expectEqual(await readFileText(storage, "/moved link"), "content", "text in place of the link");
      expectEqual([await inside.readText(), await outside.readText()], ["target", "target"], "targets");
    },
  },
];

/** Creates `/tree`, and `/tree2` next to it. */
export async function makeTree(storage: StorageAdapter): Promise<void> {
  for (const path of ["/tree", "/tree/deep", "/tree/deep/empty", "/tree2"]) await storage.createFolder(path);
  for (const path of ["/tree/1", "/tree/deep/2", "/tree2/3"]) await put(storage, path, path.slice(-1));
}

/** Fails unless a path is a copy of what {@link makeTree} created. */
export async function expectTree(storage: StorageAdapter, top: string): Promise<void> {
  expectEqual(await namesIn(storage, top), ["1", "deep"], "members");
  expectEqual(await namesIn(storage, `${top}/deep`), ["2", "empty"], "members of the folder in it");
  expectEqual(await namesIn(storage, `${top}/deep/empty`), [], "members of the empty folder");
  expectEqual(
    [await readFileText(storage, `${top}/1`), await readFileText(storage, `${top}/deep/2`)],
    ["1", "2"],
    "texts",
  );
}

/** Creates a file with a text, or a folder with such a file named `member`, and one named like the text. */
export async function makeMember(
  storage: StorageAdapter,
  path: string,
  kind: "file" | "folder",
  text: string,
): Promise<void> {
  if (kind === "folder") await storage.createFolder(path);
  await put(storage, kind === "folder" ? `${path}/member` : path, text);
  if (kind === "folder") await put(storage, `${path}/${text}`, text);
}

/** Fails unless a path has exactly what {@link makeMember} created. */
export async function expectMember(
  storage: StorageAdapter,
  path: string,
  kind: "file" | "folder",
  text: string,
): Promise<void> {
  expectEqual((await storage.stat(path))?.kind, kind, `kind of ${path}`);
  if (kind === "folder") expectEqual(await namesIn(storage, path), ["member", text].sort(), `members of ${path}`);
  expectEqual(await readFileText(storage, kind === "folder" ? `${path}/member` : path), text, `text of ${path}`);
}
