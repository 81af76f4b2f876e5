import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type MemberOrder,
  type PageMember,
  parseMemberOrder,
  SORT_KEYS,
  sortMembers,
} from "../../../src/views/member-order.ts";

const member = fc.record({
  name: fc.string({ maxLength: 3 }),
  kind: fc.constantFrom("file" as const, "folder" as const),
  size: fc.nat(3),
  modified: fc.nat(3),
});
const order = fc.record({ key: fc.constantFrom(...SORT_KEYS), isDescending: fc.boolean() });

const { compare } = new Intl.Collator("en", { numeric: true });

/** The expected order, written out. */
function isBefore(one: PageMember, other: PageMember, { key, isDescending }: MemberOrder): boolean {
  if (one.kind !== other.kind) return one.kind === "folder";
  const value = (entry: PageMember) =>
    key === "modified" ? entry.modified : key === "size" && entry.kind === "file" ? entry.size : 0;
  if (value(one) !== value(other)) return value(one) < value(other) !== isDescending;
  const byName = compare(one.name, other.name) || (one.name < other.name ? -1 : Number(one.name > other.name));
  return key === "name" && isDescending ? byName >= 0 : byName <= 0;
}

describe("sortMembers", () => {
  it("keeps all members and sorts them, for any number of members", async () => {
    const lists = fc.oneof(
      fc.array(member, { maxLength: 30 }),
      fc.array(member, { minLength: 2101, maxLength: 4500, size: "max" }),
    );
    await fc.assert(
      fc.asyncProperty(lists, order, async (members, by) => {
        const sorted = await sortMembers(members, by, compare);
        expect(new Set(sorted)).toEqual(new Set(members));
        expect(sorted).toHaveLength(members.length);
        for (const [index, one] of sorted.slice(0, -1).entries()) {
          if (!isBefore(one, sorted[index + 1] as PageMember, by)) expect.fail(`wrong at ${index}`);
        }
      }),
      { numRuns: 40 },
    );
  });

  it("leaves its input as it is", async () => {
    const members = ["b", "a"].map((name) => ({ name, kind: "file" as const, size: 0, modified: 0 }));
    await sortMembers(Object.freeze(members), { key: "name", isDescending: false }, compare);
    expect(members.map(({ name }) => name)).toEqual(["b", "a"]);
  });
});

describe("parseMemberOrder", () => {
  it.each([
    ["", "name", false],
    ["sort=size", "size", false],
    ["sort=modified&order=desc", "modified", true],
    ["sort=Size&order=DESC", "name", false],
    ["sort=size&sort=name", "size", false],
  ])("reads %j", (query, key, isDescending) => {
    expect(parseMemberOrder(new URLSearchParams(query))).toEqual({ key, isDescending });
  });
});
