import { describe, expect, it } from "vitest";
import { type ArchiveSource, openFolder, walkMembers } from "../../../src/archive/entries.ts";
import type { ZipEntry } from "../../../src/archive/read-ahead.ts";
import { type StorageEntry, StorageError, type StorageErrorCode } from "../../../src/contracts/storage-adapter.ts";
import { HttpError } from "../../../src/http/http-error.ts";

const FOLDER_TIME = new Date("2018-01-01T00:00:00Z");
const LISTED_TIME = new Date("2018-02-02T00:00:00Z");
const READ_TIME = new Date("2018-03-03T00:00:00Z");

/** A tree: texts are files, `link` is a link, errors are what reading or listing throws. */
interface Tree {
  readonly [name: string]: Tree | string | Error | typeof LINK;
}
const LINK = Symbol("link");

describe("openFolder", () => {
  it("names everything in a folder by its full path: files, then folders, by name, for every order of the storage", async () => {
    const tree = { top: { "b.txt": "b", z: { "c.txt": "c" }, "a.txt": "a", empty: {}, m: { n: { "d.txt": "" } } } };
    expect(await names(tree, ["top"])).toEqual([
      "top/",
      "top/a.txt",
      "top/b.txt",
      "top/empty/",
      "top/m/",
      "top/m/n/",
      "top/m/n/d.txt",
      "top/z/",
      "top/z/c.txt",
    ]);
  });

  it("gives the root no entry of its own", async () => {
    expect(await names({}, [])).toEqual([]);
    expect(await names({ "a.txt": "a", b: {} }, [])).toEqual(["a.txt", "b/"]);
  });

  it("takes times and sizes from the listing, of the folder itself from its newest member, of opened files from what is read", async () => {
    const entries = await collect(await openFolder(toSource({ top: { "a.txt": "abc", b: {} } }), ["top"], ignore));
    expect(entries.map(({ name, modified, size }) => [name, modified, size])).toEqual([
      ["top/", LISTED_TIME, 0],
      ["top/a.txt", LISTED_TIME, 99],
      ["top/b/", FOLDER_TIME, 0],
    ]);
    expect(await entries[1]?.open?.()).toMatchObject({ modified: READ_TIME, size: 3 });
    const [empty] = await collect(await openFolder(toSource({ top: {} }), ["top"], ignore));
    expect(empty).toEqual({ name: "top/", modified: new Date(0), size: 0 });
  });

  it("omits links", async () => {
    expect(await names({ "a.txt": "a", evil: LINK, b: { evil: LINK } }, [])).toEqual(["a.txt", "b/"]);
  });

  it("makes names safe, and unique in their folder, files and folders together (SECURITY 22)", async () => {
    const tree = {
      "..\\evil": "1",
      "a:b": { "x\n.txt": "2" },
      "a\\b": "3",
      a_b: "4",
      d: { "a:b": "5" },
      "c:": { "..\\..\\x": "6" },
    };
    expect(await names(tree, [])).toEqual([
      ".._evil",
      "a_b (2)",
      "a_b",
      "a_b (3)/",
      "a_b (3)/x_.txt",
      "c_/",
      "c_/.._.._x",
      "d/",
      "d/a_b",
    ]);
    expect(await names({ "a:b": { "c.txt": "" } }, ["a:b"])).toEqual(["a_b/", "a_b/c.txt"]);
  });

  it.each<[string, Error]>([
    ["may not be read", new HttpError("denied", "no")],
    ["has gone since it was listed", new StorageError("not-found")],
    ["has become a folder", new StorageError("not-a-file")],
    ["is denied by the storage", new StorageError("denied")],
  ])("leaves out a file that %s", async (_, error) => {
    expect(await names({ "a.txt": "a", "b.txt": error, "c.txt": "c" }, [])).toEqual(["a.txt", "c.txt"]);
  });

  it.each<[string, Error]>([
    ["may not be listed", new HttpError("denied", "no")],
    ["has gone since it was listed", new StorageError("not-found")],
    ["has become a file", new StorageError("not-a-folder")],
    ["is denied by the storage", new StorageError("denied")],
  ])("leaves out a folder that %s, its own entry too: it would seem empty", async (_, error) => {
    expect(await names({ a: { "x.txt": "" }, b: toUnlistable(error), c: {} }, [])).toEqual(["a/", "a/x.txt", "c/"]);
  });

  it("reports what the storage denies, and nothing else that it omits", async () => {
    const reported: unknown[] = [];
    const denied = new StorageError("denied");
    const tree = {
      a: denied,
      b: new HttpError("denied", "no"),
      c: new StorageError("not-found"),
      d: toUnlistable(denied),
    };
    for (const { open } of await collect(await openFolder(toSource(tree), [], (error) => reported.push(error))))
      await open?.();
    expect(reported).toEqual([denied, denied]);
  });

  it.each<StorageErrorCode>(["unavailable", "bad-name", "incomplete"])(
    "fails with a member that is %s",
    async (code) => {
      await expect(names({ a: "a", b: new StorageError(code) }, [])).rejects.toMatchObject({ code });
    },
  );

  it.each<Error>([new StorageError("not-found"), new HttpError("denied", "no"), new StorageError("denied")])(
    "fails at once where the folder itself cannot be listed: %s",
    async (error) => {
      await expect(openFolder(toSource(toUnlistable(error)), [], ignore)).rejects.toBe(error);
    },
  );

  it("opens a file only when the consumer asks for it", async () => {
    const opened: string[] = [];
    const entries = await collect(await openFolder(toSource({ a: "a", b: { c: "c" } }, opened), [], ignore));
    expect(opened).toEqual([]);
    await entries.at(-1)?.open?.();
    expect(opened).toEqual(["/b/c"]);
  });

  it("takes the shorter way to a content where the storage has one, and makes no stream then", async () => {
    const bytes = new Uint8Array(3);
    const source: ArchiveSource = {
      ...toSource({ a: "abc" }),
      read: async () => ({
        entry: { name: "a", kind: "file", size: 3, modified: READ_TIME },
        source: bytes,
        get body(): never {
          throw new Error("A stream was made.");
        },
      }),
    };
    const [entry] = await collect(await openFolder(source, [], ignore));
    expect((await entry?.open?.())?.source).toBe(bytes);
  });

  it("does not even name what the account may not read", async () => {
    const source = { ...toSource({ a: "a", b: "b" }), mayRead: async ([name]: readonly string[]) => name !== "a" };
    expect((await collect(await openFolder(source, [], ignore))).map(({ name }) => name)).toEqual(["b"]);
  });

  it("goes down a deep tree", async () => {
    let tree: Tree = { "leaf.txt": "x" };
    for (let depth = 0; depth < 2000; depth++) tree = { d: tree };
    const found = await names(tree, []);
    expect(found).toHaveLength(2001);
    expect(found.at(-1)).toBe(`${"d/".repeat(2000)}leaf.txt`);
  });
});

