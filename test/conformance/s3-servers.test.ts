import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createS3Storage, type S3Storage } from "../../src/storage/s3.ts";
import { areSameBytes, bodyBytes, inChunks, noise, put, readFileText } from "../../src/testing/storage/content.ts";
import { projectFolder } from "../support/built.ts";
import { findFreePort } from "../support/nginx.ts";
import { s3Missing } from "../support/s3/server.ts";

const MEBIBYTE = 1_048_576;
/** Where the packages are that `npx` starts. */
const PACKAGES = join(projectFolder, "test/s3rver");

/** A row of the table of servers to try. */
interface ShownServer {
  readonly name: string;
  readonly line: string;
  readonly endpoint: string;
  readonly key: string;
}

const page = await readFile(join(projectFolder, "docs/s3-servers.md"), "utf8");
const servers = [...page.matchAll(/^\| \[([^\]]+)\]\([^)]*\) \| `([^`]+)`[^|]* \| `([^`]+)` \| (.*) \|$/gm)].map(
  ([, name = "", line = "", endpoint = "", keys = ""]): ShownServer => {
    const [, key = ""] = /^`(\w+)`, twice$/.exec(keys) ?? [];
    return { name, line, endpoint, key };
  },
);

function whyMissing({ line }: ShownServer): string | undefined {
  if (!line.includes("npx")) return s3Missing;
  return existsSync(join(PACKAGES, "node_modules")) ? undefined : "needs npm ci --prefix test/s3rver --ignore-scripts";
}

describe("the page of servers that speak S3", () => {
  it("has lines for several servers, of which one needs nothing but npm", () => {
    expect(servers.map(({ name }) => name)).toEqual(["s3rver", "Ceph's object gateway"]);
  });
});

const rows = servers.map((server) => ({ ...server, missing: whyMissing(server) }));
for (const { missing, name } of rows.filter((row) => row.missing !== undefined)) {
  it.skip(`the line of ${name}: ${missing}`, () => undefined);
}

describe.each(rows.filter(({ missing }) => missing === undefined))("the line of $name", (server) => {
  const { line, key } = server;
  let folder: string;
  let endpoint: string;
  let stop: () => Promise<void>;
  let storages = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fileferry-s3-line-"));
    const port = String(await findFreePort());
    const own = line.replace("/tmp/s3", folder).replace("9000", port);
    endpoint = server.endpoint.replace("9000", port);
    // The whole group ends with it: npx starts the server as a child.
    const cwd = line.includes("npx") ? PACKAGES : projectFolder;
    const child = spawn("sh", ["-c", own], { cwd, detached: true, stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    stop = async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
      await ended;
      await rm(folder, { recursive: true });
    };
    for (let tries = 0; tries < 600; tries += 1) {
      const isReady = await open()
        .check()
        .then(
          () => true,
          () => false,
        );
      if (isReady) return;
      expect(child.exitCode, "the line has ended").toBeNull();
      await delay(100);
    }
    throw new Error("The server does not answer.");
  }, 120_000);

  afterAll(() => stop());

  function open(): S3Storage {
    storages += 1;
    const prefix = `case/${storages}`;
    return createS3Storage({ bucket: "files", endpoint, accessKeyId: key, secretAccessKey: key, prefix });
  }

  it("starts a server with the bucket and the keys of the page", async () => {
    const keys = { accessKeyId: key, secretAccessKey: key };
    await createS3Storage({ bucket: "files", endpoint, ...keys }).check();
    const missing = createS3Storage({ bucket: "missing", endpoint, ...keys });
    await expect(missing.check()).rejects.toThrow("NoSuchBucket");
  });

  it("stores, lists, moves and removes files and folders", async () => {
    const storage = open();
    await storage.createFolder("/folder");
    await put(storage, "/folder/a ä.txt", "text");
    await storage.move("/folder/a ä.txt", "/folder/b.txt");
    const names: string[] = [];
    for await (const { name } of storage.list("/folder")) names.push(name);
    expect(names).toEqual(["b.txt"]);
    expect(await readFileText(storage, "/folder/b.txt")).toBe("text");
    await storage.remove("/folder");
    expect(await storage.stat("/folder")).toBeUndefined();
  });

  it("stores large files in parts, and ranges of them can be read", async () => {
    const storage = open();
    const bytes = noise(17 * MEBIBYTE + 7, 1);
    await storage.write("/large.bin", inChunks(bytes, 100_000), { size: bytes.byteLength });
    expect(areSameBytes(await bodyBytes((await storage.read("/large.bin")).body), bytes)).toBe(true);
    const { body } = await storage.read("/large.bin", { offset: 8 * MEBIBYTE, length: 100 });
    expect(areSameBytes(await bodyBytes(body), bytes.subarray(8 * MEBIBYTE, 8 * MEBIBYTE + 100))).toBe(true);
  });
});
