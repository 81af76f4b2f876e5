import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccountsAuthenticator, createFileService } from "../../../src/index.ts";
import { closeNodeServer, createNodeServer } from "../../../src/node.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { projectFolder } from "../../support/built.ts";

/** What the test uses of the package: it is installed beside the tests over the wire, not for everybody. */
interface WebdavPackage {
  createClient(url: string, options: { readonly username: string; readonly password: string }): WebdavClient;
}

interface WebdavClient {
  createDirectory(path: string): Promise<void>;
  putFileContents(
    path: string,
    content: string,
    options?: { readonly headers: Record<string, string> },
  ): Promise<boolean>;
  getFileContents(path: string, options: { readonly format: "text" }): Promise<string>;
  getDirectoryContents(
    path: string,
    options?: { readonly deep: boolean },
  ): Promise<readonly { readonly filename: string; readonly type: string; readonly size: number }[]>;
  stat(path: string): Promise<{ readonly basename: string; readonly mime?: string }>;
  exists(path: string): Promise<boolean>;
  copyFile(from: string, to: string): Promise<void>;
  moveFile(from: string, to: string): Promise<void>;
  lock(path: string, options: { readonly headers: Record<string, string> }): Promise<{ readonly token: string }>;
  unlock(path: string, token: string): Promise<void>;
  deleteFile(path: string): Promise<void>;
}

const program = join(projectFolder, "test/runtimes/node_modules/webdav/dist/node/index.js");
const isMissing = process.env.CI === undefined && !existsSync(program);
const quiet = { info() {}, warn() {}, error() {} };

describe.skipIf(isMissing)("the package webdav (npm ci --prefix test/runtimes --ignore-scripts installs it)", () => {
  let root: string;
  let server: Server;
  let client: WebdavClient;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "fileferry-webdav-"));
    await mkdir(join(root, "drive"));
    const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
    const authentication = createAccountsAuthenticator({ accounts, logger: quiet });
    const storage = createDiskStorage({ root, durability: "rename" });
    const webdav = { infiniteDepth: true };
    server = createNodeServer(createFileService({ webdav, storage, authentication, logger: quiet })) as Server;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { createClient } = (await import(pathToFileURL(program).href)) as WebdavPackage;
    const { port } = server.address() as AddressInfo;
    // The package leaves out the slash at the end of a folder, and `/home` without it is not the home folder.
    client = createClient(`http://127.0.0.1:${port}/home/drive`, { username: "alice", password: "secret" });
  });

  afterAll(async () => {
    server.closeAllConnections();
    await closeNodeServer(server);
    await rm(root, { recursive: true });
  });

  it("stores, lists, copies, moves and removes", async () => {
    await client.createDirectory("/drawer");
    expect(await client.putFileContents("/drawer/a & b.txt", "content")).toBe(true);
    await client.copyFile("/drawer/a & b.txt", "/drawer/ü.txt");
    await client.moveFile("/drawer", "/moved");
    const found = await client.getDirectoryContents("/", { deep: true });
    expect(found.map(({ filename, type, size }) => `${type} ${filename} ${size}`).sort()).toEqual([
      "directory /moved 0",
      "file /moved/a & b.txt 7",
      "file /moved/ü.txt 7",
    ]);
    expect(await client.stat("/moved/ü.txt")).toMatchObject({ basename: "ü.txt", mime: "text/plain" });
    expect(await client.getFileContents("/moved/ü.txt", { format: "text" })).toBe("content");
    expect(await client.exists("/drawer")).toBe(false);
    await client.deleteFile("/moved");
    expect(await readdir(join(root, "drive"))).toEqual([]);
  });

  it("locks a file, stores it with the token, and unlocks it", async () => {
    // Without the header its body would be text/plain, which is refused.
    const { token } = await client.lock("/a.txt", { headers: { "Content-Type": "application/xml" } });
    await expect(client.putFileContents("/a.txt", "without")).rejects.toThrow("423");
    expect(await client.putFileContents("/a.txt", "with", { headers: { If: `(<${token}>)` } })).toBe(true);
    await client.unlock("/a.txt", token);
    expect(await client.putFileContents("/a.txt", "after")).toBe(true);
  });
});
