import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { Upload, type UploadOptions } from "tus-js-client";
import { describe, expect, it } from "vitest";
import { CUTS, FILE_BYTES, openBrokenLink } from "../../support/links/broken-link.ts";
import { AUTHORIZATION } from "../../support/served.ts";

const MIB = 1024 ** 2;

/** Uploads content, and returns the URL of the upload. */
function upload(content: Upload["file"], options: UploadOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(content, {
      headers: { Authorization: AUTHORIZATION },
      metadata: { filename: "content.bin" },
      retryDelays: [0, 100, 200, 400],
      onError: reject,
      onSuccess: () => resolve(upload.url ?? ""),
      ...options,
    });
    upload.start();
  });
}

/** Several parts for each cut. */
const chunkSize = Math.ceil(FILE_BYTES / CUTS / 3);
const WAYS: readonly (readonly [string, UploadOptions])[] = [
  ["in one request as long as it lasts", {}],
  ["in parts", { chunkSize }],
  ["with the first part in the creation", { uploadDataDuringCreation: true, chunkSize }],
  ["of a length that is told later", { uploadLengthDeferred: true, chunkSize }],
  ["in three parts at the same time, which are joined", { parallelUploads: 3 }],
];

describe("tus-js-client over a link that is cut", () => {
  it.each(WAYS)("uploads %s", async (way, options) => {
    const link = await openBrokenLink();
    const progress: number[] = [];
    const content = createReadStream(link.file);
    // Of files of the disk the client knows the length.
    const url = await upload(options.uploadLengthDeferred ? content.pipe(new PassThrough()) : content, {
      endpoint: `${link.proxy.origin}/home/`,
      onProgress: (sent) => progress.push(sent),
      ...options,
    });
    expect(url).toMatch(/\/home\/__svc__\/uploads\/[0-9a-f]{32}$/);
    expect(progress.at(-1)).toBe(FILE_BYTES);
    await link.expectArrived("content.bin", `tus-js-client ${way}`);
  });

  // Of a file of the disk that it resumes the client never says that it is complete: its content is a buffer here.
  it.each([
    ["ietf-draft-03", 5],
    ["ietf-draft-05", 6],
  ])("uploads by its protocol %s, which is version %i of the draft (R 1.4)", async (protocol, version) => {
    const link = await openBrokenLink();
    const options: UploadOptions & { readonly protocol: string } = { endpoint: `${link.proxy.origin}/home/`, protocol };
    await upload(await readFile(link.file), options);
    await link.expectArrived("content.bin", `tus-js-client by version ${version} of the draft`);
  });

  it("continues an upload that another client has begun", async () => {
    const link = await openBrokenLink();
    const endpoint = `${link.proxy.origin}/home/`;
    const first = await new Promise<string>((resolve, reject) => {
      const upload = new Upload(createReadStream(link.file), {
        endpoint,
        chunkSize: MIB,
        headers: { Authorization: AUTHORIZATION },
        metadata: { filename: "content.bin" },
        onError: reject,
        onChunkComplete: () => void upload.abort().then(() => resolve(upload.url ?? "")),
      });
      upload.start();
    });
    const url = await upload(createReadStream(link.file), { uploadUrl: first, endpoint });
    expect(url).toBe(first);
    await link.expectArrived("content.bin", "tus-js-client from a URL");
  });

  it("ends an upload", async () => {
    const link = await openBrokenLink();
    const endpoint = `${link.proxy.origin}/home/`;
    const headers = { Authorization: AUTHORIZATION };
    const url = await new Promise<string>((resolve, reject) => {
      const upload = new Upload(createReadStream(link.file), {
        ...{ endpoint, headers, chunkSize: 100_000, metadata: { filename: "content.bin" } },
        onError: reject,
        onChunkComplete: () => void upload.abort(true).then(() => resolve(upload.url ?? "")),
      });
      upload.start();
    });
    const list = await fetch(`${endpoint}__svc__/uploads/`, { headers });
    expect(await list.json()).toEqual({ uploads: [] });
    expect(url).not.toBe("");
  });
});