describe("walkMembers", () => {
  it("names chosen members relative to their folder, safe and unique", async () => {
    const tree = { top: { "b:.txt": "b", "b_.txt": "x", a: { "c.txt": "c" }, other: "no" } };
    const chosen = [
      { name: "b:.txt", kind: "file", size: 1, modified: LISTED_TIME },
      { name: "a", kind: "folder" },
      { name: "b_.txt", kind: "file", size: 1, modified: LISTED_TIME },
    ] as const;
    const entries = await collect(walkMembers(toSource(tree), ["top"], chosen, ignore));
    expect(entries.map(({ name }) => name)).toEqual(["b_ (2).txt", "b_.txt", "a/", "a/c.txt"]);
  });
});

function ignore(): void {}

/** A folder that is listed by its parent, but cannot be listed itself. */
function toUnlistable(error: Error): Tree {
  return { "": error };
}

/** The names of what is there once it is opened. */
async function names(tree: Tree, segments: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { name, open } of await collect(await openFolder(toSource(tree), segments, ignore))) {
    if (open === undefined || (await open()) !== undefined) found.push(name);
  }
  return found;
}

async function collect(entries: AsyncIterable<ZipEntry>): Promise<readonly ZipEntry[]> {
  const collected: ZipEntry[] = [];
  for await (const entry of entries) collected.push(entry);
  return collected;
}

function toSource(tree: Tree, opened: string[] = []): ArchiveSource {
  function find(segments: readonly string[]): Tree[string] | undefined {
    let found: Tree[string] | undefined = tree;
    for (const segment of segments) found = typeof found === "object" ? (found as Tree)[segment] : undefined;
    return found;
  }

  async function* list(segments: readonly string[]): AsyncGenerator<StorageEntry> {
    const folder = find(segments) as Tree;
    if (folder[""] instanceof Error) throw folder[""];
    for (const [name, member] of Object.entries(folder)) {
      const kind = member === LINK ? "link" : typeof member === "string" || member instanceof Error ? "file" : "folder";
      yield { name, kind, size: 99, modified: kind === "file" ? LISTED_TIME : FOLDER_TIME };
    }
  }

  return {
    list,
    mayRead: async () => true,
    async read(segments) {
      opened.push(`/${segments.join("/")}`);
      const content = find(segments);
      if (content instanceof Error) throw content;
      if (typeof content !== "string") throw new Error("A file that is none was read.");
      const entry = { name: segments.at(-1) ?? "", kind: "file", size: content.length, modified: READ_TIME } as const;
      return { entry, body: new Blob([content]).stream() as ReadableStream<Uint8Array> };
    },
  };
}
