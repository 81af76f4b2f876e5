import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UploadKey } from "../../src/contracts/storage-uploads.ts";
import { createPermits } from "../../src/storage/object-store/permits.ts";
import { createS3Client } from "../../src/storage/s3/client.ts";
import { createConditionSupport } from "../../src/storage/s3/conditional-change.ts";
import { createS3Copier } from "../../src/storage/s3/copy.ts";
import { createUploads } from "../../src/storage/s3/multipart-uploads.ts";
import { toS3Settings } from "../../src/storage/s3/options.ts";
import { createS3Storage, type S3Storage, type S3StorageOptions } from "../../src/storage/s3.ts";
import { areSameBytes, bodyBytes, inChunks, noise, put, readFileText } from "../../src/testing/storage/content.ts";
import { storageCases } from "../../src/testing/storage-cases.ts";
import { uploadCases } from "../../src/testing/upload-cases.ts";
import { beginUpload, uploadsOf } from "../../src/testing/uploads/setup.ts";
import { projectFolder } from "../support/built.ts";
import { type GcsServer, startGcs } from "../support/s3/gcs-server.ts";
import { amount } from "../support/trust.ts";
import { isEveryday, isForBuckets, PATIENCE_MS } from "./bucket-cases.ts";

const MEBIBYTE = 1_048_576;
/** What needs conditions of the store, or copies of parts: the page says so. */
const BEYOND_THIS_STORE = [
  "createFolder: exactly one of 20 parallel calls for one path succeeds",
  "complete: gives an upload of any size the name that is free, if it was created to be named later",
];

/** Every how many of the published cases are tried: the adapter is that of S3. */
const STRIDE = amount({ short: 4, ci: 1, long: 1 });
const isTried = (_one: unknown, index: number): boolean => index % STRIDE === 0;

let server: GcsServer;
let recipe: S3StorageOptions;
let storages = 0;

beforeAll(async () => {
  server = await startGcs();
  recipe = await readRecipe(server);
});

afterAll(() => server.stop());

/** The options that the page names, with the keys of a server. */
async function readRecipe({ keys }: GcsServer): Promise<S3StorageOptions> {
  const page = await readFile(join(projectFolder, "docs/s3-servers.md"), "utf8");
  const [, section = ""] = page.split("\n## Google Cloud Storage\n");
  const [, options = ""] = /createS3Storage\((\{[^}]*\})\)/s.exec(section) ?? [];
  const env = { HMAC_ACCESS_ID: keys.accessKeyId, HMAC_SECRET: keys.secretAccessKey };
  return runInNewContext(`(${options})`, { process: { env } });
}

/** A storage by the recipe, in a folder of its own of the bucket of a server. */
function open(others: Partial<S3StorageOptions> = {}, { endpoint } = server): S3Storage {
  storages += 1;
  return createS3Storage({ ...recipe, endpoint, prefix: `case/${storages}`, ...others } as S3StorageOptions);
}

function openFilled(): { storage: S3Storage; fill: (folder: string, count: number) => Promise<void> } {
  const storage = open();
  const prefix = `case/${storages}`;
  return {
    storage,
    async fill(folder, count) {
      for (let index = 0; index < count; index += 1) {
        server.bucket.store(`${prefix}${folder}/${index}`, Buffer.from("x"));
      }
    },
  };
}

