import { inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32 } from "../../../src/archive/crc32.ts";
import { createStoredBlocks, toFramedSize } from "../../../src/archive/stored-blocks.ts";
import type { ByteSource } from "../../../src/contracts/byte-source.ts";
import { zipInto } from "./zip-entries.ts";

describe("stored blocks of DEFLATE", () => {
  it("are what any inflater gives the content for, however it comes and is read, and of the size foretold", async () => {
    const sizes = fc.oneof(fc.integer({ min: 1, max: 300_000 }), fc.constantFrom(1, 65_534, 65_535, 65_536, 131_070));
    const buffers = fc.oneof(fc.integer({ min: 1, max: 200_000 }), fc.constantFrom(1, 5, 6, 65_540, 131_080));
    const parts = fc.oneof(fc.integer({ min: 500, max: 200_000 }), fc.constantFrom(65_535, 300_000));
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(parts, { minLength: 1 }), fc.array(buffers), async (size, cuts, lengths) => {
        const content = Buffer.alloc(size, "some bytes of a file");
        const blocks = createStoredBlocks(inParts(content, cuts), size);
        const framed = await zipInto(blocks, [...lengths, 70_000]);
        expect(framed.length).toBe(toFramedSize(size));
        expect(inflateRawSync(framed).equals(content)).toBe(true);
        expect(blocks.written()).toEqual({ crc: crc32(content, 0), storedSize: framed.length });
      }),
      { numRuns: 100 },
    );
  });

  it.each([-1, 1])("are not to be had of a content that is longer or shorter: %i", async (more) => {
    const blocks = createStoredBlocks(inParts(Buffer.alloc(100_000 + more), [40_000]), 100_000);
    await expect(zipInto(blocks, [30_000])).rejects.toMatchObject({ code: "unavailable" });
  });
});

/** A source whose reads give at most the sizes in `parts`, in turn. */
function inParts(content: Uint8Array, parts: readonly number[]): ByteSource {
  let at = 0;
  let turn = 0;
  return {
    async readInto(buffer) {
      const part = content.subarray(at, at + Math.min(buffer.byteLength, parts[turn++ % parts.length] as number));
      buffer.set(part);
      at += part.byteLength;
      return part.byteLength;
    },
    close: async () => undefined,
  };
}
