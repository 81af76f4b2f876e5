import { describe, expect, it } from "vitest";
import { createHmac, createKeyedHmac, createPortableHmac } from "../../../src/platform/hmac.ts";

describe("the HMAC of a text", () => {
  it.each([
    // RFC 4231, test cases 1 and 2
    [new Uint8Array(20).fill(0x0b), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
    [
      new TextEncoder().encode("Jefe"),
      "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ],
  ])("is that of RFC 4231", (key, text, expected) => {
    for (const toMac of [createPortableHmac(key), createKeyedHmac(key)]) {
      expect(toMac(text)).toBe(expected);
      expect(toMac(text)).toBe(expected);
    }
  });

  it.each(["", "ü", "x".repeat(341), "x".repeat(342), "ü".repeat(5000), "\ud800"])(
    "is the same in JavaScript and by the runtime",
    (text) => {
      const key = crypto.getRandomValues(new Uint8Array(32));
      const [portable, keyed] = [createPortableHmac(key), createKeyedHmac(key)];
      expect(keyed(text)).toBe(portable(text));
      expect(keyed("after it")).toBe(portable("after it"));
    },
  );

  it("is the same for the same text, and depends on a key of its own", () => {
    const [one, other] = [createHmac(), createHmac()];
    expect(one("a ü")).toMatch(/^[0-9a-f]{64}$/);
    expect(one("a ü")).toBe(one("a ü"));
    expect(one("a ü")).not.toBe(one("a u"));
    expect(one("a ü")).not.toBe(other("a ü"));
  });
});
