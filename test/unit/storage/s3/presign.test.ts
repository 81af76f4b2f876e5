import { describe, expect, it } from "vitest";
import { createFake } from "../../../support/s3/fake.ts";

const REQUEST = { seconds: 60, contentType: "text/plain", contentDisposition: "attachment" };

describe("a URL for the download of an object in S3", () => {
  it.each([
    ["names the version, in a bucket that keeps versions", "version/1+x", "version/1+x"],
    ["names none in another bucket", undefined, null],
    ["names none for an object from before the bucket kept versions", "null", null],
  ])("%s", async (_title, versionId, named) => {
    const { storage, objects } = createFake();
    const headers = new Headers({ etag: '"one"', ...(versionId !== undefined && { "x-amz-version-id": versionId }) });
    objects.set("a", { body: "content", headers });
    for (const etag of [undefined, '"one"']) {
      const url = await storage.presignRead("/a", { ...REQUEST, ...(etag !== undefined && { etag }) });
      const { pathname, searchParams } = new URL(url ?? "");
      expect([pathname, searchParams.get("versionId")]).toEqual(["/bucket/a", named]);
      expect(searchParams.get("X-Amz-Signature")).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  it.each([
    ["gzip", "identity"],
    ["aws-chunked", null],
    [undefined, null],
  ])("asks for the content as it is stored: encoded by %s", async (encoding, wanted) => {
    const { storage, objects } = createFake();
    const headers = new Headers({ etag: '"one"', ...(encoding !== undefined && { "content-encoding": encoding }) });
    objects.set("a", { body: "content", headers });
    const { searchParams } = new URL((await storage.presignRead("/a", REQUEST)) ?? "");
    expect(searchParams.get("response-content-encoding")).toBe(wanted);
  });
});
