import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { copyByReading } from "../../../src/storage/fallbacks.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { createTestService } from "../../support/service.ts";

/** A folder `d` with a file, and links to a folder and a file that are elsewhere. */
async function makeDisk(): Promise<{ root: string; storage: StorageAdapter }> {
  const root = await mkdtemp(join(tmpdir(), "fileferry-followed-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, "alice/d"), { recursive: true });
  await mkdir(join(root, "alice/kept"));
  await writeFile(join(root, "alice/d/own.txt"), "own");
  await writeFile(join(root, "alice/kept/k.txt"), "kept");
  await symlink("../kept", join(root, "alice/d/folder"));
  await symlink("../kept/k.txt", join(root, "alice/d/file.txt"));
  return { root, storage: createDiskStorage({ root, durability: "rename", links: "inside" }) };
}

/** What is in `d` behind its links may not be read, written, removed or renamed. */
const permissions = [
  ["allow-full-control"],
  ["/d/folder/**", "deny-full-control"],
  ["/other/**", "allow-full-control"],
];

async function createService() {
  const { root, storage } = await makeDisk();
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/alice", permissions }];
  const authentication = createAccountsAuthenticator({ accounts, logger: createRecordingLogger() });
  const service = await createTestService({ storage, authentication, webdav: {} });
  const move = (method: string, from: string, to: string, overwrite = "F") =>
    service.call(method, `/home/${from}`, { headers: { destination: `http://files.example/home/${to}`, overwrite } });
  return { ...service, move, root };
}

describe("links that the storage follows", () => {
  it("are left out of a copy, and what they lead to decides nothing", async () => {
    const { move, root } = await createService();
    expect((await move("COPY", "d/", "e/")).status).toBe(201);
    expect(await readdir(join(root, "alice/e"))).toEqual(["own.txt"]);
  });

  it("move with their folder if what they lead to may be moved, because another storage would get it", async () => {
    const { move, root } = await createService();
    expect((await move("MOVE", "d/", "e/")).status).toBe(403);
    expect((await readdir(join(root, "alice/d"))).sort()).toEqual(["file.txt", "folder", "own.txt"]);
  });

  it.each(["d/", "d/folder/"])("go with %s when it is removed, and what they lead to stays", async (path) => {
    const { call, root } = await createService();
    expect((await call("DELETE", `/home/${path}`)).status).toBe(204);
    expect(await readFile(join(root, "alice/kept/k.txt"), "utf8")).toBe("kept");
  });

  it("are replaced, and what they lead to stays", async () => {
    const { move, call, root } = await createService();
    await call("PUT", "/home/new/");
    expect((await move("MOVE", "new/", "d/folder/", "T")).status).toBe(204);
    expect(await readdir(join(root, "alice/d/folder"))).toEqual([]);
    expect(await readFile(join(root, "alice/kept/k.txt"), "utf8")).toBe("kept");
  });

  it("are left out of a copy that reads", async () => {
    const { root, storage } = await makeDisk();
    await copyByReading(storage, "/alice/d", "/alice/e");
    expect(await readdir(join(root, "alice/e"))).toEqual(["own.txt"]);
  });
});
