import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { expectAccessible } from "./axe.ts";
import { describeInChromium, eventually } from "./chromium.ts";
import { logIn, openSite } from "./site.ts";

const FILES = {
  "reports/2026/report one.txt": "1",
  "reports/Report two.txt": "22",
  "report.txt": "333",
  "other.txt": "",
};

const OLD = new Date("2026-03-02T09:30:00Z");

const CONTENTS: Readonly<Record<string, string>> = { "./a/report.txt": "first", "./b/report.txt": "second" };

describeInChromium("the search", (chromium) => {
  it.each([true, false])("finds what is below the folder, with a script: %s", async (javaScriptEnabled) => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open({ javaScriptEnabled });
    await logIn(page, site);
    const field = page.getByRole("searchbox", { name: javaScriptEnabled ? "Filter" : "Search" });
    await field.fill("REPORT");
    if (javaScriptEnabled) {
      expect(await page.locator("tbody tr:visible").count()).toBe(2);
      await page.getByRole("link", { name: "Search for it in the folders below" }).waitFor();
      await expectAccessible(page, "filter");
    }
    await field.press("Enter");
    await page.getByRole("heading", { name: "Found for “REPORT”" }).waitFor();
    const found = await page.locator("tbody th > a:first-child").allTextContents();
    // The nearest first, in the order of the storage.
    expect(found.slice(0, 2).sort()).toEqual(["report.txt", "reports/"]);
    expect(found.slice(2)).toEqual(["Report two.txt", "report one.txt"]);
    await page.getByRole("link", { name: "reports/2026/" }).click();
    await page.getByRole("heading", { name: "2026" }).waitFor();
    expectNoComplaints();
  });

  it.each([true, false])("keeps the order of the folders, with a script: %s", async (javaScriptEnabled) => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open({ javaScriptEnabled });
    const order = "sort=size&order=desc";
    await logIn(page, site);
    await page.goto(`${site.home}?${order}`);
    await page.getByRole("searchbox").fill("report");
    if (javaScriptEnabled) await page.getByRole("link", { name: "Search for it in the folders below" }).click();
    else await page.getByRole("searchbox").press("Enter");
    await page.getByRole("heading", { name: "Found for “report”" }).waitFor();
    await page.getByRole("searchbox").press("Enter");
    await page.waitForURL(`${site.home}?q=report&${order}`);
    const links = page.locator('a[href^="."]:not([href*=".txt"])');
    const hrefs = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
    expect(hrefs.filter((href) => !href.endsWith(order))).toEqual([]);
    expect(hrefs.length).toBeGreaterThan(3);
    expectNoComplaints();
  });

  it.each([
    ["en-GB", "light", 1280],
    ["de-DE", "dark", 320],
  ] as const)("is readable, %s, %s, %i px", async (locale, colorScheme, width) => {
    const site = await openSite({ files: FILES, limits: { searchResults: 2 } });
    // Old times are the longest ones.
    for (const name of Object.keys(FILES)) await utimes(join(site.folder, name), OLD, OLD);
    const { page, expectNoComplaints } = await chromium.open({ locale, colorScheme, viewport: { width, height: 700 } });
    await logIn(page, site);
    await page.goto(`${site.home}?q=report`);
    await page.getByText(/There may be more|Es gibt vielleicht mehr/).waitFor();
    await expectAccessible(page, "results");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.goto(`${site.home}?q=nothing+of+it`);
    await page.getByText(/Nothing was found|Es wurde nichts gefunden/).waitFor();
    await expectAccessible(page, "nothing");
    expectNoComplaints();
  });

  it("opens what it has found in the page, one after the other, whatever the folders of the files", async () => {
    const site = await openSite({ files: { "a/report.txt": "first", "b/report.txt": "second", "report.zip": "x" } });
    const { page, expectNoComplaints } = await chromium.open({ timezoneId: "Asia/Tokyo" });
    await logIn(page, site);
    await page.goto(`${site.home}?q=report`);
    const shown = async () => (await page.locator(".viewer-title > *").allTextContents()).join(", ");
    // The storage decides which of the two is first.
    const files = page.locator("tr[data-view] th a:first-child");
    const [first = "", second = ""] = await files.evaluateAll((links) =>
      links.map((link) => link.getAttribute("href")),
    );
    await files.first().press("Enter");
    await page.locator("pre", { hasText: CONTENTS[first ?? ""] ?? "" }).waitFor();
    expect(await shown()).toBe("report.txt, 1 of 2");
    await page.keyboard.press("ArrowRight");
    await page.locator("pre", { hasText: CONTENTS[second ?? ""] ?? "" }).waitFor();
    await expectAccessible(page, "found file");
    await page.keyboard.press("Escape");
    await eventually(() => page.evaluate(() => document.activeElement?.getAttribute("href"))).toBe(second);
    // Times are those of the reader, as on the page of a folder.
    expect(await page.locator("thead").textContent()).not.toContain("UTC");
    const saving = page.waitForEvent("download");
    await page.locator("th a", { hasText: "report.zip" }).click();
    expect((await saving).suggestedFilename()).toBe("report.zip");
    await page.getByRole("link", { name: "b/", exact: true }).click();
    await page.getByRole("heading", { name: "b" }).waitFor();
    expectNoComplaints();
  });

  it("works below a link, where each file is a download if the link counts", async () => {
    const links = { secret: "a secret of the tests, 32 characters or more", store: createMemoryKeyValueStore() };
    const site = await openSite({ files: { "in/a/report.txt": "found", "report.txt": "outside" }, links });
    const { page, expectNoComplaints } = await chromium.open();
    const file = page.locator("th a:first-child");
    for (const maxUses of [undefined, 5]) {
      const { urlPath } = await site.links.create({ username: "alice", path: "/in", ...(maxUses && { maxUses }) });
      await page.goto(site.origin + urlPath);
      await page.getByRole("searchbox", { name: "Filter" }).fill("report");
      await page.getByRole("searchbox", { name: "Filter" }).press("Enter");
      await eventually(() => file.allTextContents()).toEqual(["report.txt"]);
      const saving = maxUses === undefined ? undefined : page.waitForEvent("download");
      await file.click();
      if (saving === undefined) await page.locator("pre", { hasText: "found" }).waitFor();
      else expect((await saving).suggestedFilename()).toBe("report.txt");
    }
    expectNoComplaints();
  });

  it("is offered where the filter hides all rows", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.getByRole("searchbox", { name: "Filter" }).fill("two");
    await page.getByText("No item has this text in its name.").waitFor();
    await page.getByRole("link", { name: "Search for it in the folders below" }).click();
    await eventually(() => page.url()).toBe(`${site.home}?q=two`);
    await page.getByText("Report two.txt").waitFor();
    expectNoComplaints();
  });
});
