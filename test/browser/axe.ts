import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect } from "vitest";

type Results = Awaited<ReturnType<AxeBuilder["analyze"]>>;

/** What a part of a page that is not ours does, by its structure. */
interface Foreign {
  readonly part: string;
  /** Rules of axe that are left out. */
  readonly rules: readonly string[];
}

/**
 * Fails with what axe finds on a page as it is now; `name` says in which state it is. `foreign` is checked by all rules
 * but its own. The legacy mode opens no second page: only frames of other origins would need it, and there are none.
 */
export async function expectAccessible(page: Page, name: string, foreign?: Foreign): Promise<void> {
  // Its half a megabyte of source goes into a page once, and not twice for each of its states.
  const isThere = await page.evaluate(() => "axe" in globalThis);
  const create = (): AxeBuilder =>
    new AxeBuilder(isThere ? { page, axeSource: "void 0" } : { page })
      .setLegacyMode()
      .options({ resultTypes: ["violations"] });
  if (foreign === undefined) return expectNone(await create().analyze(), name);
  expectNone(await create().exclude(foreign.part).analyze(), name);
  expectNone(
    await create()
      .include(foreign.part)
      .disableRules([...foreign.rules])
      .analyze(),
    `${name}: ${foreign.part}`,
  );
}

function expectNone({ violations }: Results, name: string): void {
  expect(
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary }))),
    name,
  ).toEqual([]);
}
