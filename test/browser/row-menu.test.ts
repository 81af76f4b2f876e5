import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium, eventually } from "./chromium.ts";
import { logIn, openFullSite, rowOf, tabTo } from "./site.ts";

const FILES = { "reports/inner.txt": "x", "a.txt": "a", "b.txt": "b" };

describeInChromium("the menu of a row, by the keyboard alone", (chromium) => {
  it("downloads, copies, shows properties and versions, shares and deletes", async () => {
    const site = await openFullSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await goToRow(page, "a.txt");

    const saving = page.waitForEvent("download");
    await choose(page, "Download");
    expect((await saving).suggestedFilename()).toBe("a.txt");

    await choose(page, "Properties");
    const properties = page.getByRole("dialog", { name: "a.txt" });
    await properties.getByText("1 byte").waitFor();
    await page.keyboard.press("Escape");
    await properties.waitFor({ state: "detached" });

    await choose(page, "Copy…");
    await page.getByRole("dialog", { name: "Copy a.txt" }).waitFor();
    await page.keyboard.type("/reports/");
    await page.keyboard.press("Enter");
    await eventually(() => page.locator(".announcer").textContent()).toContain("1");

    await choose(page, "Versions");
    await page.getByRole("heading", { name: "Versions of a.txt" }).waitFor();
    await tabTo(page, 'tbody tr:last-child button[value="restore-members"]');
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("The version was restored.").waitFor();
    await tabTo(page, ".crumbs a");
    await page.keyboard.press("Enter");

    await goToRow(page, "reports");
    await choose(page, "Share");
    await tabTo(page, "main form button.primary");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "The link is ready" }).waitFor();
    const address = await page.getByLabel("Address of the link").inputValue();
    await page.goto(address);
    for (const name of ["a.txt", "inner.txt"]) await rowOf(page, name).waitFor();

    await page.goto(site.home);
    await goToRow(page, "b.txt");
    await choose(page, "Delete for good");
    await page.getByRole("dialog", { name: "Delete b.txt?" }).waitFor();
    await tabTo(page, "dialog button.danger");
    await page.keyboard.press("Enter");
    await rowOf(page, "b.txt").waitFor({ state: "detached" });
    expectNoComplaints();
  });
});

async function goToRow(page: Page, name: string): Promise<void> {
  const hasFocus = (): Promise<boolean> =>
    page.evaluate((wanted) => document.activeElement?.closest("tr")?.dataset.name === wanted, name);
  await rowOf(page, name).waitFor();
  await page.waitForSelector('.files[role="grid"]');
  for (let steps = 0; steps < 10 && !(await hasFocus()); steps += 1) await page.keyboard.press("ArrowDown");
  expect(await hasFocus()).toBe(true);
}

/** Chooses an action of the menu of the row that has the focus. */
async function choose(page: Page, action: string): Promise<void> {
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menu").waitFor();
  const current = (): Promise<string | null | undefined> => page.evaluate(() => document.activeElement?.textContent);
  for (let steps = 0; steps < 20 && (await current()) !== action; steps += 1) await page.keyboard.press("ArrowDown");
  expect(await current()).toBe(action);
  await page.keyboard.press("Enter");
}
