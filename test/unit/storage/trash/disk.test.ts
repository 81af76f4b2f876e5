import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDiskStorage } from "../../../../src/storage/disk.ts";
import { createFaultyStorage } from "../../../../src/testing/faulty-storage.ts";
import { codeOf, entriesOf, openTrash } from "./setup.ts";

const MEMBERS = 10_000;
const TIMED_ID = /\d{8}T\d{9}Z-[0-9a-f]{16}/;

describe("a trash on a disk", () => {
  it(`takes a folder of ${MEMBERS} members by one rename, and gives it back by another`, async () => {
    const root = mkdtempSync(join(tmpdir(), "fileferry-trash-"));
    onTestFinished(() => rmSync(root, { recursive: true }));
    for (const folder of ["empty", "large"]) mkdirSync(join(root, folder));
    for (let member = 0; member < MEMBERS; member += 1) writeFileSync(join(root, "large", `${member}`), "");
    const inodesIn = (...names: string[]) => ["", "0", `${MEMBERS - 1}`].map((name) => inodeOf(root, ...names, name));
    const inodes = inodesIn("large");

    let calls: string[] = [];
    const disk = createFaultyStorage(createDiskStorage({ root, durability: "rename" }), ({ verb, path, step }) => {
      if (step === "call" || step === "entry") calls.push(`${verb} ${path.replace(TIMED_ID, "<id>")}`);
      return undefined;
    });
    const { storage } = openTrash({}, disk);
    async function callsOf(action: () => Promise<unknown>): Promise<readonly string[]> {
      calls = [];
      await action();
      return calls;
    }
    /** The calls for the empty folder, as those for the large one. */
    const asOfLarge = (ofEmpty: readonly string[]) => ofEmpty.map((call) => call.replace("/empty", "/large"));

    // The folders around the first entry are made once.
    await storage.createFolder("/first");
    await storage.remove("/first");
    const removal = await callsOf(() => storage.remove("/large"));
    expect(removal.filter((call) => call.startsWith("move "))).toEqual(["move /large"]);
    expect(removal).toEqual(asOfLarge(await callsOf(() => storage.remove("/empty"))));

    const entries = await entriesOf(storage);
    const idOf = (path: string): string => entries.find((entry) => entry.path === path)?.id ?? "";
    const place = ["__svc__", "trash", "large~t", idOf("/large"), "data"];
    expect(inodesIn(...place)).toEqual(inodes);

    const restoration = await callsOf(() => storage.trash.restore(idOf("/large")));
    expect(restoration.filter((call) => call.startsWith("move "))).toEqual(["move /__svc__/trash/large~t/<id>/data"]);
    expect(restoration).toEqual(asOfLarge(await callsOf(() => storage.trash.restore(idOf("/empty")))));
    expect(inodesIn("large")).toEqual(inodes);
  });

  it("ends a restoration that a crash has cut in two, and no other one whose place is taken", async () => {
    const root = mkdtempSync(join(tmpdir(), "fileferry-trash-"));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const { storage } = openTrash({}, createDiskStorage({ root, durability: "rename" }));
    for (const name of ["linked", "copied"]) {
      writeFileSync(join(root, name), "content");
      utimesSync(join(root, name), 1_700_000_000, 1_700_000_000);
      await storage.remove(`/${name}`);
    }
    const entries = await entriesOf(storage);
    const idOf = (name: string): string => entries.find(({ path }) => path === `/${name}`)?.id ?? "";
    const dataOf = (name: string): string => join(root, "__svc__/trash", `${name}~t`, idOf(name), "data");
    linkSync(dataOf("linked"), join(root, "linked"));
    copyFileSync(dataOf("copied"), join(root, "copied"));
    utimesSync(join(root, "copied"), 1_700_000_000, 1_700_000_000);

    expect(await storage.trash.restore(idOf("linked"))).toBe("/linked");
    expect(await codeOf(storage.trash.restore(idOf("copied")))).toBe("already-exists");
    expect((await entriesOf(storage)).map(({ path }) => path)).toEqual(["/copied"]);
    expect(["linked", "copied"].map((name) => readFileSync(join(root, name), "utf8"))).toEqual(["content", "content"]);
  });
});

function inodeOf(...path: readonly string[]): number {
  return statSync(join(...path)).ino;
}
