import { compareNames } from "../../contracts/member-names.ts";
import type { ListOptions, StorageAdapter, StorageEntry } from "../../contracts/storage-adapter.ts";
import { expect, expectEqual, expectRefusal } from "../expectations.ts";
import type { StorageCase } from "./case.ts";
import { firstOf, makeFilledFolder, put } from "./content.ts";

/** Names whose order by code points is neither that of UTF-16, nor that of keys, where a folder ends with `/`. */
const FILES = [
  "a-b",
  "a.txt",
  "a b.c",
  "a-",
  "b",
  "b.c",
  "Z",
  "\u00e4",
  "\uff01",
  "\u{1f600}",
  "n1.txt",
  "n2.txt",
  "n3.txt",
];
const FOLDERS = ["a", "a-b.c", "a-b-c", "c", "n", "n2", "\u{1f600}.d"];

/** Cases about parts and tags of listings. */
export const listingCases: readonly StorageCase[] = [
  {
    name: "list: a part has at least the first files and folders after a name, each as the whole listing has it",
    async run({ storage }) {
      await storage.createFolder("/folder");
      for (const name of FILES) await put(storage, `/folder/${name}`, name);
      for (const name of FOLDERS) await storage.createFolder(`/folder/${name}`);
      await put(storage, "/folder/n/below", "x");
      await put(storage, "/folder0", "a neighbour");
      const whole = await membersIn(storage, "/folder");
      for (const after of ["", ...FILES, ...FOLDERS, "a-", "b/", "\u{10ffff}", "x".repeat(300), "\ud800", ".."]) {
        for (const limit of [1, 2, 5, 100]) await checkPart(storage, "/folder", { after, limit }, whole);
      }
    },
  },
  {
    name: "list: parts have all of more than 2,000 members",
    async run(context) {
      await makeFilledFolder(context, "/folder", 2100);
      const whole = await membersIn(context.storage, "/folder");
      for (const after of ["", "1999", "999"]) {
        for (const limit of [1, 1001]) await checkPart(context.storage, "/folder", { after, limit }, whole);
      }
    },
  },
  {
    name: "list: a part of an empty folder, or after the last member, is empty; of anything else it is refused",
    async run({ storage }) {
      await storage.createFolder("/empty");
      await storage.createFolder("/folder");
      await put(storage, "/folder/a", "x");
      for (const [path, after] of [
        ["/empty", ""],
        ["/empty", "a"],
        ["/folder", "b"],
      ] as const) {
        for await (const { name } of storage.list(path, { after, limit: 1 })) {
          expect(compareNames(name, after) <= 0, `${name} is not in the part`);
        }
      }
      for (const after of ["", "a"]) {
        await expectRefusal(firstOf(storage, "/none", { after, limit: 1 }), "not-found");
        await expectRefusal(firstOf(storage, "/folder/a", { after, limit: 1 }), "not-a-folder");
      }
    },
  },
  {
    name: "list: links and what is no member do not count for a part",
    needs: "makeLink",
    async run({ storage, makeLink }) {
      await storage.createFolder("/folder");
      for (const name of ["b", "d", "f"]) await put(storage, `/folder/${name}`, "x");
      for (const name of ["a", "c", "e", "g"]) await makeLink?.(`/folder/${name}`, "file");
      const whole = await membersIn(storage, "/folder");
      for (const limit of [1, 2, 3, 4]) await checkPart(storage, "/folder", { after: "", limit }, whole);
    },
  },
  {
    name: "listingTag: if there is one, it changes with every change that a listing shows, and differs between folders",
    async run({ storage }) {
      await storage.createFolder("/folder");
      await storage.createFolder("/other");
      await expectNewTag(storage, () => put(storage, "/folder/a", "x"));
      await expectNewTag(storage, () => put(storage, "/folder/a", "longer"));
      await expectNewTag(storage, () => storage.createFolder("/folder/sub"));
      await expectNewTag(storage, () => storage.remove("/folder/a"));
      await expectNewTag(storage, async () => {
        await storage.remove("/folder");
        await storage.createFolder("/folder");
      });
      const [tag, other] = [await storage.listingTag?.("/folder"), await storage.listingTag?.("/other")];
      expect(tag === undefined || tag !== other, "the tags of two folders");
      expect(tag === undefined || /^[!#-~]{1,100}$/.test(tag), "characters of the tag");
      expectEqual(await storage.listingTag?.("/none"), undefined, "tag of nothing");
    },
  },
];

async function membersIn(
  storage: StorageAdapter,
  path: string,
  options?: ListOptions,
): Promise<readonly StorageEntry[]> {
  const members: StorageEntry[] = [];
  for await (const member of storage.list(path, options)) if (member.kind !== "link") members.push(member);
  return members.sort((one, other) => compareNames(one.name, other.name));
}

async function checkPart(
  storage: StorageAdapter,
  path: string,
  options: ListOptions,
  whole: readonly StorageEntry[],
): Promise<void> {
  const select = (members: readonly StorageEntry[]): readonly StorageEntry[] =>
    members.filter(({ name }) => compareNames(name, options.after) > 0).slice(0, options.limit);
  const part = select(await membersIn(storage, path, options));
  expectEqual(part, select(whole), `the first ${options.limit} after ${JSON.stringify(options.after)}`);
}

/** Expects that a change of `/folder` changes its tag, and no other. */
async function expectNewTag(storage: StorageAdapter, change: () => Promise<unknown>): Promise<void> {
  const before = [await storage.listingTag?.("/folder"), await storage.listingTag?.("/other")];
  await change();
  const [tag, other] = [await storage.listingTag?.("/folder"), await storage.listingTag?.("/other")];
  expect(tag === undefined || tag !== before[0], "a new tag");
  expectEqual(other, before[1], "the tag of another folder");
}
