import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareNames } from "../../../src/contracts/member-names.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createR2Storage } from "../../../src/storage/r2.ts";
import { areSameBytes, inChunks, namesIn, noise, put } from "../../../src/testing/storage/content.ts";
import { createMemoryBucket, type MemoryBucket } from "./r2-bucket.ts";

const PART = 5_242_880;
const FOLDER = ".fileferry-properties";

/** A storage with the folder `tree`, whose members and itself have properties, and the file `file`. */
async function createTree(onCall: (call: string, key: string, bucket: MemoryBucket) => void = () => undefined) {
  let isReady = false;
  const bucket: MemoryBucket = createMemoryBucket((call, key) => {
    if (isReady) onCall(call, key, bucket);
  });
  const storage = createR2Storage(bucket.bucket, { partBytes: PART });
  await storage.createFolder("/tree");
  for (const path of ["/file", "/tree/1", "/tree/2", "/tree/3"]) await put(storage, path, path);
  for (const path of ["/file", "/tree", "/tree/2"]) await setProperty(storage, path);
  isReady = true;
  return { ...bucket, storage };
}

async function setProperty(storage: StorageAdapter, path: string): Promise<void> {
  await storage.attributes?.change(path, { properties: new Map([["name", "x"]]) });
}

function keysOf({ objects }: Pick<MemoryBucket, "objects">): readonly string[] {
  return [...objects.keys()].sort();
}

function treeAt(name: string): readonly string[] {
  return [`${name}/`, `${name}/${FOLDER}/2`, `${name}/1`, `${name}/2`, `${name}/3`, `${FOLDER}/${name}`];
}

function fileAt(name: string): readonly string[] {
  return [name, `${FOLDER}/${name}`];
}

function sorted(...keys: readonly (readonly string[])[]): readonly string[] {
  return keys.flat().sort();
}

function failAt(wanted: string): (call: string, key: string) => void {
  return (call, key) => {
    if (`${call} ${key}` === wanted) throw new Error("internal error (10001)");
  };
}

describe("copies and moves in R2", () => {
  it("say that they read, before they change anything, and end if they may not", async () => {
    const before = await createTree();
    for (const verb of ["copy", "move"] as const) {
      for (const path of ["/file", "/tree"]) {
        const refusal = new Error("not now");
        const onRead = () => {
          throw refusal;
        };
        await expect(before.storage[verb](path, "/new", { onRead })).rejects.toBe(refusal);
      }
    }
    expect(keysOf(before)).toEqual(sorted(treeAt("tree"), fileAt("file")));
  });

  it("keep the metadata of objects of other programs", async () => {
    const { bucket, objects } = createMemoryBucket();
    const storage = createR2Storage(bucket, { partBytes: PART });
    const metadata = { httpMetadata: { contentType: "image/png" }, customMetadata: { color: "blue" } };
    await bucket.put("small", noise(10, 1), metadata);
    await bucket.put("large", noise(PART + 1, 1), metadata);
    for (const name of ["small", "large"]) {
      await storage.copy(`/${name}`, `/${name} copy`);
      expect(objects.get(`${name} copy`)).toMatchObject(metadata);
      const [bytes, copied] = [name, `${name} copy`].map((key) => objects.get(key)?.bytes ?? new Uint8Array());
      expect(areSameBytes(copied as Uint8Array, bytes as Uint8Array)).toBe(true);
    }
  });

  it.each(["copy/3", `${FOLDER}/copy`])("are taken back if %s cannot be written", async (failing) => {
    const tree = await createTree(failAt(`put ${failing}`));
    await expect(tree.storage.copy("/tree", "/copy")).rejects.toMatchObject({ code: "unavailable" });
    expect(keysOf(tree)).toEqual(sorted(treeAt("tree"), fileAt("file")));
  });

  it("are taken back if the signal aborts, with its reason", async () => {
    const controller = new AbortController();
    const tree = await createTree((_, key) => {
      if (key === "copy/2") controller.abort(new Error("gone"));
    });
    await expect(tree.storage.copy("/tree", "/copy", { signal: controller.signal })).rejects.toThrow("gone");
    expect(keysOf(tree)).toEqual(sorted(treeAt("tree"), fileAt("file")));
  });

  it("that are taken back leave what others have put there meanwhile", async () => {
    const tree = await createTree((call, key, { set }) => {
      if (`${call} ${key}` !== "put copy/3") return;
      for (const own of ["copy/1", "copy/mine"]) set(own, "other");
      throw new Error("internal error (10001)");
    });
    await expect(tree.storage.copy("/tree", "/copy")).rejects.toMatchObject({ code: "unavailable" });
    const own = ["copy/1", "copy/mine", `${FOLDER}/copy`];
    expect(keysOf(tree)).toEqual(sorted(treeAt("tree"), fileAt("file"), own));
    expect([tree.text("copy/1"), tree.text("copy/mine")]).toEqual(["other", "other"]);
  });

  it("move a folder with files of several parts, whose copies have other entity-tags", async () => {
    const tree = await createTree();
    await tree.storage.write("/tree/1", inChunks(noise(PART + 7, 1), 1_000_000));
    await tree.storage.move("/tree", "/new");
    expect(keysOf(tree)).toEqual(sorted(treeAt("new"), fileAt("file")));
    expect(tree.objects.get("new/1")?.size).toBe(PART + 7);
  });

  it.each([
    ["tree", "tree/2"],
    ["file", "file"],
  ])("of a %s leave both and are unavailable if the source cannot be removed", async (name, failing) => {
    const tree = await createTree(failAt(`delete ${failing}`));
    await expect(tree.storage.move(`/${name}`, "/new")).rejects.toMatchObject({ code: "unavailable" });
    const copies = name === "tree" ? treeAt("new") : fileAt("new");
    expect(keysOf(tree)).toEqual(expect.arrayContaining([...copies, failing]));
    expect(tree.text(name === "tree" ? "new/2" : "new")).toBe(name === "tree" ? "/tree/2" : "/file");
  });

  it("keep a member that was changed or created after it was copied, and are unavailable", async () => {
    let copies = 0;
    const tree = await createTree((call, key, { set }) => {
      if (call === "put" && /^new\/\d/.test(key)) copies += 1;
      if (copies < 3) return;
      copies = -10;
      queueMicrotask(() => {
        set("tree/1", "changed");
        set("tree/later", "created");
      });
    });
    await expect(tree.storage.move("/tree", "/new")).rejects.toMatchObject({ code: "unavailable" });
    expect([tree.text("tree/1"), tree.text("tree/later")]).toEqual(["changed", "created"]);
    expect([tree.text("new/1"), tree.text("tree/3")]).toEqual(["/tree/1", undefined]);
  });
});

