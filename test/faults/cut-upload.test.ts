import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StorageAdapter, StorageEntry } from "../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { AUTHORIZATION, type Served, serve } from "../support/served.ts";

const OLD = "the former content, which somebody may still need";
const headers = { Authorization: AUTHORIZATION };

/** How an upload can be cut, as the request that is sent before the socket closes. */
const CUTS = {
  "a part of the announced length": `Content-Length: 1000000\r\n\r\n${"x".repeat(70_000)}`,
  "a part of a chunked body": `Transfer-Encoding: chunked\r\n\r\n1000\r\n${"x".repeat(0x1000)}\r\n1000\r\nxxx`,
  "chunks without the last one": `Transfer-Encoding: chunked\r\n\r\n1000\r\n${"x".repeat(0x1000)}\r\n`,
  "the head alone": "Content-Length: 5\r\n\r\n",
} as const;

describe.each(["disk", "memory"])("a cut connection during an overwrite, on %s", (kind) => {
  let folder: string;
  let served: Served;
  let writes: Promise<unknown>[];

  beforeEach(async () => {
    writes = [];
    folder = await mkdtemp(join(tmpdir(), "fileferry-cut-"));
    const storage = kind === "disk" ? createDiskStorage({ root: folder }) : createMemoryStorage();
    served = await serve({ ...storage, write });

    /** Reports when a write starts and when it ends. */
    async function write(...[path, content, options]: Parameters<StorageAdapter["write"]>): Promise<StorageEntry> {
      const writing = storage.write(path, content, options);
      writes.push(writing);
      return writing;
    }

    const put = await fetch(`${served.origin}/home/a.txt`, { method: "PUT", body: OLD, headers });
    expect(put.status).toBe(201);
  });

  afterEach(async () => {
    await served.close();
    await rm(folder, { recursive: true });
  });

  async function cut(rest: string, end: "reset" | "half-close"): Promise<void> {
    const socket = connect(served.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(`PUT /home/a.txt HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n${rest}`);
    await expect.poll(() => writes.length).toBe(2);
    // What was sent has time to arrive: without it there would be nothing to lose.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const closed = new Promise((resolve) => socket.on("close", resolve));
    if (end === "reset") socket.resetAndDestroy();
    else socket.end();
    socket.resume();
    await closed;
    await expect(writes[1]).rejects.toThrow();
  }

  for (const [what, rest] of Object.entries(CUTS)) {
    it.each(["reset", "half-close"] as const)(
      `keeps the old content and leaves no residue after ${what} and a %s`,
      async (end) => {
        await cut(rest, end);
        const got = await fetch(`${served.origin}/home/a.txt`, { headers });
        expect(await got.text()).toBe(OLD);
        if (kind === "disk") expect(await readdir(folder)).toEqual(["a.txt"]);
        const listing = await fetch(`${served.origin}/home/`, { headers: { ...headers, Accept: "application/json" } });
        const { content } = (await listing.json()) as { content: { name: string }[] };
        expect(content.map(({ name }) => name)).toEqual(["a.txt"]);
      },
    );
  }
});
