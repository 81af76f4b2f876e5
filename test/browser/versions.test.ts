import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createVersionsStorage } from "../../src/storage/versions.ts";
import { fillStorage } from "../support/storage.ts";
import { expectAccessible } from "./axe.ts";
import { describeInChromium, eventually } from "./chromium.ts";
import { chooseAction, logIn, openSite, rowOf, type Site } from "./site.ts";

const LONG = `${"a very long name ".repeat(10)}.txt`;

/** A site with a file that has two versions. */
async function openVersionsSite(name: string): Promise<Site> {
  const storage = createVersionsStorage(createMemoryStorage());
  for (const content of ["first", "second", "third"]) await fillStorage(storage, { [`/reports/${name}`]: content });
  return openSite({ storage, versions: storage.versions });
}

async function check(page: Page, name: string): Promise<void> {
  await expectAccessible(page, name);
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(content, name).toBeLessThanOrEqual(window ?? 0);
}

async function openVersions(page: Page, site: Site, name: string): Promise<void> {
  await logIn(page, site);
  await page.goto(`${site.home}reports/`);
  await rowOf(page, name).locator("td.modified a").click();
  await page.waitForURL(/__svc__\/versions\?path=/);
}

describeInChromium("versions in the pages", (chromium) => {
  it.each([
    ["with", true],
    ["without", false],
  ])("are downloaded, restored and deleted, %s JavaScript", async (_case, javaScriptEnabled) => {
    const site = await openVersionsSite("a.txt");
    const { page, expectNoComplaints } = await chromium.open({ javaScriptEnabled });
    await openVersions(page, site, "a.txt");
    await page.getByRole("heading", { name: "Versions of a.txt" }).waitFor();
    const rows = page.locator("tbody tr");
    await eventually(() => rows.count()).toBe(2);
    const downloading = page.waitForEvent("download");
    await rows.last().getByRole("link", { name: "Download" }).click();
    expect((await downloading).suggestedFilename()).toBe("a.txt");
    await rows.last().getByRole("button", { name: "Restore" }).click();
    await page.getByRole("status").getByText("The version was restored.").waitFor();
    await eventually(() => rows.count()).toBe(3);
    await rows.first().getByRole("button", { name: "Delete for good" }).click();
    await page.getByRole("status").getByText("deleted for good").waitFor();
    await eventually(() => rows.count()).toBe(2);
    await page.getByRole("link", { name: "reports" }).click();
    await rowOf(page, "a.txt").waitFor();
    expectNoComplaints();
  });

  it("are in the menu of a file, in the bar of the selection, and without a script in the panel", async () => {
    const site = await openVersionsSite("a.txt");
    const { page, expectNoComplaints } = await chromium.open();
    const heading = page.getByRole("heading", { name: "Versions of a.txt" });
    const bar = page.locator(".selected").getByRole("button", { name: "Actions" });
    const item = page.getByRole("menuitem", { name: "Versions" });
    await logIn(page, site);
    await rowOf(page, "reports").getByRole("link", { name: "Actions for" }).click();
    expect(await page.getByRole("menuitem").allTextContents()).not.toContain("Versions");
    await page.keyboard.press("Escape");
    await rowOf(page, "reports").getByRole("checkbox").check();
    await bar.click();
    await page.getByRole("menuitem", { name: "Properties" }).waitFor();
    expect(await item.count()).toBe(0);
    await page.goto(`${site.home}reports/`);
    await chooseAction(page, "a.txt", "Versions");
    await heading.waitFor();
    await page.getByRole("link", { name: "reports" }).click();
    await rowOf(page, "a.txt").getByRole("checkbox").check();
    await bar.click();
    await item.click();
    await heading.waitFor();
    const { page: plain } = await chromium.open({ javaScriptEnabled: false });
    await logIn(plain, site);
    await plain.goto(`${site.home}reports/?member=a.txt`);
    await plain.locator(".member").getByRole("link", { name: "Versions" }).click();
    await plain.getByRole("heading", { name: "Versions of a.txt" }).waitFor();
    expectNoComplaints();
  });

  it.each([
    ["light", "en-GB", 1000],
    ["dark", "de-DE", 360],
    ["light", "de-DE", 360],
  ] as const)("axe finds nothing, %s, %s, %i pixels", async (colorScheme, locale, width) => {
    const site = await openVersionsSite(LONG);
    const { page, expectNoComplaints } = await chromium.open({ colorScheme, locale, viewport: { width, height: 740 } });
    await openVersions(page, site, LONG);
    await check(page, "versions");
    const [restore] = await page.locator('button[value="restore-members"]').all();
    await restore?.click();
    await page.getByRole("status").waitFor();
    await check(page, "versions with a message");
    // A version that another window has removed.
    const [purge] = await page.locator('button[value="purge-members"]').all();
    await page.evaluate(() => {
      for (const field of document.querySelectorAll('input[name="selected-members"]')) {
        field.setAttribute("value", "none");
      }
    });
    await purge?.click();
    await page.getByRole("alert").waitFor();
    await check(page, "versions with a problem");
    expectNoComplaints(/status of 404/);
  });
});
