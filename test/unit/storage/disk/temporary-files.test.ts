import fs from "node:fs";
import { mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { StorageError } from "../../../../src/contracts/storage-adapter.ts";
import { openByPath } from "../../../../src/storage/disk/folder-by-path.ts";
import type { OpenFolder } from "../../../../src/storage/disk/open-folder.ts";
import {
  releaseTemporaryName,
  removeIfAbandoned,
  reserveTemporaryName,
} from "../../../../src/storage/disk/temporary-files.ts";
import { writeMember } from "../../../../src/storage/disk/write.ts";
import { textChunks } from "../../../../src/testing/storage/content.ts";

let root: string;
let folder: OpenFolder;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "fileferry-temporary-")));
  folder = await openByPath(root);
});
afterEach(() => rm(root, { recursive: true }));

describe("what failed writes of this process could not remove", () => {
  it("is known of the last 10,000: the oldest is forgotten for another", async () => {
    const names = Array.from({ length: 10_001 }, reserveTemporaryName);
    for (const name of names) releaseTemporaryName(name, false);
    const [oldest = "", second = "", last = ""] = [names[0], names[1], names.at(-1)];
    for (const name of [oldest, second, last]) {
      await writeFile(join(root, name), "x");
      await removeIfAbandoned(folder, name);
    }
    expect(await readdir(root)).toEqual([oldest]);
  });

  it("holds no name of a file that could not be made", async () => {
    const refuse = () => Promise.reject(Object.assign(new Error("EACCES"), { errno: -13, code: "EACCES" }));
    const { unlink } = fs.promises;
    fs.promises.unlink = refuse;
    syncBuiltinESMExports();
    onTestFinished(restore);
    const names: string[] = [];
    const readOnly: OpenFolder = {
      ...folder,
      openFile: (name) => {
        names.push(String(name));
        return Promise.reject(new StorageError("denied"));
      },
    };
    const writing = writeMember(readOnly, "file", textChunks("text"), {}, { durability: "rename" });
    await expect(writing).rejects.toMatchObject({ code: "denied" });
    restore();
    const [name = ""] = names;
    await writeFile(join(root, name), "x");
    // As any other of a process that runs.
    expect(await removeIfAbandoned(folder, name)).toBe(true);
    expect(await readdir(root)).toEqual([name]);

    function restore(): void {
      fs.promises.unlink = unlink;
      syncBuiltinESMExports();
    }
  });
});
