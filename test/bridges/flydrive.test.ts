import { Disk } from "flydrive";
import { afterAll, describe, expect, it } from "vitest";
import { toFlydriveDriver } from "../../src/bridges/flydrive.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { fillStorage } from "../support/storage.ts";
import { failureOfDisk, listPages, playFlydrive } from "./flydrive-cases.ts";
import { removeFolders, STORAGES, withSignedUrls } from "./storages.ts";

afterAll(removeFolders);

playFlydrive(STORAGES);

it("lists at most 1,000 files in a page", async () => {
  const storage = createMemoryStorage();
  const names = Array.from({ length: 1203 }, (_, index) => `${1000 + index}`);
  await fillStorage(storage, Object.fromEntries(names.map((name) => [`/${name}`, ""])));
  const disk = new Disk(toFlydriveDriver(storage));
  for (const options of [{}, { maxResults: 5000 }]) {
    expect(await listPages(disk, options)).toEqual([names.slice(0, 1000), names.slice(1000)]);
  }
});

describe("what a storage cannot do", () => {
  const storage = createMemoryStorage();
  const disk = new Disk(toFlydriveDriver(storage));

  it("is an error: public files, a content encoding, URLs", async () => {
    await disk.put("file.txt", "text", { visibility: "private" });
    expect(await disk.getVisibility("file.txt")).toBe("private");
    await disk.setVisibility("file.txt", "private");
    const unsupported = (code: string) => ({ code, cause: "unsupported" });
    expect(await failureOfDisk(disk.setVisibility("file.txt", "public"))).toEqual(
      unsupported("E_CANNOT_SET_VISIBILITY"),
    );
    const write = unsupported("E_CANNOT_WRITE_FILE");
    expect(await failureOfDisk(disk.put("file.txt", "", { visibility: "public" }))).toEqual(write);
    expect(await failureOfDisk(disk.put("file.txt", "", { contentEncoding: "gzip" }))).toEqual(write);
    const url = unsupported("E_CANNOT_GENERATE_URL");
    expect(await failureOfDisk(disk.getUrl("file.txt"))).toEqual(url);
    expect(await failureOfDisk(disk.getSignedUrl("file.txt"))).toEqual(url);
    expect(await failureOfDisk(disk.getSignedUploadUrl("file.txt"))).toEqual(url);
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
    expect(await failureOfDisk(disk.getSignedUrl("no"))).toEqual({ code, cause: "not-found" });
    expect(await failureOfDisk(disk.getSignedUrl("no", { expiresIn: "soon" }))).toEqual({ code, cause: "unsupported" });
  });
});
