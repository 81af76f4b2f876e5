import { link, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { createTestService } from "../../support/service.ts";
import { mountIgnoringCase } from "./disk-image.ts";

const disk = mountIgnoringCase();
afterAll(() => disk.remove());

const NAMES = [
  ["/alone", "/Alone"],
  ["/linked", "/LINKED"],
  ["/folder", "/Folder"],
] as const;

/** Makes a file, one with a second hard link, and a folder. */
async function makeRoot(): Promise<string> {
  const root = await mkdtemp(join(disk.root ?? "", "root-"));
  for (const name of ["alone", "linked"]) await writeFile(join(root, name), name);
  await link(join(root, "linked"), join(root, "other"));
  await mkdir(join(root, "folder"));
  await writeFile(join(root, "folder/inside"), "inside");
  return root;
}

describe.skipIf(disk.root === undefined)(`a disk that ignores the case of names${disk.reason}`, () => {
  it.each([{}, { replace: true }])("gives a file or folder another case, and counts it once (%j)", async (options) => {
    const root = await makeRoot();
    const storage = createQuotaStorage(createDiskStorage({ root, durability: "rename" }), {
      folders: [{ path: "/", bytes: 1000 }],
    });
    const before = await storage.quota.usage("/");
    for (const [from, to] of NAMES) {
      expect(await storage.move(from, to, options)).toBe("created");
    }
    const names = (await readdir(root)).map((name) => name.toLowerCase());
    expect([names.sort(), await readdir(join(root, "folder"))]).toEqual([
      ["alone", "folder", "linked", "other"],
      ["inside"],
    ]);
    expect(await storage.quota.usage("/")).toEqual(before);
    expect(await storage.quota.recount("/")).toEqual(before);
  });

  it.each(["JSON", "WebDAV"])("lets clients do so, also with a trash: %s", async (how) => {
    const root = await makeRoot();
    const storage = createTrashStorage(createDiskStorage({ root, durability: "rename" }));
    const account = { username: "alice", password: "secret", home_folder_path: "/" };
    const authentication = createAccountsAuthenticator({ accounts: [account] });
    const test = await createTestService({ storage, trash: storage.trash, authentication, webdav: {} });
    for (const [from, to] of NAMES) {
      const body = JSON.stringify({ commands: [{ command: "move", target: from.slice(1), destination: to }] });
      const answer =
        how === "JSON"
          ? await test.call("POST", "/home/", { headers: { "content-type": "application/json" }, body })
          : await test.call("MOVE", `/home${from}`, { headers: { destination: `/home${to}` }, undescribed: "WebDAV" });
      expect(answer.status).toBe(how === "JSON" ? 200 : 201);
    }
    const names = (await readdir(root)).map((name) => name.toLowerCase());
    expect(names).toEqual(expect.arrayContaining(["alone", "folder", "linked", "other"]));
    for await (const entry of storage.trash.list("/")) expect(entry).toBeUndefined();
  });
});

it("of two hard links whose names differ in case, a move removes one", async () => {
  const root = await mkdtemp(join(tmpdir(), "fileferry-names-"));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeFile(join(root, "name"), "x");
  await link(join(root, "name"), join(root, "NAME"));
  const storage = createDiskStorage({ root, durability: "rename" });
  expect(await storage.move("/name", "/NAME", { replace: true })).toBe("replaced");
  expect(await readdir(root)).toEqual(["NAME"]);
});
