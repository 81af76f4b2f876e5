import { beforeAll, describe, expect, it } from "vitest";
import { createS3Client } from "../../src/storage/s3/client.ts";
import { createConditionSupport } from "../../src/storage/s3/conditional-change.ts";
import { toS3Settings } from "../../src/storage/s3/options.ts";
import { createS3Writer } from "../../src/storage/s3/write.ts";
import type { StorageCase, StorageCaseContext } from "../../src/testing/storage/case.ts";
import { areSameBytes, bodyBytes, inChunks, noise } from "../../src/testing/storage/content.ts";
import { storageCases } from "../../src/testing/storage-cases.ts";
import { createBucket, type S3Bucket, s3Missing } from "../support/s3/server.ts";

/**
 * What this store cannot do: it takes no notice of conditions of a removal, so that a change between the look and the
 * removal is lost.
 */
const BEYOND_THIS_STORE = ["of a replacement and a removal of one version only one succeeds"];
/** A bucket has no links, its moves are copies, and it keeps neither properties nor times. */
const LACKING: readonly StorageCase["needs"][] = ["makeLink", "exactMoves", "properties", "times"];
/** Thousands of requests, one after the other. */
const PATIENCE_MS = 300_000;
const MEBIBYTE = 1_048_576;

let bucket: S3Bucket;
let storages = 0;

describe.skipIf(s3Missing !== undefined)(`the storage cases × S3${s3Missing ? ` (${s3Missing})` : ""}`, () => {
  beforeAll(async () => {
    bucket = await createBucket();
  }, 120_000);

  it("leaves out links, which no store has, and one case by name", () => {
    const names = storageCases.filter((one) => !isPlayed(one) && !LACKING.includes(one.needs)).map(({ name }) => name);
    expect(names).toEqual(BEYOND_THIS_STORE);
  });

  for (const storageCase of storageCases.filter(isPlayed)) {
    it.concurrent(storageCase.name, () => storageCase.run(createContext()), PATIENCE_MS);
  }

  it("are met by parts that are sent as they arrive, after those that are held", async () => {
    const { endpoint, accessKeyId, secretAccessKey } = bucket;
    const settings = toS3Settings({ bucket: bucket.bucket, endpoint, accessKeyId, secretAccessKey });
    const plan = { maxParts: 1, bytesOf: () => 5 * MEBIBYTE };
    const writer = createS3Writer(createS3Client(settings), createConditionSupport(true), () => plan);
    const bytes = noise(12 * MEBIBYTE + 7, 1);
    const location = { name: "streamed", key: "streamed", folder: "streamed/", parent: "" };
    const entry = await writer.writeFile(location, inChunks(bytes, 100_000), { size: bytes.byteLength });
    expect(entry.size).toBe(bytes.byteLength);
    const { body } = await bucket.storage().read("/streamed");
    expect(areSameBytes(await bodyBytes(body), bytes)).toBe(true);
  });

  it("have left no upload in parts behind", async () => {
    expect(await bucket.openUploads()).toEqual([]);
  });
});

function isPlayed({ name, needs }: StorageCase): boolean {
  return !LACKING.includes(needs) && !BEYOND_THIS_STORE.includes(name);
}

/** Every case has a folder of the bucket for itself. */
function createContext(): StorageCaseContext {
  storages += 1;
  const prefix = `case/${storages}`;
  const storage = bucket.storage({ prefix });

  async function fill(folder: string, count: number): Promise<void> {
    const numbers = Array.from({ length: count }, (_, number) => number);
    const writer = async (): Promise<void> => {
      for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
        await (await bucket.ask("PUT", `${prefix}${folder}/${number}`, { body: "x" })).text();
      }
    };
    await Promise.all(Array.from({ length: 32 }, writer));
  }

  return { storage, strongTags: true, atomicConditions: true, fill };
}
