import { beforeAll, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createPermits } from "../../src/storage/object-store/permits.ts";
import { createS3Client } from "../../src/storage/s3/client.ts";
import { createConditionSupport } from "../../src/storage/s3/conditional-change.ts";
import { createS3Copier } from "../../src/storage/s3/copy.ts";
import { createUploads } from "../../src/storage/s3/multipart-uploads.ts";
import { toS3Settings } from "../../src/storage/s3/options.ts";
import { createS3Writer } from "../../src/storage/s3/write.ts";
import { createTrashStorage } from "../../src/storage/trash.ts";
import { createVersionsStorage } from "../../src/storage/versions.ts";
import type { StorageCase, StorageCaseContext } from "../../src/testing/storage/case.ts";
import { areSameBytes, bodyBytes, inChunks, noise } from "../../src/testing/storage/content.ts";
import { storageCases } from "../../src/testing/storage-cases.ts";
import { createBucket, type S3Bucket, s3Missing } from "../support/s3/server.ts";
import {
  areAll,
  isEveryday,
  isForBuckets,
  isOfQuotas,
  KEPT_IN_ONE_PROCESS,
  LACKING,
  PATIENCE_MS,
  withQuota,
} from "./bucket-cases.ts";

/**
 * What this store cannot do: it takes no notice of conditions of a removal, so that a change between the look and the
 * removal is lost.
 */
const BEYOND_THIS_STORE = ["of a replacement and a removal of one version only one succeeds"];
const MEBIBYTE = 1_048_576;

let bucket: S3Bucket;
let storages = 0;

beforeAll(async () => {
  if (s3Missing === undefined) bucket = await createBucket();
}, 120_000);

describe.skipIf(s3Missing !== undefined)(`the storage cases × S3${s3Missing ? ` (${s3Missing})` : ""}`, () => {
  it("leaves out links, which no store has, and one case by name", () => {
    const names = storageCases.filter((one) => !isPlayed(one) && !LACKING.includes(one.needs)).map(({ name }) => name);
    expect(names).toEqual(BEYOND_THIS_STORE);
    expect(storageCases.filter(({ name }) => KEPT_IN_ONE_PROCESS.includes(name))).toHaveLength(3);
  });

  for (const storageCase of storageCases.filter((one) => isPlayed(one) && isEveryday(one))) {
    it.concurrent(storageCase.name, () => storageCase.run(createContext()), PATIENCE_MS);
  }

  it("are met by parts that are sent as they arrive, after those that are held", async () => {
    const { endpoint, accessKeyId, secretAccessKey } = bucket;
    const settings = toS3Settings({ bucket: bucket.bucket, endpoint, accessKeyId, secretAccessKey });
    const plan = { maxHeldParts: 1, bytesOf: () => 5 * MEBIBYTE };
    const writer = createS3Writer(createS3Client(settings), createConditionSupport(true), () => plan);
    const bytes = noise(12 * MEBIBYTE + 7, 1);
    const location = { name: "streamed", key: "streamed", folder: "streamed/", parent: "" };
    const entry = await writer.writeFile(location, inChunks(bytes, 100_000), { size: bytes.byteLength });
    expect(entry.size).toBe(bytes.byteLength);
    const { body } = await bucket.storage().read("/streamed");
    expect(areSameBytes(await bodyBytes(body), bytes)).toBe(true);
  });

  it("are met by copies in parts", async () => {
    const { endpoint, accessKeyId, secretAccessKey } = bucket;
    const client = createS3Client(toS3Settings({ bucket: bucket.bucket, endpoint, accessKeyId, secretAccessKey }));
    const limits = { maxBytes: 5 * MEBIBYTE, partBytes: 5 * MEBIBYTE };
    const copier = createS3Copier(client, createConditionSupport(true), createUploads(client), limits);
    const bytes = noise(22 * MEBIBYTE + 7, 1);
    const storage = bucket.storage();
    const { etag } = await storage.write("/ä large.bin", inChunks(bytes, MEBIBYTE));
    const options = { isNew: true, permits: createPermits(16) };
    const copied = await copier.copyObject("ä large.bin", "in parts", options);
    const found = await storage.stat("/in parts");
    expect([copied?.source, copied?.etag, found?.size]).toEqual([etag, found?.etag, bytes.byteLength]);
    expect(areSameBytes(await bodyBytes((await storage.read("/in parts")).body), bytes)).toBe(true);
    await expect(copier.copyObject("ä large.bin", "in parts", options)).rejects.toMatchObject({
      code: "already-exists",
    });
  });

  it("have left no upload in parts behind", async () => {
    expect(await bucket.openUploads()).toEqual([]);
  });
});

/** What a trash changes, but what takes minutes. The other cases are tried in the long run. */
const isShort = ({ name }: StorageCase): boolean => /remov|replac/.test(name) && !/10,000|2,000|300 levels/.test(name);

describe.skipIf(s3Missing !== undefined)("the storage cases × createTrashStorage around S3", () => {
  for (const { name, run } of storageCases.filter((one) => isPlayed(one) && (areAll || isShort(one)))) {
    it.concurrent(name, () => run(createContext((storage) => createTrashStorage(storage))), PATIENCE_MS);
  }
});

/** What versions change. */
const isReplacing = (one: StorageCase): boolean => /replac|overwr|writers/.test(one.name) && isShort(one);

describe.skipIf(s3Missing !== undefined)("the storage cases × createVersionsStorage around S3", () => {
  for (const { name, run } of storageCases.filter((one) => isPlayed(one) && (areAll || isReplacing(one)))) {
    it.concurrent(name, () => run(createContext((storage) => createVersionsStorage(storage))), PATIENCE_MS);
  }
});

describe.skipIf(s3Missing !== undefined)("the storage cases × createQuotaStorage around S3, within its limits", () => {
  for (const { name, run } of storageCases.filter((one) => isPlayed(one) && isOfQuotas(one))) {
    it.concurrent(name, () => run(createContext(withQuota)), PATIENCE_MS);
  }
});

function isPlayed(one: StorageCase): boolean {
  return isForBuckets(one) && !BEYOND_THIS_STORE.includes(one.name);
}

/** Every case has a folder of the bucket for itself. */
function createContext(wrap = (storage: StorageAdapter): StorageAdapter => storage): StorageCaseContext {
  storages += 1;
  const prefix = `case/${storages}`;
  const storage = wrap(bucket.storage({ prefix }));

  async function fill(folder: string, count: number): Promise<void> {
    const numbers = Array.from({ length: count }, (_, number) => number);
    const writer = async (): Promise<void> => {
      for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
        await (await bucket.ask("PUT", `${prefix}${folder}/${number}`, { body: "x" })).text();
      }
    };
    await Promise.all(Array.from({ length: 32 }, writer));
  }

  return { storage, strongTags: true, atomicConditions: true, properties: true, fill };
}
