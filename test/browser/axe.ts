import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/**
 * Fails with what axe finds on a page as it is now; `name` says in which state it is. `without` selects what is not
 * ours. The legacy mode opens no second page, which only frames of other origins would need; the pages have none.
 */
export async function expectAccessible(page: Page, name: string, without?: string): Promise<void> {
  // Its half a megabyte of source goes into a page once, and not twice for each of its states.
  const isThere = await page.evaluate(() => "axe" in globalThis);
  const builder = new AxeBuilder(isThere ? { page, axeSource: "void 0" } : { page });
  const axe = builder.setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations } = await (without === undefined ? axe : axe.exclude(without)).analyze();
  expect(
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary }))),
    name,
  ).toEqual([]);
}
