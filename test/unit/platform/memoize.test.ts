import { describe, expect, it } from "vitest";
import { type MemoizeLimits, memoize } from "../../../src/platform/memoize.ts";

/** The function, and what it has computed so far. */
function observed(limits?: MemoizeLimits) {
  const computed: string[] = [];
  function compute(text: string): string | undefined {
    computed.push(text);
    return text === "none" ? undefined : text.toUpperCase();
  }
  return { recall: memoize(compute, limits), computed };
}

describe("a memoized function", () => {
  it("computes each of them once", () => {
    const { recall, computed } = observed();
    expect(["a", "b", "a", "b"].map(recall)).toEqual(["A", "B", "A", "B"]);
    expect(computed).toEqual(["a", "b"]);
  });

  it("computes each time what is too long, or results in undefined", () => {
    const { recall, computed } = observed({ maxCharacters: 4 });
    expect(["1234", "12345", "none", "1234", "12345", "none"].map(recall)).toEqual([
      "1234",
      "12345",
      undefined,
      "1234",
      "12345",
      undefined,
    ]);
    expect(computed).toEqual(["1234", "12345", "none", "12345", "none"]);
  });

  it("keeps the last 250 results, and 500 at most, of texts of at most 300 characters", () => {
    const { recall, computed } = observed();
    const toTexts = (kind: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${kind}${index}`.padEnd(300));
    const texts = toTexts("a", 250);
    for (const text of [...texts, ...texts, ...toTexts("b", 1), ...texts]) recall(text);
    expect(computed).toHaveLength(251);
    toTexts("c", 500).map(recall);
    expect(computed).toHaveLength(751);
    recall(texts[249] as string);
    expect(computed).toHaveLength(752);
    recall("x".repeat(301));
    recall("x".repeat(301));
    expect(computed).toHaveLength(754);
  });
});
