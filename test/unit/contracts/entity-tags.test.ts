import { describe, expect, it } from "vitest";
import { isStrongMatch, matchesStrongly, matchesWeakly } from "../../../src/contracts/entity-tags.ts";

describe("the comparison of entity-tags (RFC 9110 8.8.3.2)", () => {
  it.each([
    ['W/"1"', 'W/"1"', false, true],
    ['W/"1"', 'W/"2"', false, false],
    ['W/"1"', '"1"', false, true],
    ['"1"', 'W/"1"', false, true],
    ['"1"', '"1"', true, true],
    ['"1"', '"2"', false, false],
  ])("of %s and %s is strong: %s, weak: %s", (one, other, strong, weak) => {
    expect(isStrongMatch(one, other)).toBe(strong);
    expect(matchesStrongly(one, ['"0"', other])).toBe(strong);
    expect(matchesWeakly(one, ['"0"', other])).toBe(weak);
  });

  it('finds any entity-tag in "*", and none in an empty list', () => {
    expect([matchesStrongly('W/"1"', "*"), matchesWeakly('W/"1"', "*")]).toEqual([true, true]);
    expect([matchesStrongly('"1"', []), matchesWeakly('"1"', [])]).toEqual([false, false]);
  });
});
