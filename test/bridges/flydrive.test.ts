import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Disk } from "flydrive";
import { afterAll, describe, expect, it } from "vitest";
import { toFlydriveDriver } from "../../src/bridges/flydrive.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { fillStorage } from "../support/storage.ts";
import { removeFolders, STORAGES, withSignedUrls } from "./storages.ts";

afterAll(removeFolders);

/** What flydrive's error says was wrong. */
async function failure(work: Promise<unknown>): Promise<{ code: unknown; cause: unknown }> {
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

describe.each(STORAGES)("flydrive over %s", (_name, create) => {
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
    expect(await failure(disk.putStream("file.txt", Readable.from(broken())))).toMatchObject({
      code: "E_CANNOT_WRITE_FILE",
    });
    const short = disk.putStream("file.txt", Readable.from(["some"]), { contentLength: 9 });
    expect(await failure(short)).toEqual({ code: "E_CANNOT_WRITE_FILE", cause: "incomplete" });
    const missing = disk.putStream("file.txt", createReadStream("/no/such/file"));
    expect(await failure(missing)).toEqual({ code: "E_CANNOT_WRITE_FILE", cause: "ENOENT" });
    expect(await disk.get("file.txt")).toBe("before");
  });

  it("says of missing files what flydrive says, and removes them without an error", async () => {
    const disk = new Disk(toFlydriveDriver(await create()));
    expect(await disk.exists("no.txt")).toBe(false);
    const read = { code: "E_CANNOT_READ_FILE", cause: "not-found" };
    expect(await failure(disk.get("no.txt"))).toEqual(read);
    expect(await failure(disk.getStream("no.txt"))).toEqual(read);
    expect(await failure(disk.getBytes("no.txt"))).toEqual(read);
    expect(await failure(disk.getMetaData("no.txt"))).toEqual({ code: "E_CANNOT_GET_METADATA", cause: "not-found" });
    expect(await failure(disk.copy("no.txt", "to.txt"))).toEqual({ code: "E_CANNOT_COPY_FILE", cause: "not-found" });
    expect(await failure(disk.move("no.txt", "to.txt"))).toEqual({ code: "E_CANNOT_MOVE_FILE", cause: "not-found" });
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

  it("lists many files in pages, each once", async () => {
    const storage = await create();
    const disk = new Disk(toFlydriveDriver(storage));
    const names = Array.from({ length: 1203 }, (_, index) => `${index < 600 ? "a/" : "b/c/"}${1000 + index}`);
    await fillStorage(storage, Object.fromEntries(names.map((name) => [`/${name}`, ""])));
    const first = await disk.listAll("/", { recursive: true });
    const { paginationToken = "" } = first;
    const second = await disk.listAll("/", { recursive: true, paginationToken });
    expect(second.paginationToken).toBeUndefined();
    const keys = [...first.objects, ...second.objects].map((one) => (one.isFile ? one.key : one.prefix));
    expect([[...first.objects].length, keys.sort()]).toEqual([1000, names.sort()]);
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
    expect(await failure(disk.move("to.txt", "folder"))).toEqual({ code: "E_CANNOT_MOVE_FILE", cause: "not-a-file" });
    expect(await failure(disk.put("folder", "text"))).toEqual({ code: "E_CANNOT_WRITE_FILE", cause: "not-a-file" });
    expect(await failure(disk.put("to.txt/below", ""))).toEqual({ code: "E_CANNOT_WRITE_FILE", cause: "not-a-folder" });
    expect(await disk.get("folder/member")).toBe("kept");
    expect(await disk.get("to.txt")).toBe("from");
  });
});

describe("what a storage cannot do", () => {
  const storage = createMemoryStorage();
  const disk = new Disk(toFlydriveDriver(storage));

  it("is an error: public files, a content encoding, URLs", async () => {
    await disk.put("file.txt", "text", { visibility: "private" });
    expect(await disk.getVisibility("file.txt")).toBe("private");
    await disk.setVisibility("file.txt", "private");
    const unsupported = (code: string) => ({ code, cause: "unsupported" });
    expect(await failure(disk.setVisibility("file.txt", "public"))).toEqual(unsupported("E_CANNOT_SET_VISIBILITY"));
    const write = unsupported("E_CANNOT_WRITE_FILE");
    expect(await failure(disk.put("file.txt", "", { visibility: "public" }))).toEqual(write);
    expect(await failure(disk.put("file.txt", "", { contentEncoding: "gzip" }))).toEqual(write);
    const url = unsupported("E_CANNOT_GENERATE_URL");
    expect(await failure(disk.getUrl("file.txt"))).toEqual(url);
    expect(await failure(disk.getSignedUrl("file.txt"))).toEqual(url);
    expect(await failure(disk.getSignedUploadUrl("file.txt"))).toEqual(url);
    expect(await disk.get("file.txt")).toBe("text");
  });

  it("is what a function of the application does", async () => {
    const urlBuilder = {
      generateURL: async (key: string) => `https://files.example/home/${key}`,
      generateSignedURL: async (key: string, { expiresIn }: { expiresIn?: string | number }) => `${key} ${expiresIn}`,
    };
    const built = new Disk(toFlydriveDriver(storage, { urlBuilder }));
    expect(await built.getUrl("a.txt")).toBe("https://files.example/home/a.txt");
    expect(await built.getSignedUrl("a.txt", { expiresIn: "1h" })).toBe("a.txt 1h");
  });
});

describe("the signed URLs of a storage", () => {
  const disk = new Disk(toFlydriveDriver(withSignedUrls(createMemoryStorage())));

  it.each([
    [undefined, "1800"],
    [60, "60"],
    ["30 mins", "1800"],
    ["2h", "7200"],
    ["1 day", "86400"],
  ])("are valid for %s", async (expiresIn, seconds) => {
    await disk.put("a/report.pdf", "");
    const url = new URL(await disk.getSignedUrl("a/report.pdf", expiresIn === undefined ? {} : { expiresIn }));
    expect(url.pathname).toBe("/a/report.pdf");
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ seconds, contentType: "application/pdf" });
    expect(url.searchParams.get("contentDisposition")).toMatch(/^attachment; filename="report.pdf"/);
  });

  it("are an error of a missing file, and of a time that nobody can read", async () => {
    const code = "E_CANNOT_GENERATE_URL";
    expect(await failure(disk.getSignedUrl("no"))).toEqual({ code, cause: "not-found" });
    expect(await failure(disk.getSignedUrl("no", { expiresIn: "soon" }))).toEqual({ code, cause: "unsupported" });
  });
});
