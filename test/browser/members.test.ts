import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium, eventually } from "./chromium.ts";
import { logIn, openSite, rowOf } from "./site.ts";

const FIVE = { "a.txt": "a", "b.txt": "b", "c.txt": "c", "d.txt": "d", "e.txt": "e" };

describeInChromium("members with JavaScript", (chromium) => {
  it("are chosen one by one, in ranges with shift, and all at once", async () => {
    const site = await openSite({ files: FIVE });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const all = page.locator("#select-all");
    expect(await page.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
    await boxOf(page, "b.txt").click();
    await boxOf(page, "d.txt").click({ modifiers: ["Shift"] });
    expect(await chosen(page)).toEqual(["b.txt", "c.txt", "d.txt"]);
    expect(await all.evaluate((box: HTMLInputElement) => box.indeterminate)).toBe(true);
    await boxOf(page, "c.txt").click({ modifiers: ["Shift"] });
    expect(await chosen(page)).toEqual(["b.txt"]);
    await all.click();
    expect(await chosen(page)).toEqual(Object.keys(FIVE));
    expect(await page.getByRole("button", { name: "Delete" }).isEnabled()).toBe(true);
    await all.click();
    expect(await chosen(page)).toEqual([]);
    expect(await page.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
    expectNoComplaints();
  });

  it("are deleted after a question whose answer is no at first, by the keyboard alone", async () => {
    const site = await openSite({ files: { ...FIVE, "folder/inner.txt": "x" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.getByRole("checkbox", { name: "a.txt" }).focus();
    await page.keyboard.press("Space");
    await page.getByRole("checkbox", { name: "folder" }).focus();
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Delete" }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Delete 2 members?" });
    await dialog.waitFor();
    expect(await dialog.getByRole("listitem").allTextContents()).toEqual(["folder", "a.txt"]);
    expect(await focusedText(page)).toBe("Cancel");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await focusedText(page)).toMatch(/Delete/);
    expect((await site.list()).length).toBe(7);
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    await page.keyboard.press("Tab");
    expect(await focusedText(page)).toBe("Delete");
    await page.keyboard.press("Enter");
    await eventually(() => page.locator("tr[data-name]").count()).toBe(4);
    expect(await site.list()).toEqual(["b.txt", "c.txt", "d.txt", "e.txt"]);
    await eventually(() => page.locator(".announcer").textContent()).toBe("Deleted: 2");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("select-all");
    expectNoComplaints();
  });

  it("that cannot be deleted are named, with the reason; the choice of the others stays", async () => {
    const site = await openSite({
      files: FIVE,
      groups: {
        DEFAULT_GROUP: { permissions: [["allow-full-control"], ["/b.txt", "allow-read", "allow-list"]] },
      },
    });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await boxOf(page, "a.txt").click();
    await boxOf(page, "b.txt").click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    expect(await page.getByRole("alert").textContent()).toMatch(/^b\.txt: .+/);
    expect(await chosen(page)).toEqual(["b.txt"]);
    expectNoComplaints(/status of 422/);
  });

  it("come anew in the order that was chosen, the focus kept", async () => {
    const site = await openSite({ files: FIVE });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.goto(`${site.home}?sort=name&order=desc`);
    await boxOf(page, "c.txt").focus();
    await page.evaluate(() => {
      const field = document.querySelector<HTMLInputElement>('#new-folder input[name="new-folder"]');
      if (field !== null) field.value = "zoo";
      field?.form?.requestSubmit();
    });
    await rowOf(page, "zoo").waitFor();
    expect(await page.locator("tr[data-kind=file] bdi").allTextContents()).toEqual(Object.keys(FIVE).reverse());
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).value)).toBe("c.txt");
    expectNoComplaints();
  });

  it("say why a folder could not be made, and keep its name in the field", async () => {
    const site = await openSite({ files: { "taken/": "" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.fill('input[name="new-folder"]', "taken");
    await page.press('input[name="new-folder"]', "Enter");
    await eventually(() => page.getByRole("alert").textContent()).toMatch(/^taken: .+/);
    expect(await page.inputValue('input[name="new-folder"]')).toBe("taken");
    await page.fill('input[name="new-folder"]', "<b>'\"&amp;🦭");
    await page.press('input[name="new-folder"]', "Enter");
    await eventually(() => page.locator("tr[data-name] bdi").allTextContents()).toContain("<b>'\"&amp;🦭");
    expect(await page.getByRole("alert").count()).toBe(0);
    expectNoComplaints(/status of 422/);
  });

  it("stay, with the way to a new login, when the session has ended", async () => {
    const site = await openSite({ files: FIVE });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    site.advance(13 * 3600);
    await boxOf(page, "a.txt").click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page
      .getByRole("alert")
      .getByRole("link", { name: /^Log in again/ })
      .waitFor();
    expect(await chosen(page)).toEqual(["a.txt"]);
    expect(await site.list()).toEqual(Object.keys(FIVE));
    await page.fill('input[name="new-folder"]', "kept");
    await page.press('input[name="new-folder"]', "Enter");
    await page
      .getByRole("alert")
      .getByRole("link", { name: /^Log in again/ })
      .waitFor();
    expect(await page.inputValue('input[name="new-folder"]')).toBe("kept");
    expectNoComplaints(/status of 401/);
  });

  it("do not freeze the page when there are 10,000", { timeout: 120_000 }, async () => {
    const files = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`file ${index}.txt`, ""]));
    const site = await openSite({ files });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const before = performance.now();
    await page.reload({ waitUntil: "load" });
    await page.waitForSelector('button[value="delete-members"]:disabled');
    expect(performance.now() - before).toBeLessThan(20_000);
    const busy = await page.evaluate(async () => {
      const start = performance.now();
      document.querySelector<HTMLInputElement>("#select-all")?.click();
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      return performance.now() - start;
    });
    expect(busy).toBeLessThan(4000);
    expect(await page.locator('input[name="selected-members"]:checked').count()).toBe(10_000);
    await page.setInputFiles("#upload-file", { name: "new.txt", mimeType: "text/plain", buffer: Buffer.from("x") });
    await rowOf(page, "new.txt").waitFor({ state: "attached", timeout: 40_000 });
    expect(await page.locator('input[name="selected-members"]:checked').count()).toBe(10_000);
    expectNoComplaints();
  });
});

function boxOf(page: Page, name: string): ReturnType<Page["locator"]> {
  return rowOf(page, name).locator('input[type="checkbox"]');
}

function chosen(page: Page): Promise<string[]> {
  return page
    .locator('input[name="selected-members"]:checked')
    .evaluateAll((boxes) => boxes.map((box) => (box as HTMLInputElement).value));
}

function focusedText(page: Page): Promise<string | null | undefined> {
  return page.evaluate(() => document.activeElement?.textContent?.trim());
}
