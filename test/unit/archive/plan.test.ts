import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planArchive } from "../../../src/archive/plan.ts";
import type { ZipEntry } from "../../../src/archive/read-ahead.ts";
import { createZip } from "../../../src/archive/zip.ts";
import { createLengthSum } from "../../../src/archive/zip-member.ts";
import { bytesOf, file, folder, listed, MODIFIED, zip, zipInto } from "./zip-entries.ts";

const IDLE = new AbortController().signal;
const GIB = 2 ** 30;

describe("the length of an archive", () => {
  it("is computed exactly for all kinds of members", async () => {
    const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
    const size = fc.oneof(fc.integer({ min: 0, max: 300_000 }), fc.constantFrom(0, 131_072, 131_073, 131_070));
    const time = fc.date({ min: new Date("1890-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });
    const member = fc.oneof(fc.tuple(name, size, time), fc.tuple(name, fc.constant(undefined), time));
    await fc.assert(
      fc.asyncProperty(fc.array(member, { maxLength: 8 }), async (members) => {
        const entries = members.map(([text, bytes, modified]) =>
          bytes === undefined ? folder(`${text}/`) : file(text, bytesOf(bytes), 65_536, modified),
        );
        const { length } = await planArchive(listed(entries), IDLE);
        expect(length).toBe((await zip(entries)).length);
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    // Headers 30 + 1 + 9 and 20 for Zip64, blocks, descriptor; record 46 + 1 + 9, 20; end with Zip64.
    [[5 * GIB], 60 + 5 * GIB + 5 * 81_922 + 24 + 76 + 98],
    [[4 * GIB - 1_000_000], 40 + (4 * GIB - 1_000_000) + 5 * 65_522 + 16 + 56 + 22],
  ])("counts the wide fields of Zip64 where they are needed: %j", (sizes, expected) => {
    const sum = createLengthSum();
    for (const size of sizes) sum.add({ name: "a", modified: MODIFIED, size });
    expect(sum.total()).toBe(expected);
  });
});

describe("planArchive", () => {
  it("hands all entries on, whether it has seen them all or not", async () => {
    for (const [count, isKnown] of [
      [9999, true],
      [10_001, false],
    ] as const) {
      const { length, entries } = await planArchive(many(count), IDLE);
      expect(length !== undefined).toBe(isKnown);
      let found = 0;
      for (let next = await entries.next(); next.done !== true; next = await entries.next()) {
        expect(next.value.name).toBe(`${found++}`);
      }
      expect(found).toBe(count);
    }
  });

  it("ends the walk when the reader stops, and when the client disconnects", async () => {
    let ended = 0;
    async function* walk(): AsyncGenerator<ZipEntry> {
      try {
        yield* many(20_000);
      } finally {
        ended++;
      }
    }
    const { entries } = await planArchive(walk(), IDLE);
    await entries.return?.();
    expect(ended).toBe(1);
    const reason = new Error("gone");
    const aborted = AbortSignal.abort(reason);
    await expect(planArchive(walk(), aborted)).rejects.toBe(reason);
  });
});

describe("an archive whose length was promised", () => {
  it.each<[string, Partial<ZipEntry>]>([
    ["another size", { size: 9 }],
    ["a time that takes another room", { modified: new Date("1890-01-01") }],
    ["nothing behind it", { open: async () => undefined }],
  ])("cannot be had with a member that has %s", async (_, change) => {
    const entry = { ...file("a", bytesOf(10)), ...change };
    const promised = createZip(listed([entry]), { isLengthAnnounced: true });
    await expect(zipInto(promised, [1000])).rejects.toMatchObject({ code: "unavailable" });
    expect((await zip([{ ...file("a", bytesOf(10)), ...change }])).length).toBeGreaterThan(0);
  });

  it("can with one of another time: that of what is read stands in it", async () => {
    const entry = { ...file("a", bytesOf(10)), modified: new Date(0) };
    const promised = await zipInto(createZip(listed([entry]), { isLengthAnnounced: true }), [1000]);
    expect(promised.equals(await zip([file("a", bytesOf(10))]))).toBe(true);
  });
});

async function* many(count: number): AsyncGenerator<ZipEntry> {
  for (let index = 0; index < count; index++) yield file(`${index}`, bytesOf(0));
}
