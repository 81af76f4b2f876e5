/**
 * A Worker for `wrangler dev examples/workers/r2.ts`, without `nodejs_compat`. Its files are in an R2 bucket, its
 * sessions in Workers KV. `wrangler.toml` contains the bindings:
 *
 *     [[r2_buckets]]
 *     binding = "BUCKET"
 *     bucket_name = "files"
 *
 *     [[kv_namespaces]]
 *     binding = "SESSIONS"
 *     id = "..."
 */
import { createR2Storage, type R2Bucket } from "fileferry/storage/r2";
import { type CloudflareKvNamespace, createCloudflareKvStore } from "fileferry/stores/cloudflare-kv";
import { toWorkerHandler } from "fileferry/workers";
import { createExampleService } from "../service.ts";

interface Bindings {
  readonly BUCKET: R2Bucket;
  readonly SESSIONS: CloudflareKvNamespace;
}

export default toWorkerHandler(({ BUCKET, SESSIONS }: Bindings) =>
  createExampleService({
    storage: createR2Storage(BUCKET),
    sessions: createCloudflareKvStore(SESSIONS),
    // biome-ignore lint/suspicious/noConsole: the log of a Worker.
    onEvent: (event) => console.log(JSON.stringify(event)),
  }),
);
