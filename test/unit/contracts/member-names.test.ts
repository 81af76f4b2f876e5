import fc from "fast-check";
import { expect, it } from "vitest";
import { compareNames } from "../../../src/contracts/member-names.ts";

it("names are compared by their code points, which is the order of their bytes in UTF-8", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (one, other) => {
      expect(Math.sign(compareNames(one, other))).toBe(Buffer.compare(Buffer.from(one), Buffer.from(other)));
    }),
    {
      examples: [
        ["\uff01", "\u{1f600}"],
        ["a", "a"],
        ["", "a"],
        ["a\u{1f600}", "a\ue000"],
        ["\u{1f600}", "\u{1f601}"],
      ],
    },
  );
});