describe("properties in R2", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "-", ".", "0", "f"), minLength: 1, maxLength: 4 });

  it("are marked in listings and their parts as in stat", async () => {
    const members = fc.uniqueArray(
      name.filter((text) => text !== "." && text !== ".."),
      { maxLength: 14 },
    );
    await fc.assert(
      fc.asyncProperty(members, fc.nat(), fc.nat(), name, async (all, kinds, marks, after) => {
        const { bucket } = createMemoryBucket();
        const storage = createR2Storage(bucket);
        for (const [index, member] of all.entries()) {
          if ((kinds >> index) % 2 === 1) await storage.createFolder(`/${member}`);
          else await put(storage, `/${member}`, "x");
          if ((marks >> index) % 2 === 1) await setProperty(storage, `/${member}`);
        }
        const marked = all.filter((_, index) => (marks >> index) % 2 === 1).sort(compareNames);
        expect(await markedIn(storage)).toEqual(marked);
        const later = all.filter((member) => compareNames(member, after) > 0).sort(compareNames);
        const first = later.slice(0, 3);
        const found = await markedIn(storage, { after, limit: 3 });
        expect(first.filter((member) => found.includes(member))).toEqual(first.filter((one) => marked.includes(one)));
      }),
      { numRuns: 100 },
    );
  });

  it("are in a folder that clients can neither see, reach nor create", async () => {
    const { storage } = await createTree();
    expect(await namesIn(storage, "/")).toEqual(["file", "tree"]);
    for (const path of [`/${FOLDER}`, `/${FOLDER}/file`, `/tree/${FOLDER}`]) {
      expect(await storage.stat(path)).toBeUndefined();
      await expect(storage.read(path)).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.remove(path)).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.copy("/file", path)).rejects.toMatchObject({ code: "bad-name" });
      await expect(put(storage, path, "x")).rejects.toMatchObject({ code: "bad-name" });
      await expect(storage.createFolder(path)).rejects.toMatchObject({ code: "bad-name" });
    }
  });
});

async function markedIn(storage: StorageAdapter, part?: { after: string; limit: number }): Promise<readonly string[]> {
  const marked: string[] = [];
  for await (const entry of storage.list("/", part)) if (entry.hasProperties) marked.push(entry.name);
  return marked.sort(compareNames);
}
