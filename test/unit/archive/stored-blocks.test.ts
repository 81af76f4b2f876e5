import { inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBlockFramer, toFramedSize } from "../../../src/archive/stored-blocks.ts";

describe("stored blocks of DEFLATE", () => {
  it("are what any inflater gives the content for, however it was cut into chunks, and of the size foretold", () => {
    const sizes = fc.oneof(fc.integer({ min: 1, max: 300_000 }), fc.constantFrom(1, 65_534, 65_535, 65_536, 131_070));
    fc.assert(
      fc.property(sizes, fc.array(fc.integer({ min: 1, max: 200_000 })), (size, cuts) => {
        const content = Buffer.alloc(size, "some bytes of a file");
        const frame = createBlockFramer(size);
        const framed: Uint8Array[] = [];
        let at = 0;
        for (const cut of [...cuts, size]) {
          framed.push(frame(content.subarray(at, at + cut)));
          at += cut;
        }
        const whole = Buffer.concat(framed);
        expect(whole.length).toBe(toFramedSize(size));
        expect(inflateRawSync(whole).equals(content)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
