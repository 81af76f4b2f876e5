import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StorageAdapter, StorageEntry } from "../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { BOUNDARY, FORM_TYPE, type FormEntry, formOf, uploadsOf } from "../support/forms.ts";
import { AUTHORIZATION, type Served, serve } from "../support/served.ts";

const OLD = "the former content, which somebody may still need";
const ACTION: FormEntry = ["action", "upload-file"];
const BIG = "x".repeat(300_000);

let folder: string;
let served: Served;
let writes: Promise<unknown>[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-form-"));
  const storage = createDiskStorage({ root: folder });
  served = await serve({ ...storage, write });

  /** Reports when a write starts and when it ends. */
  async function write(...[path, content, options]: Parameters<StorageAdapter["write"]>): Promise<StorageEntry> {
    const writing = storage.write(path, content, options);
    writes.push(writing);
    writing.catch(() => undefined);
    return writing;
  }
  writes = [];
  expect((await post(formOf(ACTION, ...uploadsOf({ "a.txt": OLD })))).status).toBe(303);
  writes = [];
});

afterEach(async () => {
  await served.close();
  await rm(folder, { recursive: true });
});

function post(body: Uint8Array): Promise<Response> {
  const headers = { authorization: AUTHORIZATION, "content-type": FORM_TYPE };
  return fetch(`${served.origin}/home/`, { method: "POST", headers, body: body as BodyInit, redirect: "manual" });
}

/** Begins a form, of which some bytes at its end never come. */
function begin(body: Uint8Array, missing: number): Socket {
  const socket = connect(served.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.resume();
  socket.write(
    `POST /home/ HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\nContent-Type: ${FORM_TYPE}\r\n` +
      `Content-Length: ${body.byteLength}\r\n\r\n`,
  );
  socket.write(body.subarray(0, body.byteLength - missing));
  return socket;
}

async function isOver(): Promise<void> {
  await Promise.allSettled(writes);
  await expect.poll(() => readdir(folder)).not.toContainEqual(expect.stringContaining(".fileferry"));
}

describe("a form over a connection that is cut", () => {
  const closing = `\r\n--${BOUNDARY}--\r\n`.length;

  const CUTS: readonly (readonly [what: string, entries: readonly FormEntry[], missing: number, kept: string[]])[] = [
    ["inside a file", [ACTION, ...uploadsOf({ "a.txt": BIG })], 1000, ["a.txt"]],
    ["just before a file's boundary", [ACTION, ...uploadsOf({ "a.txt": BIG })], closing, ["a.txt"]],
    ["inside a file's boundary", [ACTION, ...uploadsOf({ "a.txt": BIG })], closing - 10, ["a.txt"]],
    ["inside a file that waits for the action", [...uploadsOf({ "a.txt": BIG })], 1000, ["a.txt"]],
    ["behind files that wait for the action", [...uploadsOf({ "a.txt": BIG, b: BIG }), ACTION], closing, ["a.txt"]],
  ];

  for (const end of ["reset", "half-close"] as const) {
    it.each(CUTS)(
      `by a ${end} %s keeps the old content and leaves no residue`,
      async (_what, entries, missing, kept) => {
        const socket = begin(formOf(...entries), missing);
        await expect.poll(() => writes.length).toBeGreaterThan(0);
        await new Promise((resolve) => setTimeout(resolve, 50));
        const closed = new Promise((resolve) => socket.on("close", resolve));
        if (end === "reset") socket.resetAndDestroy();
        else socket.end();
        await closed;
        await isOver();
        expect(await readdir(folder)).toEqual(kept);
        expect(await readFile(join(folder, "a.txt"), "utf8")).toBe(OLD);
        for (const writing of writes) await expect(writing).rejects.toThrow();
      },
    );
  }

  it("keeps the files that had come whole, and no other (CONTRACT 4.6)", async () => {
    const socket = begin(formOf(ACTION, ...uploadsOf({ "a.txt": BIG, "b.txt": BIG })), 1000);
    await expect.poll(() => writes.length).toBe(2);
    socket.resetAndDestroy();
    await isOver();
    expect(await readdir(folder)).toEqual(["a.txt"]);
    expect(await readFile(join(folder, "a.txt"), "utf8")).toBe(BIG);
  });

  it("leaves nothing after fifty of them, whatever the place", async () => {
    const body = formOf(...uploadsOf({ b: BIG, "a.txt": BIG }), ACTION, ["upload-file", "c", BIG]);
    for (let turn = 0; turn < 50; turn++) {
      const missing = Math.floor((body.byteLength * (turn + 1)) / 51);
      const socket = begin(body, missing);
      await new Promise((resolve) => setTimeout(resolve, turn % 5));
      socket.resetAndDestroy();
    }
    // The last resets may be on their way still: once no request is left, what is there stays.
    await served.close();
    await isOver();
    for (const name of await readdir(folder)) {
      expect([OLD, BIG]).toContain(await readFile(join(folder, name), "utf8"));
    }
  });
});

describe("a form over a connection that goes on", () => {
  it("leaves no residue when its action comes last and is not an upload", async () => {
    const response = await post(formOf(...uploadsOf({ "a.txt": BIG, b: BIG }), ["action", "delete-members"]));
    expect(response.status).toBe(400);
    expect(await readdir(folder)).toEqual(["a.txt"]);
    expect(await readFile(join(folder, "a.txt"), "utf8")).toBe(OLD);
  });

  it("serves the next request after one that was refused midway", async () => {
    expect((await post(formOf(["action", "unknown"], ...uploadsOf({ b: BIG })))).status).toBe(400);
    expect((await post(formOf(ACTION, ...uploadsOf({ b: BIG })))).status).toBe(303);
    expect(await readdir(folder)).toEqual(["a.txt", "b"]);
  });
});
