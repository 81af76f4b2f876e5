import { createReadStream, openAsBlob } from "node:fs";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { type ByteStream, createClient, type UploadContent } from "../../../src/client.ts";
import { FILE_BYTES, openBrokenLink } from "../../support/links/broken-link.ts";

type Content = (file: string) => UploadContent | Promise<UploadContent>;

const CONTENTS: readonly (readonly [string, Content])[] = [
  ["a Blob", (file) => openAsBlob(file)],
  ["a function", (file) => (start) => Readable.toWeb(createReadStream(file, { start })) as ByteStream],
];

describe("fileferry/client over a link that is cut", () => {
  it.each(CONTENTS)("uploads a file by %s", async (way, content) => {
    const link = await openBrokenLink();
    const client = createClient({
      baseUrl: link.proxy.origin,
      credentials: { username: "alice", password: "secret" },
    });
    const progress: number[] = [];
    await client.put("/content.bin", await content(link.file), {
      resumable: true,
      size: FILE_BYTES,
      onProgress: (sent) => progress.push(sent),
    });
    expect(progress.at(-1)).toBe(FILE_BYTES);
    await link.expectArrived("content.bin", `fileferry/client with ${way}`);
  });
});
