import { crc32 as reference } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32, crc32Portable } from "../../../src/archive/crc32.ts";

describe.each([
  ["the runtime's", crc32],
  ["the portable", crc32Portable],
])("%s CRC-32", (_, crc) => {
  it("gives the check value of its definition", () => {
    expect(crc(new TextEncoder().encode("123456789"), 0)).toBe(0xcbf43926);
    expect(crc(new Uint8Array(0), 0)).toBe(0);
  });

  it("agrees with zlib's on any bytes, however they are cut", () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(bytes, fc.nat(300), (content, at) => {
        const [head, tail] = [content.subarray(0, at), content.subarray(at)];
        expect(crc(tail, crc(head, 0))).toBe(reference(content));
      }),
    );
  });
});

describe("crc32", () => {
  it("is native here, where the runtime has one", () => {
    expect(crc32).toBe(reference);
  });
});
