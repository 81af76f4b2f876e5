import { Files } from "files-sdk";
import { Disk } from "flydrive";
import { beforeAll, describe, expect, it } from "vitest";
import { toFilesSdkAdapter } from "../../src/bridges/files-sdk.ts";
import { toFlydriveDriver } from "../../src/bridges/flydrive.ts";
import { createBucket, type S3Bucket, s3Missing } from "../support/s3/server.ts";
import { playFilesSdk } from "./files-sdk-cases.ts";
import { playFlydrive } from "./flydrive-cases.ts";
import type { PlayedStorage } from "./storages.ts";

let bucket: S3Bucket;

beforeAll(async () => {
  if (s3Missing === undefined) bucket = await createBucket();
}, 120_000);

/** Each storage has a folder of the bucket for itself. */
const IN_A_BUCKET: PlayedStorage = ["S3", async () => bucket.storage({ prefix: crypto.randomUUID() })];

describe.skipIf(s3Missing !== undefined)(`the bridges over a bucket${s3Missing ? ` (${s3Missing})` : ""}`, () => {
  playFlydrive([IN_A_BUCKET]);
  playFilesSdk([IN_A_BUCKET]);

  it("give URLs that the store signs, at which everyone downloads the file", async () => {
    const storage = bucket.storage({ prefix: "signed" });
    const disk = new Disk(toFlydriveDriver(storage));
    const files = new Files({ adapter: toFilesSdkAdapter(storage) });
    await disk.put("a report.txt", "the content");
    for (const url of [await disk.getSignedUrl("a report.txt"), await files.url("a report.txt", { expiresIn: 60 })]) {
      const response = await fetch(url);
      expect([response.status, await response.text()]).toEqual([200, "the content"]);
    }
  });

  it("leave no upload in parts behind", async () => {
    expect(await bucket.openUploads()).toEqual([]);
  });
});
