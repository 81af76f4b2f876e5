import { Files } from "files-sdk";
import { afterAll, describe, expect, it } from "vitest";
import { toFilesSdkAdapter } from "../../src/bridges/files-sdk.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { failureOfFiles, playFilesSdk } from "./files-sdk-cases.ts";
import { removeFolders, STORAGES, withSignedUrls } from "./storages.ts";

afterAll(removeFolders);

playFilesSdk(STORAGES);

describe("what a storage cannot do", () => {
  it("is an error: metadata, cache control, URLs", async () => {
    const files = new Files({ adapter: toFilesSdkAdapter(createMemoryStorage()) });
    await files.upload("file", "text");
    expect(files.capabilities).toMatchObject({
      rangeRead: true,
      delimiter: true,
      metadata: false,
      signedUrl: { supported: false },
    });
    expect(await failureOfFiles(files.upload("file", "", { metadata: { a: "b" } }))).toBe("Provider");
    expect(await failureOfFiles(files.upload("file", "", { cacheControl: "no-store" }))).toBe("Provider");
    expect(await failureOfFiles(files.url("file"))).toBe("Provider");
    expect(await failureOfFiles(files.url("no"))).toBe("NotFound");
    expect(await failureOfFiles(files.signedUploadUrl("file", { expiresIn: 60 }))).toBe("Provider");
    expect(await (await files.download("file")).text()).toBe("text");
  });

  it("is what a bucket does: signed URLs", async () => {
    const files = new Files({ adapter: toFilesSdkAdapter(withSignedUrls(createMemoryStorage())) });
    await files.upload("a/page.html", "");
    const url = new URL(await files.url("a/page.html", { expiresIn: 60, responseContentDisposition: "attachment" }));
    expect([url.pathname, Object.fromEntries(url.searchParams)]).toEqual([
      "/a/page.html",
      { seconds: "60", contentType: "text/html", contentDisposition: "attachment" },
    ]);
    expect(files.capabilities.signedUrl.supported).toBe(true);
  });
});
