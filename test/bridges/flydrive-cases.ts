import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Disk } from "flydrive";
import { describe, expect, it } from "vitest";
import { toFlydriveDriver } from "../../src/bridges/flydrive.ts";
import { fillStorage } from "../support/storage.ts";
import type { PlayedStorage } from "./storages.ts";

/** What flydrive's error says was wrong. */
export async function failureOfDisk(work: Promise<unknown>): Promise<{ code: unknown; cause: unknown }> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return { code, cause: cause?.code };
}

async function listed(disk: Disk, prefix?: string, options?: { recursive?: boolean }): Promise<string[]> {
  const { objects } = await disk.listAll(prefix, options);
  return [...objects].map((one) => (one.isFile ? one.key : `${one.prefix}/`));
}

/** The keys of all files, as pages with the options have them. */
export async function listPages(disk: Disk, options: { readonly maxResults?: number } = {}): Promise<string[][]> {
  const pages: string[][] = [];
  let next: string | undefined;
  do {
    const listing = { ...options, recursive: true, ...(next !== undefined && { paginationToken: next }) };
    const { objects, paginationToken } = await disk.listAll("/", listing);
    pages.push([...objects].map((one) => (one.isFile ? one.key : one.prefix)));
    next = paginationToken;
  } while (next !== undefined);
  return pages;
}

