import { describe, expect, it } from "vitest";
import type { ZipEntry } from "../../src/archive/read-ahead.ts";
import { checkArchive, isInstalled, readAll, readByJsZip, readers, readZip } from "../unit/archive/read-zip.ts";
import { bytesOf, file, streamZip, zeros } from "../unit/archive/zip-entries.ts";

const GIB = 2 ** 30;

describe("Zip64", () => {
  it("counts 70,000 members", async () => {
    const archive = await readAll(streamZip(many(70_000)));
    const members = readZip(archive);
    expect(members).toHaveLength(70_000);
    expect(members.at(-1)).toMatchObject({ name: "folder/member-69999.txt", size: 6 });
    expect(members.at(-1)?.content().toString()).toBe("069999");
    for (const reader of readers.filter(isInstalled)) checkArchive(reader, archive);
    expect((await readByJsZip(archive)).get("folder/member-69999.txt")?.toString()).toBe("069999");
  });

  it("is used from 65,535 members on", async () => {
    const signature = Buffer.from([0x50, 0x4b, 6, 6]);
    const [below, at] = [await readAll(streamZip(many(65_534))), await readAll(streamZip(many(65_535)))];
    expect(below.includes(signature)).toBe(false);
    expect(at.includes(signature)).toBe(true);
    expect(readZip(at)).toHaveLength(65_535);
  });

  it("gives the sizes of a member over 4 GiB and the offsets after it", async () => {
    const { tail, length } = await readEnds([zeros("large", 4 * GIB + 5), file("behind", bytesOf(10))], 1000);
    const base = length - tail.length;
    const [large, behind] = readZip(tail, base);
    const storedSize = 4 * GIB + 5 + Math.ceil((4 * GIB + 5) / 65_535) * 5;
    expect(large).toMatchObject({ size: 4 * GIB + 5, storedSize, offset: 0, version: 45, extras: [1, 0x5455] });
    expect(behind).toMatchObject({ size: 10, storedSize: 10, version: 45, extras: [1, 0x5455] });
    expect(behind?.content().equals(bytesOf(10))).toBe(true);
    // The wide descriptor: signature, CRC, and two sizes of 64 bits.
    const descriptor = tail.subarray((behind?.offset ?? 0) - base - 24);
    expect(descriptor.readUInt32LE(0)).toBe(0x08074b50);
    expect(descriptor.readUInt32LE(4)).toBe(large?.crc);
    expect(descriptor.readBigUInt64LE(8)).toBe(BigInt(storedSize));
    expect(descriptor.readBigUInt64LE(16)).toBe(BigInt(4 * GIB + 5));
  }, 120_000);
});

function* many(count: number): Generator<ZipEntry> {
  for (let index = 0; index < count; index++) {
    yield file(`folder/member-${index}.txt`, Buffer.from(String(index).padStart(6, "0")));
  }
}

/** The last bytes of an archive too large to be held, and its length. */
async function readEnds(entries: readonly ZipEntry[], kept: number): Promise<{ tail: Buffer; length: number }> {
  let tail: Buffer = Buffer.alloc(0);
  let length = 0;
  for await (const chunk of streamZip(entries) as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    tail = Buffer.concat([tail.subarray(-kept), chunk.subarray(-kept)]).subarray(-kept);
  }
  return { tail, length };
}
