import fc from "fast-check";
import JSZip from "jszip";
import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTestService } from "../../support/service.ts";
import { fillStorage } from "../../support/storage.ts";
import { amount } from "../../support/trust.ts";
import { readZip } from "../../unit/archive/read-zip.ts";

/** Names that archives, systems and pages have trouble with. */
const name = fc.oneof(
  fc.constantFrom(
    "a",
    "A",
    "a.",
    "a ",
    " a",
    "a:b",
    "a_b",
    "C:",
    "..x",
    "...",
    "a\u0001b",
    "é",
    "e\u0301",
    "😀",
    "con",
    "__proto__",
  ),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).filter(isName),
);
const content = fc.oneof(
  fc.constant(new Uint8Array()),
  fc.uint8Array({ maxLength: 300 }),
  fc.nat(70_000).map((size) => new Uint8Array(size).fill(65)),
);

/** A folder by the names in it; content is a file. */
type Tree = ReadonlyMap<string, Tree | Uint8Array>;
const tree = fc.letrec<{ node: Tree | Uint8Array; folder: Tree }>((tie) => ({
  node: fc.oneof({ maxDepth: 3 }, content, tie("folder")),
  folder: fc
    .uniqueArray(fc.tuple(name, tie("node")), { maxLength: 5, selector: ([name]) => name })
    .map((entries) => new Map(entries)),
})).folder;

function isName(text: string): boolean {
  return !/[/\\\p{Cc}\p{Cs}]/u.test(text) && text !== "." && text !== "..";
}

/** Files and folders below a path, as a storage is filled by. */
function toFiles(path: string, folder: Tree): Record<string, Uint8Array> {
  const files: Record<string, Uint8Array> = { [`${path}/`]: new Uint8Array() };
  for (const [name, node] of folder) {
    if (node instanceof Uint8Array) files[`${path}/${name}`] = node;
    else Object.assign(files, toFiles(`${path}/${name}`, node));
  }
  return files;
}

/** What a tree holds, whatever it is called: the depth and content of each file, and the depth of each folder. */
function toShape(folder: Tree, depth = 0): readonly string[] {
  return [...folder.values()]
    .flatMap((node) =>
      node instanceof Uint8Array
        ? [`${depth} ${Buffer.from(node).toString("base64")}`]
        : [`${depth} folder`, ...toShape(node, depth + 1)],
    )
    .sort();
}

function isPlain(name: string): boolean {
  return !/[\\:\p{Cc}]/u.test(name);
}

describe("the archive of any tree (4.2, CONTRACT 3.4)", () => {
  it.each(["stored", "deflate"] as const)(
    "holds each member once, whole and by a harmless name, for two readers, in the length that was announced (%s)",
    async (method) => {
      await fc.assert(
        fc.asyncProperty(tree, async (folder) => {
          const storage = createMemoryStorage();
          await fillStorage(storage, toFiles("/alice/f", folder));
          const { call } = await createTestService({ storage, archive: { method } });
          const answer = await call("GET", "/home/f/", { headers: { accept: "application/zip" } });
          expect(answer.status).toBe(200);
          const length = answer.header("content-length");
          if (length !== null) expect(Number(length)).toBe(answer.bytes.byteLength);

          const members = readZip(answer.bytes);
          const names = members.map(({ name }) => name);
          expect(new Set(names).size).toBe(names.length);
          for (const name of names) expect(name).not.toMatch(/[\\:\p{Cc}]|^\/|(?:^|\/)\.\.?(?:\/|$)|\/\//u);
          const found = members
            .filter(({ name }) => name !== "f/")
            .map(({ name, content }) => {
              const depth = name.replace(/\/$/, "").split("/").length - 2;
              return name.endsWith("/") ? `${depth} folder` : `${depth} ${content().toString("base64")}`;
            });
          expect(found.sort()).toEqual(toShape(folder));
          // Names that need no change stay.
          for (const [name, node] of folder) {
            if (isPlain(name)) expect(names).toContain(`f/${name}${node instanceof Uint8Array ? "" : "/"}`);
          }
          const zip = await JSZip.loadAsync(answer.bytes, { checkCRC32: true });
          expect(Object.keys(zip.files).sort()).toEqual([...names].sort());
        }),
        { numRuns: amount({ short: 20, long: 60 }) },
      );
    },
  );
});
