import { randomBytes } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createDeflated } from "../../../src/archive/deflate.ts";
import { createZip } from "../../../src/archive/zip.ts";
import type { ByteSource } from "../../../src/contracts/byte-source.ts";
import { sourceOfBytes, toByteSource } from "../../../src/contracts/byte-source.ts";
import { checkArchive, isInstalled, readByJsZip, readers, readZip } from "./read-zip.ts";
import { bytesOf, entryOf, file, folder, listed, MODIFIED, zip, zipInto } from "./zip-entries.ts";

const compresses = (name: string): boolean => name.endsWith(".txt");
const TEXT = Buffer.alloc(300_000, "a line of a text\n");

describe("a compressed content", () => {
  it("inflates to the content, for all sizes of buffers", async () => {
    for (const content of [TEXT, bytesOf(200_001), bytesOf(1)]) {
      const deflated = createDeflated(sourceOfBytes(content), content.length);
      const bytes = await zipInto(deflated, [7, 60_000]);
      expect(inflateRawSync(bytes).equals(content)).toBe(true);
      expect(deflated.written().storedSize).toBe(bytes.length);
    }
  });

  it.each([-1, 1])("is not to be had where it has %i byte more than it should", async (more) => {
    const deflated = createDeflated(sourceOfBytes(TEXT), TEXT.length - more);
    await expect(zipInto(deflated, [10_000])).rejects.toMatchObject({ code: "unavailable" });
  });

  it("fails as what it is read from does", async () => {
    const failure = new Error("the read failed");
    const source: ByteSource = { readInto: () => Promise.reject(failure), close: async () => undefined };
    await expect(zipInto(createDeflated(source, 10), [10_000])).rejects.toBe(failure);
  });

  it("is read no faster than its compressed bytes are taken", async () => {
    let read = 0;
    const noise = randomBytes(65_536);
    const source: ByteSource = {
      async readInto(buffer) {
        const part = noise.subarray(0, buffer.byteLength);
        buffer.set(part);
        read += part.byteLength;
        return part.byteLength;
      },
      close: async () => undefined,
    };
    const deflated = createDeflated(source, 1e9);
    const buffer = new Uint8Array(1000);
    let taken = 0;
    for (let turn = 0; turn < 300; turn += 1) {
      taken += await deflated.readInto(buffer);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(read - taken).toBeLessThan(500_000);
    await deflated.close();
  });

  it("closes its source when it is closed", async () => {
    let isClosed = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytesOf(100_000)),
      cancel() {
        isClosed = true;
      },
    });
    const zipped = createZip(
      listed([entryOf("a.txt", { modified: MODIFIED, size: 1e9, source: toByteSource(body) })]),
      { compresses },
    );
    await zipped.readInto(new Uint8Array(1000));
    await zipped.close();
    await expect.poll(() => isClosed).toBe(true);
  });
});

describe("an archive with compressed members", () => {
  const mixed = () =>
    zip([folder("a/"), file("a/b.txt", TEXT), file("a/c.bin", TEXT), file("a/empty.txt", bytesOf(0))], { compresses });

  it("has these compressed, and the others as they are", async () => {
    const members = readZip(await mixed());
    expect(members.map(({ method, flags }) => [method, flags & 8])).toEqual([
      [0, 0],
      [8, 8],
      [8, 8],
      [0, 0],
    ]);
    expect(members[1]?.storedSize).toBeLessThan(5000);
    expect(members[2]?.storedSize).toBeGreaterThan(TEXT.length);
    expect(members[1]?.content().equals(TEXT)).toBe(true);
  });

  it("is the same, byte for byte, for the same members", async () => {
    expect((await mixed()).equals(await mixed())).toBe(true);
  });

  it("is faultless to all readers", async () => {
    const archive = await mixed();
    for (const reader of readers.filter(isInstalled)) checkArchive(reader, archive);
    expect((await readByJsZip(archive)).get("a/b.txt")?.equals(TEXT)).toBe(true);
  });
});
