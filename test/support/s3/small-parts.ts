import type { StorageUploads } from "../../../src/contracts/storage-uploads.ts";
import { createJoin, createObjectUploads } from "../../../src/storage/object-store/uploads.ts";
import { createS3Client } from "../../../src/storage/s3/client.ts";
import { createConditionSupport } from "../../../src/storage/s3/conditional-change.ts";
import { toS3Settings } from "../../../src/storage/s3/options.ts";
import { createS3Remover } from "../../../src/storage/s3/remove.ts";
import { createS3UploadBucket } from "../../../src/storage/s3/upload-bucket.ts";
import { createS3Writer } from "../../../src/storage/s3/write.ts";
import type { S3Fetch } from "../../../src/storage/s3.ts";

/** How a storage with small parts asks its store. */
export interface SmallPartsOptions {
  readonly fetch: S3Fetch;
  readonly partBytes: number;
  readonly retries: number;
}

/** The uploads of a storage whose parts are smaller than a real store allows, so that tests are quick. */
export function createUploadsInSmallParts({ fetch, partBytes, retries }: SmallPartsOptions): StorageUploads {
  const settings = toS3Settings({
    bucket: "bucket",
    endpoint: "http://store.test",
    accessKeyId: "ACCESSKEY",
    secretAccessKey: "SECRETKEY",
    retries,
    retryDelaySeconds: 0.001,
    maxRetryDelaySeconds: 0.001,
    fetch,
  });
  const client = createS3Client({ ...settings, partBytes });
  const support = createConditionSupport(true);
  const [writer, remover] = [createS3Writer(client, support), createS3Remover(client, support)];
  return createObjectUploads(createS3UploadBucket({ client, support, writer, remover }), createJoin);
}
