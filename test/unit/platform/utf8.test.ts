import { describe, expect, it } from "vitest";
import { decodeUtf8 } from "../../../src/platform/utf8.ts";

const bytes = (...values: number[]) => Uint8Array.from(values);

describe("strict UTF-8", () => {
  it("decodes valid bytes", () => {
    expect(decodeUtf8(new TextEncoder().encode("aé€𝄞\0"))).toBe("aé€𝄞\0");
    expect(decodeUtf8(bytes())).toBe("");
  });

  it.each([
    ["a lone continuation byte", bytes(0x80)],
    ["a cut character", bytes(0x61, 0xe2, 0x82)],
    ["an overlong form", bytes(0xc0, 0xaf)],
    ["half of a surrogate pair", bytes(0xed, 0xa0, 0x80)],
    ["more than Unicode has", bytes(0xf4, 0x90, 0x80, 0x80)],
  ])("rejects %s", (_, invalid) => {
    expect(decodeUtf8(invalid)).toBeUndefined();
  });

  it("keeps a byte order mark, unless it is to be removed", () => {
    const marked = bytes(0xef, 0xbb, 0xbf, 0x61);
    expect(decodeUtf8(marked)).toBe("\ufeffa");
    expect(decodeUtf8(marked, "remove")).toBe("a");
  });
});
