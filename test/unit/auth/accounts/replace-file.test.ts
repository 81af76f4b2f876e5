import { chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replaceFile } from "../../../../src/auth/accounts/replace-file-node.ts";

/** An account of the system, and a group, other than the tests' own. */
const OTHER_ID = 65_534;

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-replace-"));
  file = join(folder, "file.json");
  await writeFile(file, "former");
});
afterEach(() => rm(folder, { recursive: true }));

describe("the replacement of a file", () => {
  it("succeeds for each of several at once, and leaves one of them", async () => {
    const contents = Array.from({ length: 10 }, (_, index) => `content ${index}`);
    await Promise.all(contents.map((content) => replaceFile(file, content)));
    expect(contents).toContain(await readFile(file, "utf8"));
    expect(await readdir(folder)).toEqual(["file.json"]);
  });

  it("leaves nothing where it fails", async () => {
    const occupied = join(folder, "occupied.json");
    await mkdir(occupied);
    await expect(replaceFile(occupied, "new")).rejects.toThrow(occupied);
    expect((await readdir(folder)).sort()).toEqual(["file.json", "occupied.json"]);
  });

  it.skipIf(process.getuid?.() !== 0).each([
    [0, OTHER_ID],
    [OTHER_ID, 0],
    [OTHER_ID, OTHER_ID],
  ])("keeps its owner %d and its group %d (skipped unless root)", async (uid, gid) => {
    await chown(file, uid, gid);
    await replaceFile(file, "new");
    expect(await stat(file)).toMatchObject({ uid, gid });
    expect(await readFile(file, "utf8")).toBe("new");
  });
});
