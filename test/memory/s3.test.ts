import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../support/built.ts";
import { type Command, startCommand } from "../support/command.ts";
import { createBucket, type S3Bucket, s3Missing } from "../support/s3/server.ts";
import { amount } from "../support/trust.ts";

const MIB = 1024 ** 2;
/** In the everyday tests so much that the process could not hold it either. */
const SIZE = amount({ short: 384, long: 1024 }) * MIB;
const CHUNK_BYTES = MIB;
const MAX_RSS_MEGABYTES = 200;
const auth = "demo:demo";
const cannot = s3Missing ?? (process.platform === "linux" ? undefined : "needs /proc");

describe.skipIf(cannot !== undefined)(`memory of a process that serves a bucket${cannot ? ` (${cannot})` : ""}`, () => {
  let folder: string;
  let bucket: S3Bucket;
  let service: Command;

  beforeAll(async () => {
    await ensureBuilt();
    bucket = await createBucket();
    folder = await mkdtemp(join(tmpdir(), "fileferry-s3-memory-"));
    const config = {
      storage: { type: "s3", bucket: bucket.bucket, endpoint: bucket.endpoint, prefix: "home" },
      authentication: [{ type: "accounts", accounts: [{ username: "demo", password: "demo", home_folder_path: "/" }] }],
    };
    await writeFile(join(folder, "fileferry.json"), JSON.stringify(config));
    const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = bucket;
    service = await startCommand(["serve", "--config", join(folder, "fileferry.json"), "--port", "0", "--quiet"], {
      AWS_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY,
    });
  }, 180_000);

  afterAll(async () => {
    await service?.stop();
    await bucket?.ask("DELETE", "home/big.bin");
    await rm(folder, { recursive: true });
  });

  it(`stays under ${MAX_RSS_MEGABYTES} MB while ${SIZE / MIB} MiB go up in parts and come down`, async () => {
    const url = `${service.origin}/home/big.bin`;
    expect(await upload(url)).toBe(201);
    expect(await download(url)).toBe(SIZE);
    expect(await bucket.openUploads()).toEqual([]);
    expect(await service.peakMegabytes()).toBeLessThan(MAX_RSS_MEGABYTES);
  }, 120_000);
});

/** The first byte of each MiB is its number, so that none takes another's place unseen. */
function upload(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const put = request(url, { method: "PUT", auth, headers: { "Content-Length": SIZE } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    put.on("error", reject);
    let sent = 0;
    function sendOn(): void {
      while (sent < SIZE / CHUNK_BYTES) {
        const chunk = Buffer.alloc(CHUNK_BYTES, "fileferry");
        chunk.writeUInt16BE(sent);
        sent += 1;
        if (!put.write(chunk)) {
          put.once("drain", sendOn);
          return;
        }
      }
      put.end();
    }
    sendOn();
  });
}

/** How many bytes came, as far as each MiB was in its place. */
function download(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const get = request(url, { auth }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        const first = Math.ceil(bytes / CHUNK_BYTES) * CHUNK_BYTES - bytes;
        if (first + 1 < chunk.length && chunk.readUInt16BE(first) !== (bytes + first) / CHUNK_BYTES) {
          get.destroy(new Error(`Another part came at ${bytes + first}.`));
        }
        bytes += chunk.length;
      });
      response.on("end", () => resolve(bytes));
      response.on("error", reject);
    });
    get.on("error", reject);
    get.end();
  });
}
