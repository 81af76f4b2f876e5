import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromCanonicalBase64, toBase64 } from "../../../src/platform/text-encoding.ts";

describe("canonical Base64", () => {
  it("gives all bytes back", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(fromCanonicalBase64(Buffer.from(bytes).toString("base64"))).toEqual(bytes);
      }),
    );
    expect(fromCanonicalBase64(toBase64("文"))).toEqual(new TextEncoder().encode("文"));
  });

  it.each(["Y", "YQ", "YQ=", "YQ===", "YR==", "YWJ=", "YQ==YQ==", "Y Q=", " YQ==", "YQ==\n", "_-==", "=", "ä==="])(
    "is not %j",
    (text) => {
      expect(fromCanonicalBase64(text)).toBeUndefined();
    },
  );

  it("is the only text of its bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."YQRJW=") }), (text) => {
        const bytes = fromCanonicalBase64(text);
        if (bytes !== undefined) expect(Buffer.from(bytes).toString("base64")).toBe(text);
      }),
    );
  });
});
