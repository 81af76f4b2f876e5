import { expect, it } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { mountStorage } from "../../src/storage/mount.ts";
import { mountTrash } from "../../src/storage/mount-trash.ts";
import { createTrashStorage } from "../../src/storage/trash.ts";
import { fillStorage } from "../support/storage.ts";
import { expectAccessible } from "./axe.ts";
import { describeInChromium, eventually } from "./chromium.ts";
import { chooseAction, logIn, openSite, rowOf, type Site } from "./site.ts";

const FILES = { "a.txt": "a", "b.txt": "b", "c.txt": "c" };

/** Logs in, deletes all members of the home, and shows the trash. */
async function deleteAll(page: Parameters<typeof logIn>[0], site: Site): Promise<void> {
  await logIn(page, site);
  await page.locator("#select-all").click();
  await page.getByRole("group").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("This folder is empty.").waitFor();
  await page.goto(toTrash(site));
}

describeInChromium("the page of the trash", (chromium) => {
  it.each([1280, 320])("selects all with a script, at %i px", async (width) => {
    const site = await openSite({ files: FILES, hasTrash: true });
    const { page, expectNoComplaints } = await chromium.open({ viewport: { width, height: 700 } });
    await deleteAll(page, site);
    const all = page.getByRole("checkbox", { name: "Select all" });
    const boxes = page.locator("tbody input");
    const checked = () => page.locator("tbody input:checked").count();
    await all.check();
    expect(await checked()).toBe(3);
    await boxes.first().uncheck();
    expect(await all.evaluate((box: HTMLInputElement) => [box.checked, box.indeterminate])).toEqual([false, true]);
    await all.check();
    await all.uncheck();
    expect(await checked()).toBe(0);
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    await boxes.nth(2).check();
    expect(await all.isChecked()).toBe(true);
    await expectAccessible(page, "trash");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByText("The trash is empty.").waitFor();
    await eventually(() => site.list()).toEqual(expect.arrayContaining(Object.keys(FILES)));
    expectNoComplaints();
  });

  it("selects no more than a form may have, so that each part can be restored", async () => {
    const site = await openSite({ files: FILES, hasTrash: true, limits: { maxCommands: 2 } });
    const { page, expectNoComplaints } = await chromium.open();
    await deleteAll(page, site);
    const all = page.getByRole("checkbox", { name: "Select all" });
    const checked = () => page.locator("tbody input:checked").count();
    await all.check();
    expect(await checked()).toBe(2);
    expect(await all.evaluate((box: HTMLInputElement) => box.indeterminate)).toBe(true);
    await all.click();
    expect(await checked()).toBe(0);
    await all.click();
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("status").getByText("restored").waitFor();
    await all.check();
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByText("The trash is empty.").waitFor();
    await eventually(() => site.list()).toEqual(expect.arrayContaining(Object.keys(FILES)));
    expectNoComplaints();
  });

  it("asks before it deletes in a storage without a trash, in a tree of several", async () => {
    const own = createTrashStorage(createMemoryStorage());
    const archive = createMemoryStorage();
    const storage = mountStorage({ "/": own, "/archive": archive });
    await fillStorage(own, { "/a.txt": "a" });
    await fillStorage(archive, { "/b.txt": "b" });
    const trash = mountTrash({ "/": own.trash, "/archive": undefined });
    const site = await openSite({ storage, trash });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await chooseAction(page, "a.txt", "Delete");
    await page.getByRole("button", { name: "Restore" }).click();
    await rowOf(page, "a.txt").waitFor();
    await page.goto(`${site.home}archive/`);
    await chooseAction(page, "b.txt", "Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await eventually(() => archive.stat("/b.txt")).toMatchObject({ kind: "file" });
    await chooseAction(page, "b.txt", "Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("This folder is empty.").waitFor();
    expectNoComplaints();
  });

  it("deletes for good without a script, and has no box for all then", async () => {
    const site = await openSite({ files: FILES, hasTrash: true });
    const { page } = await chromium.open({ javaScriptEnabled: false });
    await logIn(page, site);
    await page.getByRole("checkbox", { name: "Select a.txt" }).check();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.goto(toTrash(site));
    expect(await page.getByText("Select all").isVisible()).toBe(false);
    await page.getByRole("checkbox", { name: "a.txt" }).check();
    await page.getByRole("button", { name: "Delete for good" }).click();
    await page.getByRole("status").getByText("The selected items were deleted for good.").waitFor();
    await page.getByText("The trash is empty.").waitFor();
    expect(await site.list()).not.toContain("a.txt");
  });
});

function toTrash({ home }: Site): string {
  return `${home}__svc__/trash`;
}