describe("a server that answers as Google's XML API does", () => {
  const ask = (headers: Record<string, string>, query = "") => {
    const client = new AwsClient({ ...server.keys, service: "s3", region: "auto", retries: 0 });
    const url = `${server.endpoint}/example-files/asked${query}`;
    return client.fetch(url, { method: "PUT", body: "text", headers, aws: { allHeaders: true } });
  };
  const codeOf = async (response: Response): Promise<string> =>
    /<Code>(\w+)</.exec(await response.text())?.[1] ?? `${response.status}`;

  it.each([
    ["no header beyond those it knows", {}, "", "200"],
    ["a coding that is signed, because the front end adds another one", { "accept-encoding": "identity" }, "", "403"],
    ["a checksum", { "x-amz-checksum-crc32": "AAAAAA==" }, "", "InvalidArgument"],
    ["the algorithm of a checksum", { "x-amz-sdk-checksum-algorithm": "CRC32" }, "", "InvalidArgument"],
    ["content in signed chunks", { "content-encoding": "aws-chunked" }, "", "InvalidArgument"],
    ["a new object as S3 asks for it", { "if-none-match": "*" }, "", "InvalidArgument"],
    ["a condition by an entity-tag", { "if-match": '"x"' }, "", "InvalidArgument"],
    ["a parameter that it does not know", {}, "?response-cache-control=private", "InvalidArgument"],
    ["a part that is a range of another object", { "x-amz-copy-source-range": "bytes=0-1" }, "", "InvalidArgument"],
  ])("judges %s", async (_what, headers, query, code) => {
    const found = await codeOf(await ask(headers, query));
    expect(found).toBe(code === "403" ? "SignatureDoesNotMatch" : code);
  });

  it("refuses other keys, and parts that are too small", async () => {
    await expect(open({ secretAccessKey: "another" }).check()).rejects.toThrow("SignatureDoesNotMatch");
    const client = createS3Client(toS3Settings({ ...recipe, endpoint: server.endpoint }));
    const begun = await client.call({ method: "POST", key: "small", query: { uploads: "" } });
    const [, uploadId = ""] = /<UploadId>([^<]+)</.exec(begun.text) ?? [];
    const named: string[] = [];
    for (const partNumber of ["1", "2"]) {
      const query = { partNumber, uploadId };
      const { headers } = await client.call({ method: "PUT", key: "small", query, body: new Uint8Array(1) });
      named.push(`<Part><PartNumber>${partNumber}</PartNumber><ETag>${headers.get("etag")}</ETag></Part>`);
    }
    const body = new TextEncoder().encode(`<CompleteMultipartUpload>${named.join("")}</CompleteMultipartUpload>`);
    const { text } = await client.call({ method: "POST", key: "small", query: { uploadId }, body });
    expect(text).toContain("EntityTooSmall");
    await client.call({ method: "DELETE", key: "small", query: { uploadId } });
  });
});

describe("the recipe for Google Cloud Storage", () => {
  let refusedBefore: number;

  beforeAll(() => {
    refusedBefore = server.refused.length;
  });

  /** Nothing that it does is refused for what was sent. */
  afterAll(() => {
    expect(server.refused.slice(refusedBefore)).toEqual([]);
    expect([...server.bucket.uploads.values()].map(({ key }) => key)).toEqual([]);
  });

  it("names the address of the XML API, and asks for no condition of S3", () => {
    expect(recipe).toMatchObject({
      endpoint: "https://storage.googleapis.com",
      region: "auto",
      conditionalWrites: false,
    });
  });

  it("leaves out two cases by name", () => {
    const names = [...storageCases, ...uploadCases].map(({ name }) => name);
    expect(names.filter((name) => BEYOND_THIS_STORE.includes(name))).toEqual(BEYOND_THIS_STORE);
  });

  for (const { name, needs, run } of storageCases
    .filter((one) => isForBuckets(one) && isEveryday(one))
    .filter(isTried)) {
    it.skipIf(needs === "atomicConditions" || BEYOND_THIS_STORE.includes(name)).concurrent(
      name,
      () => run({ ...openFilled(), strongTags: true, properties: true }),
      PATIENCE_MS,
    );
  }

  const ofOneProcess = uploadCases.filter(({ needs }) => needs === undefined || needs === "open");
  for (const { name, needs, run } of ofOneProcess.filter(isTried)) {
    it.skipIf(BEYOND_THIS_STORE.includes(name)).concurrent(
      `resumable uploads: ${name}`,
      () => {
        const storage = open();
        const prefix = `case/${storages}`;
        return run({ storage, ...(needs === "open" && { open: async () => open({ prefix }) }) });
      },
      PATIENCE_MS,
    );
  }

  it("stores large files in parts, completely or not at all, and copies them by one request", async () => {
    const storage = open();
    const bytes = noise(17 * MEBIBYTE + 7, 1);
    const { size, etag } = await storage.write("/large ä.bin", inChunks(bytes, 100_000), { size: bytes.byteLength });
    expect([size, (await storage.stat("/large ä.bin"))?.etag]).toEqual([bytes.byteLength, etag]);
    async function* broken() {
      yield* inChunks(bytes, MEBIBYTE);
      throw new Error("broken");
    }
    await expect(storage.write("/large ä.bin", broken())).rejects.toThrow("broken");
    await storage.copy("/large ä.bin", "/copy.bin");
    for (const path of ["/large ä.bin", "/copy.bin"]) {
      expect(areSameBytes(await bodyBytes((await storage.read(path)).body), bytes)).toBe(true);
    }
  });

  it("checks conditions just before a change", async () => {
    const storage = open();
    const { etag = "" } = await put(storage, "/file", "first", { ifNoneMatch: "*" });
    await expect(put(storage, "/file", "x", { ifNoneMatch: "*" })).rejects.toMatchObject({
      code: "precondition-failed",
    });
    await put(storage, "/file", "second", { ifMatch: [etag] });
    const changes = [
      () => put(storage, "/file", "x", { ifMatch: [etag] }),
      () => storage.remove("/file", { ifMatch: [etag] }),
    ];
    for (const change of changes) await expect(change()).rejects.toMatchObject({ code: "precondition-failed" });
    expect(await readFileText(storage, "/file")).toBe("second");
  });
});

