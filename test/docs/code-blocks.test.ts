import { beforeAll, describe, expect, it } from "vitest";
import { type Block, findBlocks, toPlace } from "./blocks.ts";
import { CODE, findBlockFaults } from "./check-block.ts";
import { readPages } from "./pages.ts";
import { checkTypes, type Finding } from "./typescript.ts";

/** The number of blocks that may be marked as not checked. */
const MOST_NOT_CHECKED = 5;

const blocks = (await readPages(["README.md", "CONTRIBUTING.md", "docs", "examples"])).flatMap(findBlocks);

let findings: ReadonlyMap<Block, Finding>;

beforeAll(() => {
  findings = checkTypes(blocks.filter(({ language, file }) => CODE.includes(language) && file === undefined));
}, 180_000);

describe("the code of the documentation", () => {
  it.for(blocks.map((block) => [toPlace(block), block.language, block] as const))(
    "%s (%s) is right",
    async ([, , block], { skip }) => {
      const missing = findings.get(block)?.missing;
      if (missing !== undefined && process.env.CI) throw new Error(`${missing} is not installed`);
      skip(missing !== undefined, `${missing} is not installed: npm ci --prefix examples/frameworks`);
      expect(await findBlockFaults(block, findings)).toEqual([]);
    },
  );

  it("is checked but for a handful, each of which says why not", () => {
    const reasons = blocks.flatMap(({ reason }) => (reason === undefined ? [] : [reason]));
    expect(reasons.length).toBeLessThanOrEqual(MOST_NOT_CHECKED);
    for (const reason of reasons) expect(reason).toMatch(/^.{10,100}$/);
  });

  it("is found on every page that has some", () => {
    expect(new Set(blocks.map(({ page }) => page)).size).toBeGreaterThan(10);
    expect(blocks.filter(({ language }) => language === "ts").length).toBeGreaterThan(20);
  });
});
