import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { expectAccessible } from "./axe.ts";
import { describeInChromium, eventually } from "./chromium.ts";
import { dropFiles, logIn, openSite, rowOf, tabTo, transferOf } from "./site.ts";

const OLD = new Date("2026-03-02T09:30:00Z");
const FILES = { "a.txt": "old a", "a (1).txt": "older a", "b.txt": "old b", "c.txt": "old c" };

describeInChromium("the panel of the uploads", (chromium) => {
  it("folds to one line, and the title of the tab tells how far the uploads are", async () => {
    const site = await openSite({ files: { "reports/old.txt": "x" } });
    const { page, expectNoComplaints } = await chromium.open({ viewport: { width: 1280, height: 800 } });
    await logIn(page, site);
    await page.goto(`${site.home}reports/`);
    const release = await hold(page, "**/slow.txt");
    await dropFiles(page, [
      { name: "done.txt", content: "x".repeat(99) },
      { name: "slow.txt", content: "x".repeat(99) },
    ]);
    await eventually(() => page.title()).toBe("50 % · reports – Files");
    const panel = page.getByRole("region", { name: "Uploads" });
    const { right, bottom } = await panel.evaluate((section) => {
      const { right, bottom } = section.getBoundingClientRect();
      return { right: innerWidth - right, bottom: innerHeight - bottom };
    });
    // There is room for a scroll bar.
    expect([right < 30, bottom]).toEqual([true, 8]);
    const fold = panel.getByRole("button", { name: /^Uploads/ });
    expect(await fold.getAttribute("aria-expanded")).toBe("true");
    await fold.press("Enter");
    expect(await fold.getAttribute("aria-expanded")).toBe("false");
    expect(await page.locator(".transfers-line").textContent()).toBe("1 of 2 · 50 %");
    expect((await panel.boundingBox())?.height).toBeLessThan(56);
    expect(await page.locator(".transfer").first().isVisible()).toBe(false);
    await expectAccessible(page, "folded");
    await release();
    await eventually(() => page.title()).toBe("reports – Files");
    expect(await page.locator(".transfers-line").textContent()).toBe("2 of 2 · 100 %");
    await panel.getByRole("button", { name: "Close" }).click();
    await eventually(() => panel.isVisible()).toBe(false);
    expect(await page.evaluate(() => document.activeElement?.parentElement?.id)).toBe("send");
    expectNoComplaints();
  });

  it("is reached and used by Tab alone", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const release = await hold(page, "**/slow.txt");
    const choosing = page.waitForEvent("filechooser");
    await tabTo(page, "#send > summary");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await (await choosing).setFiles(
      ["a.txt", "b.txt", "slow.txt"].map((name) => ({ name, mimeType: "text/plain", buffer: Buffer.from("new") })),
    );
    await eventually(() => page.locator('.transfer[data-state="exists"]').count()).toBe(2);
    const panel = page.getByRole("region", { name: "Uploads" });
    const list = panel.getByRole("list");
    await tabTo(page, ".transfers-head h2 button");
    await page.keyboard.press("Enter");
    await list.waitFor({ state: "hidden" });
    await page.keyboard.press("Enter");
    await list.waitFor();
    await pressAt(page, "Keep both: a.txt");
    await eventually(() => transferOf(page, "a (2).txt").getAttribute("data-state")).toBe("done");
    await pressAt(page, "Skip: b.txt");
    await eventually(() => transferOf(page, "b.txt").getAttribute("data-state")).toBe("skipped");
    const aborted = page.waitForEvent("requestfailed");
    await pressAt(page, "Cancel: slow.txt");
    await eventually(() => transferOf(page, "slow.txt").getAttribute("data-state")).toBe("cancelled");
    // Otherwise the request may still be sent.
    await aborted;
    await release();
    await pressAt(page, "Retry: slow.txt");
    await eventually(() => transferOf(page, "slow.txt").getAttribute("data-state")).toBe("done");
    await rowOf(page, "slow.txt").waitFor();
    await pressAt(page, "Close");
    await panel.waitFor({ state: "hidden" });
    expect(await page.evaluate(() => document.activeElement?.parentElement?.id)).toBe("send");
    expect(await site.list()).toEqual(["a (1).txt", "a (2).txt", "a.txt", "b.txt", "c.txt", "slow.txt"]);
    expectNoComplaints(/status of 4(?:04|12)/);
  });

  it("asks in its row what to do about a file that exists: keep both takes the next free name", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await drop(page, ["a.txt", "b.txt"]);
    await transferOf(page, "a.txt").getByRole("button", { name: "Keep both: a.txt" }).press("Enter");
    await eventually(() => transferOf(page, "a (2).txt").getAttribute("data-state")).toBe("done");
    // The focus goes to the next question.
    await eventually(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(
      "Replace: b.txt",
    );
    expect(await transferOf(page, "b.txt").getByRole("checkbox").isVisible()).toBe(false);
    await page.keyboard.press("Enter");
    await eventually(() => transferOf(page, "b.txt").getAttribute("data-state")).toBe("done");
    expect(await Promise.all(["a.txt", "a (1).txt", "a (2).txt", "b.txt"].map(site.content))).toEqual([
      "old a",
      "older a",
      "new",
      "new",
    ]);
    expectNoComplaints(/status of 4(?:04|12)/);
  });

  it("shows the sizes and times of both files, the one that is there first", async () => {
    const site = await openSite({ files: FILES });
    await utimes(join(site.folder, "b.txt"), OLD, OLD);
    const { page, expectNoComplaints } = await chromium.open({ locale: "en-GB", timezoneId: "UTC" });
    await logIn(page, site);
    await eventually(() => rowOf(page, "b.txt").locator("time").textContent()).toMatch(/9:30\sAM$/);
    await drop(page, ["b.txt"]);
    await eventually(() => transferOf(page, "b.txt").locator(".transfer-note").textContent()).toMatch(
      /^A file with this name already exists\.\n5 bytes, Mar 2, 2026, 9:30\sAM → 3 bytes, now$/,
    );
    await expectAccessible(page, "both files");
    expectNoComplaints();
  });

  it("keeps files that wait for an answer: the page asks before it is left, and has no cross", async () => {
    const site = await openSite({ files: { ...FILES, "reports/": "" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await drop(page, ["a.txt", "n1.txt"]);
    await eventually(() => transferOf(page, "n1.txt").getAttribute("data-state")).toBe("done");
    await eventually(() => page.title()).toMatch(/^\(1\) \d+ % · /);
    const panel = page.getByRole("region", { name: "Uploads" });
    expect(await panel.getByRole("button", { name: "Close" }).isVisible()).toBe(false);
    const asked = page.waitForEvent("dialog");
    const left = page.locator('tr[data-name="reports"] th a').click();
    const dialog = await asked;
    expect(dialog.type()).toBe("beforeunload");
    await dialog.dismiss();
    await left;
    expect(page.url()).toBe(site.home);
    await panel.getByRole("button", { name: "Cancel all" }).click();
    await eventually(() => transferOf(page, "a.txt").getAttribute("data-state")).toBe("cancelled");
    await transferOf(page, "a.txt").getByRole("button", { name: "Retry" }).click();
    await transferOf(page, "a.txt").getByRole("button", { name: "Replace" }).click();
    await eventually(() => transferOf(page, "a.txt").getAttribute("data-state")).toBe("done");
    await eventually(() => page.title()).toBe("Home – Files");
    expect(await site.content("a.txt")).toBe("new");
    await panel.getByRole("button", { name: "Close" }).click();
    expectNoComplaints(/status of 412/);
  });

  it.each([
    ["Keep both", { "a.txt": "old a", "c.txt": "old c", "d.txt": "old d", "c (1).txt": "new", "d (1).txt": "new" }],
    ["Replace", { "a.txt": "new", "c.txt": "new", "d.txt": "new" }],
    ["Skip", { "a.txt": "old a", "c.txt": "old c", "d.txt": "old d" }],
  ])("does the same for all, also for one that is found later: %s", async (answer, contents) => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await writeFile(join(site.folder, "d.txt"), "old d");
    const release = await hold(page, "**/d.txt");
    await drop(page, ["a.txt", "c.txt", "d.txt"]);
    await page.getByRole("checkbox", { name: "Do this for all" }).check();
    await expectAccessible(page, "conflict");
    await transferOf(page, "a.txt")
      .getByRole("button", { name: `${answer}: a.txt` })
      .click();
    await eventually(() => page.locator('.transfer[data-state="exists"]').count()).toBe(0);
    await release();
    await eventually(() => page.locator('.transfer:is([data-state="done"], [data-state="skipped"])').count()).toBe(3);
    expect(
      Object.fromEntries(
        await Promise.all(Object.keys(contents).map(async (name) => [name, await site.content(name)])),
      ),
    ).toEqual(contents);
    // The next files are another question.
    await drop(page, ["b.txt"]);
    await eventually(() => transferOf(page, "b.txt").getAttribute("data-state")).toBe("exists");
    expectNoComplaints(/status of 4(?:04|12)/);
  });

  it("keeps both where files go by forms, too", async () => {
    const site = await openSite({ files: FILES, browserAlone: true });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await drop(page, ["a.txt"]);
    await transferOf(page, "a.txt")
      .getByRole("button", { name: /^Keep both/ })
      .click();
    await eventually(() => transferOf(page, "a (2).txt").getAttribute("data-state")).toBe("done");
    expect(await Promise.all(["a.txt", "a (1).txt", "a (2).txt"].map(site.content))).toEqual([
      "old a",
      "older a",
      "new",
    ]);
    expectNoComplaints(/status of 404/);
  });

  it.each(["light", "dark"] as const)(
    "is a sheet on a narrow phone, below the actions, %s, in German",
    async (colorScheme) => {
      const site = await openSite({ files: FILES });
      const phone = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true, locale: "de-DE" };
      const { page, expectNoComplaints } = await chromium.open({ ...phone, colorScheme });
      await logIn(page, site);
      await page.locator("#select-all").click();
      const release = await hold(page, "**/slow.txt");
      await drop(page, ["slow.txt", "a.txt", "b.txt", "done.txt"]);
      await eventually(() => transferOf(page, "done.txt").getAttribute("data-state")).toBe("done");
      await page.getByRole("checkbox", { name: "Für alle so machen" }).waitFor();
      await expectAccessible(page, "sheet");
      const panel = page.getByRole("region", { name: "Hochladen" });
      const bar = page.locator(".selected");
      const [sheet, actions] = [await panel.boundingBox(), await bar.boundingBox()];
      expect(sheet).toMatchObject({ x: 0, width: 320 });
      expect((sheet?.y ?? 0) + (sheet?.height ?? 0)).toBe(640);
      expect((actions?.y ?? 0) + (actions?.height ?? 0)).toBeLessThanOrEqual(sheet?.y ?? 0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
      expect(
        await page.locator(".transfers-list:visible").evaluate((list) => list.scrollWidth - list.clientWidth),
      ).toBe(0);
      expect(await page.title()).toMatch(/^\(2\) \d+ % · /);
      await release();
      expectNoComplaints(/status of 412/);
    },
  );
});

/** Goes to a button of the panel by Tab, and presses it. */
async function pressAt(page: Page, label: string): Promise<void> {
  await tabTo(page, `#transfers button[aria-label="${label}"]`);
  await page.keyboard.press("Enter");
}

function drop(page: Page, names: readonly string[]): Promise<void> {
  return dropFiles(
    page,
    names.map((name) => ({ name, content: "new" })),
  );
}

/** Holds requests back until the returned function is called. */
async function hold(page: Page, url: string): Promise<() => Promise<void>> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    if (route.request().method() === "PUT") await released;
    await route.fallback();
  });
  return async () => {
    release();
    await page.unroute(url);
  };
}