describe("what does not hold in Google Cloud Storage", () => {
  let other: GcsServer;

  beforeAll(async () => {
    other = await startGcs();
  });

  afterAll(() => other.stop());

  const openOther = (options: Partial<S3StorageOptions> = {}) =>
    open({ accessKeyId: other.keys.accessKeyId, secretAccessKey: other.keys.secretAccessKey, ...options }, other);

  it("are conditions of S3: without the option of the recipe nothing new can be created", async () => {
    const storage = openOther({ conditionalWrites: true });
    await expect(storage.createFolder("/folder")).rejects.toMatchObject({ code: "unavailable" });
    expect(other.refused.at(-1)).toMatch(/^PUT .*: InvalidArgument A condition of reads: \[if-none-match\]$/);
  });

  it("are names with line breaks, which are refused", async () => {
    await expect(put(openOther(), "/a\nb", "text")).rejects.toMatchObject({ code: "unavailable" });
  });

  it("are large uploads that get their name at the end, as those to drop folders: they stay unfinished", async () => {
    const storage = openOther();
    const { key } = await beginUpload(storage, "/later", { isNamedLater: true });
    await uploadsOf(storage).append(key, 0, inChunks(noise(9 * MEBIBYTE, 1), MEBIBYTE));
    const completed = uploadsOf(storage).complete(key, { path: "/named" });
    await expect(completed).rejects.toMatchObject({ code: "unavailable" });
    expect(await storage.stat("/named")).toBeUndefined();
    expect(await uploadsOf(storage).discard(key)).toBe("unfinished");
    expect(await uploadsOf(storage).find(key)).toBeUndefined();
  });

  it("are presigned downloads: the URL has a parameter that is unknown there", async () => {
    const storage = openOther();
    await put(storage, "/file", "text");
    const contentDisposition = 'attachment; filename="file"';
    const url = await storage.presignRead("/file", { seconds: 60, contentType: "text/plain", contentDisposition });
    const response = await fetch(url ?? "");
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining("Invalid query parameter(s): [response-cache-control]"),
    ]);
    // The signature itself is one that the server takes.
    expect(other.refused.at(-1)).not.toContain("SignatureDoesNotMatch");
  });

  it("are joined uploads, and copies in parts: both fail, and leave what was there and no parts", async () => {
    const storage = openOther();
    await put(storage, "/to", "before");
    const parts: UploadKey[] = [];
    for (const seed of [1, 2]) {
      const { key } = await beginUpload(storage, `/part ${seed}`, { isPartial: true });
      await uploadsOf(storage).append(key, 0, inChunks(noise(6 * MEBIBYTE, seed), MEBIBYTE));
      parts.push(key);
    }
    await expect(uploadsOf(storage).join?.(parts, "/to")).rejects.toMatchObject({ code: "unavailable" });
    expect(await readFileText(storage, "/to")).toBe("before");

    const client = createS3Client(toS3Settings({ ...recipe, ...other.keys, endpoint: other.endpoint }));
    const limits = { maxBytes: MEBIBYTE, partBytes: 5 * MEBIBYTE };
    const copier = createS3Copier(client, createConditionSupport(false), createUploads(client), limits);
    other.bucket.store("source", Buffer.alloc(6 * MEBIBYTE, 1));
    other.bucket.store("target", Buffer.from("before"));
    const copied = copier.copyObject("source", "target", { isNew: false, permits: createPermits(4) });
    await expect(copied).rejects.toMatchObject({ code: "unavailable" });
    expect(other.bucket.objects.get("target")?.content.toString()).toBe("before");
    const left = [...other.bucket.uploads.values()].filter(({ key }) => key === "target" || key.endsWith("/to"));
    expect(left).toEqual([]);
  });
});
