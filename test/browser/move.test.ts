import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium, eventually } from "./chromium.ts";
import { chooseAction, logIn, openSite, rowOf } from "./site.ts";

const FILES = { "a.txt": "a", "b.txt": "b", "archive/b.txt": "other", "archive/deep/x.txt": "x" };

describeInChromium("renaming, moving and copying with JavaScript", (chromium) => {
  it("renames in place, by the keyboard alone, and the focus goes on from there", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await rowOf(page, "a.txt").getByRole("link", { name: "Actions for a.txt" }).focus();
    await page.keyboard.press("Enter");
    const menu = page.getByRole("menu", { name: "Actions for a.txt" });
    await menu.waitFor();
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "detached" });
    const label = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    expect(await label()).toBe("Actions for a.txt");
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await label()).toBe("New name of a.txt");
    await page.keyboard.type("gone");
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("a.txt");
    await chooseAction(page, "a.txt", "Rename");
    // The part before the extension is selected.
    await page.keyboard.type("c d");
    await page.keyboard.press("Enter");
    await rowOf(page, "c d.txt").waitFor();
    expect(await site.list()).toEqual(expect.arrayContaining(["b.txt", "c d.txt"]));
    await eventually(() => page.locator(".announcer").textContent()).toBe("Renamed: c d.txt");
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe("c d.txt");
    expectNoComplaints();
  });

  it("lists folders to choose where the browser's API is served alone, too", async () => {
    const site = await openSite({ files: FILES, browserAlone: true });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await chooseAction(page, "a.txt", "Move…");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "archive" }).click();
    await dialog.getByRole("button", { name: "deep" }).click();
    await dialog.getByRole("button", { name: "Move", exact: true }).click();
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    expect(await site.content("archive/deep/a.txt")).toBe("a");
    expectNoComplaints();
  });

  it("says why a name is not possible, and keeps it in the field", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await chooseAction(page, "a.txt", "Rename");
    const field = page.getByLabel("New name of a.txt");
    await field.fill("b.txt");
    await page.keyboard.press("Enter");
    await eventually(() => page.locator(".notice.problem").textContent()).toContain("already exists");
    await field.fill("archive/a.txt");
    await page.keyboard.press("Enter");
    expect(await field.evaluate((input: HTMLInputElement) => input.validity.valid)).toBe(false);
    await page.locator("h1").click();
    await field.waitFor({ state: "detached" });
    expect(await site.list()).toEqual(expect.arrayContaining(["a.txt", "b.txt"]));
    await chooseAction(page, "a.txt", "Rename");
    await field.fill("b.txt");
    await page.keyboard.press("Enter");
    await page.locator(".notice.problem").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".notice.problem").waitFor({ state: "hidden" });
    expectNoComplaints(/status of 422/);
  });

  it("moves and copies what is selected to a folder that is chosen or entered; what fails stays", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const [move, copy] = ["Move", "Copy"].map((name) =>
      page.getByRole("group").getByRole("button", { name, exact: true }),
    );
    const dialog = page.getByRole("dialog");
    await page.getByRole("checkbox", { name: "a.txt" }).check();
    await page.getByRole("checkbox", { name: "b.txt" }).check();
    await copy?.click();
    expect(await dialog.getByRole("heading").textContent()).toBe("Copy 2 items");
    await dialog.getByRole("button", { name: "archive" }).click();
    await dialog.getByRole("button", { name: "deep" }).waitFor();
    expect(await dialog.getByLabel("To folder").inputValue()).toBe("/archive/");
    const refresh = await holdRefresh(page, site.home);
    await dialog.getByRole("button", { name: "Copy" }).click();
    await eventually(() => page.locator(".notice.problem").textContent()).toMatch(/^b\.txt: .*already exists/);
    expect(await site.list()).toContain("archive/a.txt");
    await page.getByRole("checkbox", { name: "b.txt" }).uncheck();
    // The next action waits for no refresh.
    await move?.click();
    await dialog.getByLabel("To folder").fill("archive/deep");
    await refresh();
    const secondRefresh = await holdRefresh(page, site.home);
    await page.keyboard.press("Enter");
    await page.locator(".notice.success").waitFor();
    await page.getByRole("searchbox").focus();
    await secondRefresh();
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    // The user is elsewhere by now.
    expect(await page.evaluate(() => document.activeElement?.getAttribute("type"))).toBe("search");
    expect(await page.locator(".notice.success").textContent()).toBe("Moved: 1");
    expect(await site.list()).toContain("archive/deep/a.txt");
    await chooseAction(page, "archive", "Move…");
    // A folder cannot go into itself.
    await dialog.getByText("There are no folders in it.").waitFor({ state: "detached" });
    expect(await dialog.getByRole("button", { name: "archive" }).count()).toBe(0);
    await page.keyboard.press("Escape");
    expect(await site.content("archive/b.txt")).toBe("other");
    expectNoComplaints(/status of 422/);
  });
});

