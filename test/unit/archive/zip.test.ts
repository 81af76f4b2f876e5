import { describe, expect, it } from "vitest";
import { createZip } from "../../../src/archive/zip.ts";
import { toByteSource } from "../../../src/contracts/byte-source.ts";
import { readZip } from "./read-zip.ts";
import { bytesOf, entryOf, file, folder, listed, MODIFIED, zip, zipInto } from "./zip-entries.ts";

const WHOLE = 131_072;

describe("createZip", () => {
  it("keeps names, times, sizes and contents, whether a member is small or large", async () => {
    const contents = [0, 1, 100, WHOLE - 1, WHOLE, WHOLE + 1, 65_535 * 3, 1_000_000].map((size) => bytesOf(size));
    const archive = await zip(contents.map((content, index) => file(`${index}.bin`, content)));
    const members = readZip(archive);
    expect(members.map(({ name }) => name)).toEqual(contents.map((_, index) => `${index}.bin`));
    for (const [index, member] of members.entries()) {
      expect(member.content().equals(contents[index] as Uint8Array)).toBe(true);
      expect(member.modified).toEqual(MODIFIED);
      expect(member.dosTime).toEqual(new Date("2018-05-04T12:34:56Z"));
      expect(member.mode).toBe(0o100644);
      expect(member.flags & 0x800).toBe(0x800);
    }
  });

  it("stores members of one chunk plainly, and larger ones as blocks that end by themselves", async () => {
    const members = readZip(await zip([file("small", bytesOf(WHOLE)), file("large", bytesOf(WHOLE + 1))]));
    expect(members.map(({ method, flags, version }) => [method, flags & 8, version])).toEqual([
      [0, 0, 10],
      [8, 8, 20],
    ]);
    expect(members.map(({ storedSize }) => storedSize)).toEqual([WHOLE, WHOLE + 1 + 3 * 5]);
  });

  it("writes folders as entries of their own", async () => {
    const [empty] = readZip(await zip([folder("empty/")]));
    expect(empty).toMatchObject({ name: "empty/", size: 0, method: 0, mode: 0o40755 });
  });

  it("needs no Zip64 below its limits", async () => {
    const members = readZip(await zip([file("a", bytesOf(WHOLE + 1)), file("b", bytesOf(1))]));
    expect(members.map(({ extras }) => extras)).toEqual([[0x5455], [0x5455]]);
  });

  it.each([
    [new Date("1970-01-01T00:00:00Z"), "1980-01-01T00:00:00Z", true],
    [new Date("1901-01-01T00:00:00Z"), "1980-01-01T00:00:00Z", false],
    [new Date("1979-12-31T23:59:59Z"), "1980-01-01T00:00:00Z", true],
    [new Date("2038-01-19T03:14:07Z"), "2038-01-19T03:14:06Z", true],
    [new Date("2038-01-19T03:14:08Z"), "2038-01-19T03:14:08Z", false],
    [new Date("2107-12-31T23:59:59Z"), "2107-12-31T23:59:58Z", false],
    [new Date("2345-01-01T00:00:00Z"), "2107-12-31T23:59:58Z", false],
    [new Date(Number.NaN), "1980-01-01T00:00:00Z", false],
  ])("writes the time %s as near as the format can", async (modified, dosTime, isExact) => {
    const [member] = readZip(await zip([file("a", bytesOf(1), 1, modified)]));
    expect(member?.dosTime).toEqual(new Date(dosTime));
    expect(member?.modified).toEqual(isExact ? modified : undefined);
  });

  it("gives the same bytes for the same entries, for all chunks of their contents", async () => {
    const content = bytesOf(300_000);
    const whole = await zip([file("a", content), file("b", content.subarray(0, 1000))]);
    const cut = await zip([file("a", content, 777), file("b", content.subarray(0, 1000), 1)]);
    expect(cut.equals(whole)).toBe(true);
  });

  it("gives the same bytes for all sizes of buffers", async () => {
    const sizes = [0, 1, 4000, WHOLE, WHOLE + 1, 65_535 * 4, 65_535 * 4 + 1, 400_000];
    const entries = [folder("a/"), ...sizes.map((size) => file(`a/${size}`, bytesOf(size)))];
    const whole = await zip(entries);
    for (const buffers of [[3, 5, 6, 20_000], [64, 70_000], [65_540, 65_541], [2 ** 20]]) {
      expect((await zipInto(createZip(listed(entries)), buffers)).equals(whole)).toBe(true);
    }
    const two = [file("a", bytesOf(10)), file("b", bytesOf(WHOLE + 1))];
    expect((await zipInto(createZip(listed(two)), [1])).equals(await zip(two))).toBe(true);
  });

  it("fills a buffer with many small members", async () => {
    const source = createZip(listed(Array.from({ length: 200 }, (_, index) => file(`${index}`, bytesOf(100)))));
    expect(await source.readInto(new Uint8Array(16_384))).toBe(16_384);
    await source.close();
  });

  it("rejects a name that is too long for an archive, and closes its content", async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      cancel() {
        isCancelled = true;
      },
    });
    const entry = entryOf("x/".repeat(40_000), { modified: MODIFIED, size: 1, source: toByteSource(body) });
    await expect(zip([entry])).rejects.toThrow(RangeError);
    expect(isCancelled).toBe(true);
  });
});
