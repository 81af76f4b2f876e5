import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import { inject } from "vitest";
import { createS3Storage, type S3Storage, type S3StorageOptions } from "../../../src/storage/s3.ts";
import { type S3Access, startGateway } from "./gateway.ts";

const TOOLS = ["radosgw", "radosgw-admin", "ceph", "ceph-mon", "ceph-osd", "monmaptool"];

/**
 * Why tests with a store cannot run here; `undefined` if they can, and in continuous integration, which must not skip
 * them.
 */
export const s3Missing: string | undefined =
  process.env.CI === undefined && !TOOLS.every(isInstalled)
    ? "needs a store: apt-get install --no-install-recommends radosgw ceph-mon ceph-osd"
    : undefined;

/** A bucket of its own in the store that all test files share. */
export interface S3Bucket extends S3Access {
  readonly bucket: string;
  /** A storage in it. */
  storage(options?: Partial<S3StorageOptions>): S3Storage;
  /** Sends a request to the store itself. `path` is the part after the bucket. */
  ask(method: string, path?: string, init?: RequestInit): Promise<Response>;
  /** The keys of unfinished multipart uploads. */
  openUploads(): Promise<readonly string[]>;
  /** All keys. */
  keys(): Promise<readonly string[]>;
}

/** Creates a bucket. The first caller starts the store. */
export async function createBucket(): Promise<S3Bucket> {
  const access = await findStore();
  const bucket = `tests-${randomUUID().slice(0, 8)}`;
  const client = new AwsClient({ ...access, service: "s3", region: "us-east-1", retries: 0 });
  const ask: S3Bucket["ask"] = (method, path = "", init = {}) =>
    client.fetch(`${access.endpoint}/${bucket}${path === "" ? "" : "/"}${path}`, { method, ...init });
  const made = await ask("PUT");
  if (!made.ok) throw new Error(`The bucket was not made: ${made.status} ${await made.text()}`);

  async function keysOf(query: string): Promise<readonly string[]> {
    const text = await (await ask("GET", `?${query}`)).text();
    return [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => key);
  }

  return {
    ...access,
    bucket,
    ask,
    storage: (options) => createS3Storage({ bucket, ...access, ...options } as S3StorageOptions),
    openUploads: () => keysOf("uploads"),
    keys: () => keysOf("list-type=2"),
  };
}

/** The store that all test files share, started by the first that takes the lock. */
async function findStore(): Promise<S3Access> {
  const folder = inject("s3Folder");
  const ready = join(folder, "ready.json");
  const isFirst = await mkdir(join(folder, "lock")).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const found = await startGateway(folder).catch((error: Error) => ({ failure: error.message }));
    await writeFile(`${ready}.new`, JSON.stringify(found));
    await rename(`${ready}.new`, ready);
  }
  for (const deadline = Date.now() + 100_000; ; ) {
    const text = await readFile(ready, "utf8").catch(() => undefined);
    const found: (S3Access & { failure?: string }) | undefined = text === undefined ? undefined : JSON.parse(text);
    if (found?.failure !== undefined) throw new Error(found.failure);
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error("The store was not started in time.");
    await delay(100);
  }
}

function isInstalled(tool: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, tool)));
}
