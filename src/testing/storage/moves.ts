import { expect, expectEqual, expectRefusal } from "../expectations.ts";
import type { StorageCase } from "./case.ts";
import { bodyText, makeFilledFolder, namesIn, put, readFileText } from "./content.ts";
import { expectMember, expectTree, makeMember, makeTree } from "./copies.ts";

/** Cases about `move`. */
export const moveCases: readonly StorageCase[] = [
  {
    name: "move: moves a file to a new name in another folder, and nothing else",
    async run({ storage }) {
      await storage.createFolder("/folder");
      for (const path of ["/a", "/ab", "/b"]) await put(storage, path, path);
      expectEqual(await storage.move("/a", "/folder/new"), "created", "placement");
      expectEqual(await namesIn(storage, "/"), ["ab", "b", "folder"], "members");
      expectEqual(await readFileText(storage, "/folder/new"), "/a", "text");
      const entry = await storage.stat("/folder/new");
      expectEqual([entry?.name, entry?.kind, entry?.size], ["new", "file", 2], "entry");
      await expectRefusal(storage.read("/a"), "not-found");
    },
  },
  {
    name: "move: the entity-tag and the time of a file stay",
    needs: "exactMoves",
    async run({ storage }) {
      const before = await put(storage, "/a", "content");
      await storage.move("/a", "/b");
      const after = await storage.stat("/b");
      expectEqual([after?.etag, after?.modified], [before.etag, before.modified], "entity-tag and time");
    },
  },
  {
    name: "move: moves a folder with everything in it, and the old name can be used again",
    async run({ storage }) {
      await makeTree(storage);
      await storage.createFolder("/new");
      expectEqual(await storage.move("/tree", "/new/place"), "created", "placement");
      await expectTree(storage, "/new/place");
      expectEqual(await namesIn(storage, "/"), ["new", "tree2"], "members");
      await put(storage, "/tree", "a file now");
      expectEqual(await readFileText(storage, "/tree"), "a file now", "text");
    },
  },
  {
    name: "move with replace: replaces a file or a folder by either kind, completely",
    async run({ storage }) {
      for (const source of ["file", "folder"] as const) {
        for (const target of ["file", "folder"] as const) {
          const [from, to] = [`/${source}-${target}`, `/to-${source}-${target}`];
          await makeMember(storage, from, source, "new");
          await makeMember(storage, to, target, "old");
          expectEqual(await storage.move(from, to, { replace: true }), "replaced", "placement");
          await expectMember(storage, to, source, "new");
          expectEqual(await storage.stat(from), undefined, "the source");
        }
      }
    },
  },
  {
    name: "move: moves back and forth, and swaps two files by a third name",
    async run({ storage }) {
      await put(storage, "/a", "one");
      await put(storage, "/b", "two");
      for (const [from, to] of [
        ["/a", "/c"],
        ["/b", "/a"],
        ["/c", "/b"],
      ] as const) {
        await storage.move(from, to);
      }
      expectEqual([await readFileText(storage, "/a"), await readFileText(storage, "/b")], ["two", "one"], "texts");
      expectEqual(await namesIn(storage, "/"), ["a", "b"], "members");
    },
  },
  {
    name: "move: an open file is read to its end although it was moved",
    needs: "exactMoves",
    async run({ storage }) {
      await put(storage, "/a", "content");
      const file = await storage.read("/a");
      await storage.move("/a", "/b");
      expectEqual(await bodyText(file.body), "content", "text");
    },
  },
  {
    name: "move: moves a folder of 1,000 members",
    async run(context) {
      const { storage } = context;
      await makeFilledFolder(context, "/big", 1_000);
      await storage.move("/big", "/moved");
      expectEqual((await namesIn(storage, "/moved")).length, 1_000, "number of members");
      expectEqual(await namesIn(storage, "/"), ["moved"], "members");
    },
  },
  {
    name: "move: of several parallel movers of one file or folder exactly one succeeds, and the others are not-found",
    needs: "exactMoves",
    async run({ storage }) {
      for (const kind of ["file", "folder"] as const) {
        for (const replace of [false, true]) {
          const from = `/${kind}-${replace}`;
          await makeMember(storage, from, kind, "moved");
          const movers = Array.from({ length: 10 }, (_, number) =>
            storage.move(from, `${from}-${number}`, { replace }),
          );
          const outcomes = await Promise.allSettled(movers);
          const winners = [...outcomes.keys()].filter((index) => outcomes[index]?.status === "fulfilled");
          expectEqual(winners.length, 1, "number of winners");
          for (const [index, mover] of movers.entries()) {
            if (index !== winners[0]) await expectRefusal(mover, "not-found");
          }
          await expectMember(storage, `${from}-${winners[0]}`, kind, "moved");
          expectEqual(
            (await namesIn(storage, "/")).filter((name) => name.startsWith(from.slice(1))).length,
            1,
            "places",
          );
        }
      }
    },
  },
  {
    name: "move: of several parallel movers to one new name exactly one succeeds, and the others keep their source",
    needs: "exactMoves",
    async run({ storage }) {
      for (const kind of ["file", "folder"] as const) {
        const sources = Array.from({ length: 10 }, (_, number) => `/${kind}-${number}`);
        for (const [number, from] of sources.entries()) await makeMember(storage, from, kind, `${number}`);
        const movers = sources.map((from) => storage.move(from, `/to-${kind}`));
        const outcomes = await Promise.allSettled(movers);
        const winners = [...outcomes.keys()].filter((index) => outcomes[index]?.status === "fulfilled");
        expectEqual(winners.length, 1, "number of winners");
        await expectMember(storage, `/to-${kind}`, kind, `${winners[0]}`);
        for (const [number, from] of sources.entries()) {
          if (number === winners[0]) continue;
          await expectRefusal(movers[number] ?? Promise.resolve(), "already-exists");
          await expectMember(storage, from, kind, `${number}`);
        }
      }
    },
  },
  {
    name: "move with replace: of several parallel movers to one name each one's source is moved or stays, and the name has one of them completely",
    needs: "exactMoves",
    async run({ storage }) {
      const sources = Array.from({ length: 10 }, (_, number) => `/${number}`);
      for (const [number, from] of sources.entries()) {
        await makeMember(storage, from, number % 2 === 0 ? "file" : "folder", `${number}`);
      }
      await put(storage, "/to", "old");
      const outcomes = await Promise.allSettled(sources.map((from) => storage.move(from, "/to", { replace: true })));
      for (const [number, { status }] of outcomes.entries()) {
        const isThere = (await storage.stat(`/${number}`)) !== undefined;
        expectEqual(isThere, status === "rejected", `source ${number} is there`);
      }
      const names = await namesIn(storage, "/");
      expect(names.includes("to"), "the name exists");
      const isFolder = (await storage.stat("/to"))?.kind === "folder";
      const text = await readFileText(storage, isFolder ? "/to/member" : "/to");
      await expectMember(storage, "/to", isFolder ? "folder" : "file", text);
    },
  },
  {
    name: "move: writes to the old and the new name at the same moment leave complete files",
    needs: "exactMoves",
    async run({ storage }) {
      await put(storage, "/a", "first");
      const moving = async () => {
        for (let round = 0; round < 20; round += 1) {
          const moved = storage.move("/a", "/b", { replace: true });
          await moved.catch(() => expectRefusal(moved, "not-found"));
        }
      };
      const writing = async (path: string) => {
        for (let round = 0; round < 20; round += 1) await put(storage, path, `text ${round}`);
      };
      await Promise.all([moving(), writing("/a"), writing("/b")]);
      for (const path of await namesIn(storage, "/")) {
        expect(/^(?:first|text \d+)$/.test(await readFileText(storage, `/${path}`)), `${path} is complete`);
      }
    },
  },
];