describeInChromium("renaming, moving and copying without JavaScript", (chromium) => {
  it("goes by forms, and an error leaves what was entered", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open({ javaScriptEnabled: false });
    await logIn(page, site);
    await rowOf(page, "a.txt").getByRole("link", { name: "Actions for" }).click();
    await page.getByLabel("New name of a.txt").fill("b.txt");
    await page.locator("#rename").getByRole("button", { name: "Rename" }).click();
    await eventually(() => page.getByRole("alert").textContent()).toContain("already exists");
    expect(await page.getByLabel("New name of a.txt").inputValue()).toBe("b.txt");
    await page.getByLabel("New name of a.txt").fill("c.txt");
    await page.locator("#rename").getByRole("button", { name: "Rename" }).click();
    await eventually(() => page.getByRole("status").textContent()).toBe("The item was renamed.");
    await page.getByRole("checkbox", { name: "c.txt" }).check();
    await page.getByText("Move or copy").click();
    await page.getByLabel("To folder").fill("/archive");
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await eventually(() => page.getByRole("status").textContent()).toBe("The selected items were copied.");
    await page.getByRole("checkbox", { name: "b.txt" }).check();
    await page.getByText("Move or copy").click();
    await page.getByLabel("To folder").fill("archive");
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await eventually(() => page.getByRole("alert").textContent()).toContain("b.txt");
    expect(await page.getByRole("checkbox", { name: "b.txt" }).isChecked()).toBe(true);
    expect(await page.getByLabel("To folder").inputValue()).toBe("archive");
    await page.getByText("Move or copy").click();
    await rowOf(page, "c.txt").getByRole("link", { name: "Actions for" }).click();
    await page.locator(".member").getByLabel("To folder").fill("archive/deep");
    await page.locator(".member").getByRole("button", { name: "Move" }).click();
    await eventually(() => site.list()).toEqual(
      expect.arrayContaining(["archive/c.txt", "archive/deep/c.txt", "b.txt", "archive/b.txt"]),
    );
    await rowOf(page, "b.txt").getByRole("link", { name: "Actions for" }).click();
    await page.locator(".member").getByRole("button", { name: "Delete" }).click();
    await eventually(() => page.getByRole("status").textContent()).toBe("The selected items were deleted.");
    expect(await site.list()).not.toContain("b.txt");
    expectNoComplaints(/status of 400/);
  });
});

/** Holds the next refresh of a folder's members back until the returned function is called. */
async function holdRefresh(page: Page, url: string): Promise<() => Promise<void>> {
  let proceed: (() => Promise<void>) | undefined;
  await page.route(url, (route) => {
    if (route.request().headers()["accept"]?.includes("html")) proceed = () => route.continue();
    else void route.fallback();
  });
  return async () => {
    await eventually(() => proceed !== undefined).toBe(true);
    await proceed?.();
    await page.unroute(url);
  };
}
