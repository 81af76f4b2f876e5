import { expect, it } from "vitest";
import { describeInChromium, eventually } from "./chromium.ts";
import { logIn, openSite, rowOf } from "./site.ts";

const FILES = { "a.txt": "a", "b.txt": "b", "archive/b.txt": "other" };

describeInChromium("renaming, moving and copying with JavaScript", (chromium) => {
  it("renames in a dialog, by the keyboard alone, and the focus goes on from there", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await rowOf(page, "a.txt").getByRole("link", { name: "Rename a.txt" }).focus();
    await page.keyboard.press("Enter");
    const field = page.getByRole("dialog").getByLabel("New name of a.txt");
    await field.waitFor();
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    // The part before the extension is selected.
    await page.keyboard.type("c d");
    await page.keyboard.press("Enter");
    await rowOf(page, "c d.txt").waitFor();
    expect(await site.list()).toEqual(["archive/", "archive/b.txt", "b.txt", "c d.txt"]);
    await eventually(() => page.locator(".announcer").textContent()).toBe("Renamed: c d.txt");
    const label = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    await eventually(label).toBe("Rename c d.txt");
    expectNoComplaints();
  });

  it("says why a name is not possible", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await rowOf(page, "a.txt").getByRole("link", { name: "Rename" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill("b.txt");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await eventually(() => page.locator(".notice.problem").textContent()).toContain("already exists");
    await rowOf(page, "a.txt").getByRole("link", { name: "Rename" }).click();
    await dialog.getByRole("textbox").fill("archive/a.txt");
    await dialog.getByRole("button", { name: "Rename" }).click();
    expect(await dialog.getByRole("textbox").evaluate((field: HTMLInputElement) => field.validity.valid)).toBe(false);
    expect(await site.list()).toEqual(["a.txt", "archive/", "archive/b.txt", "b.txt"]);
    expectNoComplaints(/status of 422/);
  });

  it("moves and copies what is selected; what fails stays, with the reason", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const [move, copy] = ["Move", "Copy"].map((name) => page.getByRole("button", { name, exact: true }));
    expect([await move?.isDisabled(), await copy?.isDisabled()]).toEqual([true, true]);
    await page.getByRole("checkbox", { name: "a.txt" }).check();
    await page.getByRole("checkbox", { name: "b.txt" }).check();
    await copy?.click();
    await eventually(() => page.locator(".notice.problem").textContent()).toContain("Enter the folder");
    const field = page.getByLabel("To folder");
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
    await field.fill("archive");
    await copy?.click();
    await eventually(() => page.locator(".notice.problem").textContent()).toMatch(/^b\.txt: .*already exists/);
    expect(await site.list()).toContain("archive/a.txt");
    expect(await field.inputValue()).toBe("archive");
    await page.getByRole("checkbox", { name: "a.txt" }).uncheck();
    await page.getByRole("checkbox", { name: "archive" }).check();
    await page.getByRole("checkbox", { name: "archive" }).uncheck();
    await page.getByLabel("To folder").fill("/archive/");
    await page.getByRole("checkbox", { name: "b.txt" }).uncheck();
    await page.getByRole("checkbox", { name: "a.txt" }).check();
    await move?.click();
    await eventually(() => page.locator(".notice.problem").textContent()).toMatch(/^a\.txt: /);
    expect(await site.content("archive/b.txt")).toBe("other");
    expectNoComplaints(/status of 422/);
  });
});

describeInChromium("renaming, moving and copying without JavaScript", (chromium) => {
  it("goes by forms, and an error leaves what was entered", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open({ javaScriptEnabled: false });
    await logIn(page, site);
    await rowOf(page, "a.txt").getByRole("link", { name: "Rename" }).click();
    await page.getByLabel("New name of a.txt").fill("b.txt");
    await page.locator("#rename").getByRole("button", { name: "Rename" }).click();
    expect(await page.getByRole("alert").textContent()).toContain("already exists");
    expect(await page.getByLabel("New name of a.txt").inputValue()).toBe("b.txt");
    await page.getByLabel("New name of a.txt").fill("c.txt");
    await page.locator("#rename").getByRole("button", { name: "Rename" }).click();
    expect(await page.getByRole("status").textContent()).toBe("The item was renamed.");
    await page.getByRole("checkbox", { name: "c.txt" }).check();
    await page.getByLabel("To folder").fill("/archive");
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    expect(await page.getByRole("status").textContent()).toBe("The selected items were copied.");
    await page.getByRole("checkbox", { name: "b.txt" }).check();
    await page.getByLabel("To folder").fill("archive");
    await page.getByRole("button", { name: "Move", exact: true }).click();
    expect(await page.getByRole("alert").textContent()).toContain("b.txt");
    expect(await page.getByRole("checkbox", { name: "b.txt" }).isChecked()).toBe(true);
    expect(await site.list()).toEqual(["archive/", "archive/b.txt", "archive/c.txt", "b.txt", "c.txt"]);
    expectNoComplaints(/status of 400/);
  });
});