/** Plays flydrive over storages. */
export function playFlydrive(storages: readonly PlayedStorage[]): void {
  describe.each(storages)("flydrive over %s", (_name, create) => {
    it("writes and reads texts, bytes and streams, and makes the folders that are missing", async () => {
      const storage = await create();
      const disk = new Disk(toFlydriveDriver(storage));
      await disk.put("reports/2026/may.txt", "grüße");
      await disk.put("bytes.bin", new Uint8Array([0, 255]));
      await disk.putStream("reports/stream.txt", Readable.from(["one ", "two"]), { contentLength: 7 });
      expect(await disk.get("reports/2026/may.txt")).toBe("grüße");
      expect([...(await disk.getBytes("bytes.bin"))]).toEqual([0, 255]);
      expect(await text(await disk.getStream("reports/stream.txt"))).toBe("one two");
      expect((await storage.stat("/reports/2026"))?.kind).toBe("folder");
    });

    it("leaves the file before as it was if a stream breaks, is too short, or cannot be opened", async () => {
      const disk = new Disk(toFlydriveDriver(await create()));
      await disk.put("file.txt", "before");
      async function* broken() {
        yield "some";
        throw new Error("broken");
      }
      expect(await failureOfDisk(disk.putStream("file.txt", Readable.from(broken())))).toMatchObject({
        code: "E_CANNOT_WRITE_FILE",
      });
      const short = disk.putStream("file.txt", Readable.from(["some"]), { contentLength: 9 });
      expect(await failureOfDisk(short)).toEqual({ code: "E_CANNOT_WRITE_FILE", cause: "incomplete" });
      const missing = disk.putStream("file.txt", createReadStream("/no/such/file"));
      expect(await failureOfDisk(missing)).toEqual({ code: "E_CANNOT_WRITE_FILE", cause: "ENOENT" });
      expect(await disk.get("file.txt")).toBe("before");
    });

    it("says of missing files what flydrive says, and removes them without an error", async () => {
      const disk = new Disk(toFlydriveDriver(await create()));
      expect(await disk.exists("no.txt")).toBe(false);
      const read = { code: "E_CANNOT_READ_FILE", cause: "not-found" };
      expect(await failureOfDisk(disk.get("no.txt"))).toEqual(read);
      expect(await failureOfDisk(disk.getStream("no.txt"))).toEqual(read);
      expect(await failureOfDisk(disk.getBytes("no.txt"))).toEqual(read);
      expect(await failureOfDisk(disk.getMetaData("no.txt"))).toEqual({
        code: "E_CANNOT_GET_METADATA",
        cause: "not-found",
      });
      expect(await failureOfDisk(disk.copy("no.txt", "to.txt"))).toEqual({
        code: "E_CANNOT_COPY_FILE",
        cause: "not-found",
      });
      expect(await failureOfDisk(disk.move("no.txt", "to.txt"))).toEqual({
        code: "E_CANNOT_MOVE_FILE",
        cause: "not-found",
      });
      await disk.delete("no.txt");
      await disk.deleteAll("no");
      expect(await listed(disk)).toEqual([]);
    });

    it("has the metadata of files, by their names, and in snapshots", async () => {
      const storage = await create();
      const disk = new Disk(toFlydriveDriver(storage));
      await disk.put("report.pdf", "12345", { contentType: "text/plain", cacheControl: "no-store" });
      const found = await storage.stat("/report.pdf");
      expect(await disk.getMetaData("report.pdf")).toEqual({
        contentType: "application/pdf",
        contentLength: 5,
        etag: found?.etag,
        lastModified: found?.modified,
      });
      const file = disk.fromSnapshot(await disk.file("report.pdf").toSnapshot());
      expect(await file.get()).toBe("12345");
    });

    it("lists folders, and all files below them, and removes them", async () => {
      const storage = await create();
      const disk = new Disk(toFlydriveDriver(storage));
      await fillStorage(storage, { "/a.txt": "", "/b/c.txt": "", "/b/d/e.txt": "", "/b-c/f.txt": "", "/empty/": "" });
      expect((await listed(disk)).sort()).toEqual(["a.txt", "b-c/", "b/", "empty/"]);
      expect((await listed(disk, "b")).sort()).toEqual(["b/c.txt", "b/d/"]);
      expect(await listed(disk, "b", { recursive: true })).toEqual(["b/c.txt", "b/d/e.txt"]);
      expect(await listed(disk, "missing")).toEqual([]);
      await disk.deleteAll("b");
      expect(await listed(disk, "/", { recursive: true })).toEqual(["a.txt", "b-c/f.txt"]);
      await disk.deleteAll();
      expect(await listed(disk)).toEqual([]);
    });

    it("lists files in pages, each once", async () => {
      const storage = await create();
      const names = Array.from({ length: 45 }, (_, index) => `${index < 20 ? "a/" : "b/c/"}${1000 + index}`);
      await fillStorage(storage, { "/a/": "", "/b/c/": "" });
      await Promise.all(names.map((name) => fillStorage(storage, { [`/${name}`]: "" })));
      expect(await listPages(new Disk(toFlydriveDriver(storage)), { maxResults: 30 })).toEqual([
        names.slice(0, 30),
        names.slice(30),
      ]);
    });

    it("leaves out of a listing what flydrive spells in another way", async () => {
      const storage = await create();
      const disk = new Disk(toFlydriveDriver(storage));
      await fillStorage(storage, { "/.hidden": "", "/two  blanks": "", "/plain": "" });
      expect(await listed(disk)).toEqual(["plain"]);
      await fillStorage(storage, { "/ä": "" });
      await expect(listed(disk)).rejects.toMatchObject({ code: "E_UNALLOWED_CHARACTERS" });
    });

    it("copies and moves over files, and never over a folder", async () => {
      const storage = await create();
      const disk = new Disk(toFlydriveDriver(storage));
      await fillStorage(storage, { "/from.txt": "from", "/to.txt": "to", "/folder/member": "kept" });
      await disk.copy("from.txt", "to.txt");
      await disk.move("from.txt", "new/moved.txt");
      expect([await disk.get("to.txt"), await disk.get("new/moved.txt"), await disk.exists("from.txt")]).toEqual([
        "from",
        "from",
        false,
      ]);
      expect(await failureOfDisk(disk.move("to.txt", "folder"))).toEqual({
        code: "E_CANNOT_MOVE_FILE",
        cause: "not-a-file",
      });
      expect(await failureOfDisk(disk.put("folder", "text"))).toEqual({
        code: "E_CANNOT_WRITE_FILE",
        cause: "not-a-file",
      });
      expect(await failureOfDisk(disk.put("to.txt/below", ""))).toEqual({
        code: "E_CANNOT_WRITE_FILE",
        cause: "not-a-folder",
      });
      expect(await disk.get("folder/member")).toBe("kept");
      expect(await disk.get("to.txt")).toBe("from");
    });
  });
}
