import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page, Route } from "playwright-core";
import { expect, it } from "vitest";
import { HttpError } from "../../src/index.ts";
import { readZip } from "../unit/archive/read-zip.ts";
import { describeInChromium, eventually } from "./chromium.ts";
import { closeDialog, logIn, makeFolder, openSite, rowOf, transferOf, untilRefreshed } from "./site.ts";

const FIVE = { "a.txt": "a", "b.txt": "b", "c.txt": "c", "d.txt": "d", "e.txt": "e" };

describeInChromium("members with JavaScript", (chromium) => {
  it("are chosen one by one, in ranges with shift, and all at once", async () => {
    const site = await openSite({ files: FIVE });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const all = page.locator("#select-all");
    expect(await page.locator(".selected").isVisible()).toBe(false);
    await boxOf(page, "b.txt").click();
    await boxOf(page, "d.txt").click({ modifiers: ["Shift"] });
    expect(await chosen(page)).toEqual(["b.txt", "c.txt", "d.txt"]);
    expect(await all.evaluate((box: HTMLInputElement) => box.indeterminate)).toBe(true);
    await boxOf(page, "c.txt").click({ modifiers: ["Shift"] });
    expect(await chosen(page)).toEqual(["b.txt"]);
    await all.click();
    expect(await chosen(page)).toEqual(Object.keys(FIVE));
    expect(await page.getByRole("button", { name: "Delete" }).isEnabled()).toBe(true);
    expect(await page.locator(".selected .count").textContent()).toBe("5 selected, 5 bytes");
    await all.click();
    expect(await chosen(page)).toEqual([]);
    expect(await page.locator(".selected").isVisible()).toBe(false);
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
    const dialog = page.getByRole("dialog", { name: "Delete 2 items?" });
    await dialog.waitFor();
    expect(await dialog.getByRole("listitem").allTextContents()).toEqual(["folder", "a.txt"]);
    await eventually(() => focusedText(page)).toBe("Cancel");
    await closeDialog(page);
    await eventually(() => focusedText(page)).toMatch(/Delete/);
    expect((await site.list()).length).toBe(7);
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    await page.keyboard.press("Tab");
    await eventually(() => focusedText(page)).toBe("Delete");
    await page.keyboard.press("Enter");
    await eventually(() => page.locator("tr[data-name]").count()).toBe(4);
    expect(await site.list()).toEqual(["b.txt", "c.txt", "d.txt", "e.txt"]);
    await eventually(() => page.locator(".announcer").textContent()).toBe("Deleted: 2");
    await eventually(() => focusedText(page)).toBe("b.txt");
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
    expect(await page.locator("tr[data-kind=file] th a").allTextContents()).toEqual(Object.keys(FIVE).reverse());
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).value)).toBe("c.txt");
    expectNoComplaints();
  });

  it.each([
    ["link", "b.txt", (page: Page) => page.getByRole("dialog", { name: "b.txt" }).waitFor()],
    ["button", "Download as ZIP", (page: Page) => page.waitForEvent("download")],
  ] as const)("hear a press on a %s that began before they came anew", async (role, name, answered) => {
    const site = await openSite({ files: FIVE });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await boxOf(page, "b.txt").click();
    const upload = await startUpload(page, "z.txt");
    await eventually(() => transferOf(page, "z.txt").getAttribute("data-state")).toBe("active");
    await page.getByRole(role, { name, exact: true }).hover();
    await page.mouse.down();
    await upload.continue();
    await rowOf(page, "z.txt").waitFor();
    const answer = answered(page);
    await page.mouse.up();
    await answer;
    expectNoComplaints();
  });

  it("come anew where they differ, the others left where they are", async () => {
    const site = await openSite({ files: FIVE });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await boxOf(page, "a.txt").click();
    await boxOf(page, "d.txt").click();
    const changes = await watchRows(page);
    await rm(join(site.folder, "c.txt"));
    await writeFile(join(site.folder, "d.txt"), "longer");
    await (await startUpload(page, "ab.txt")).continue();
    await rowOf(page, "ab.txt").waitFor();
    expect(await namesShown(page)).toEqual(["a.txt", "ab.txt", "b.txt", "d.txt", "e.txt"]);
    expect(await changes()).toEqual({ added: ["ab.txt", "d.txt"], removed: ["c.txt", "d.txt"] });
    expect(await rowOf(page, "d.txt").locator(".size").textContent()).toBe("6 bytes");
    expect(await chosen(page)).toEqual(["a.txt", "d.txt"]);
    expectNoComplaints();
  });

  it("bring what is around them up to date, and go and come with it", async () => {
    const site = await openSite({ files: FIVE });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.evaluate(() => {
      document.querySelector("#members caption")?.replaceChildren("An old caption");
      document.querySelector('#members button[value="delete-members"]')?.replaceChildren("An old button");
      document.querySelector("#members .selected")?.setAttribute("aria-label", "an old group");
    });
    const changes = await watchRows(page);
    await (await startUpload(page, "z.txt")).continue();
    await rowOf(page, "z.txt").waitFor();
    expect(await changes()).toEqual({ added: ["z.txt"], removed: [] });
    await page.getByRole("grid", { name: "Items in" }).waitFor();
    await page.locator("#select-all").click();
    await page.getByRole("group", { name: "With selected:" }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.locator("#members .empty").waitFor();
    expect(await page.locator("#members > *").count()).toBe(1);
    await (await startUpload(page, "first.txt")).continue();
    await rowOf(page, "first.txt").waitFor();
    expect(await page.locator("#members .empty").count()).toBe(0);
    expect(await page.locator(".selected").isVisible()).toBe(false);
    expectNoComplaints();
  });

  it("say why a folder could not be made, and keep its name in the field", async () => {
    const site = await openSite({ files: { "taken/": "" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await makeFolder(page, "taken");
    await eventually(() => page.getByRole("alert").textContent()).toMatch(/^taken: .+/);
    expect(await page.inputValue('input[name="new-folder"]')).toBe("taken");
    await makeFolder(page, "<b>'\"&amp;🦭");
    await eventually(() => page.locator("tr[data-name] th a").allTextContents()).toContain("<b>'\"&amp;🦭");
    expect(await page.getByRole("alert").count()).toBe(0);
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe("<b>'\"&amp;🦭");
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
    await makeFolder(page, "kept");
    await page
      .getByRole("alert")
      .getByRole("link", { name: /^Log in again/ })
      .waitFor();
    expect(await page.inputValue('input[name="new-folder"]')).toBe("kept");
    expectNoComplaints(/status of 401/);
  });

  it("do not freeze the page when there are 10,000", async () => {
    const files = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`file ${index}.txt`, ""]));
    const site = await openSite({ files });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const before = performance.now();
    await page.reload({ waitUntil: "load" });
    await page.waitForSelector(".selected[hidden]", { state: "attached" });
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

/** How long it may take on a busy machine to delete as many. */
const LONG = 80_000;
const MANY = Object.fromEntries(Array.from({ length: 1200 }, (_, index) => [`${index}.txt`, ""]));

describeInChromium("more members than a form can hold", (chromium) => {
  it("are downloaded as an archive, all together or without some", { timeout: 90_000 }, async () => {
    const names = Array.from({ length: 1500 }, (_, index) => `${index} é & ü.txt`);
    const site = await openSite({ files: Object.fromEntries(names.map((name) => [name, name])) });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const download = async () => {
      const started = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download as ZIP" }).click();
      const file = await started;
      expect([await file.failure(), file.suggestedFilename()]).toEqual([null, "alice.zip"]);
      return readZip(await readFile(await file.path()));
    };
    await page.locator("#select-all").click();
    expect(await download()).toHaveLength(1500);
    const [left = "", other = "", ...rest] = names;
    await boxOf(page, left).click();
    await boxOf(page, other).click();
    expect(await page.locator(".selected-limit").isVisible()).toBe(false);
    expect((await download()).map(({ name }) => name).sort()).toEqual(rest.sort());
    expectNoComplaints();
  });

  it("have a limit that the page tells before anything is lost", async () => {
    const long = Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name) => [name.repeat(200), ""]));
    const site = await openSite({ files: long, limits: { maxFormFieldBytes: 1024 } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const button = page.getByRole("button", { name: "Download as ZIP" });
    const limit = page.locator(".selected-limit");
    await page.locator("#select-all").click();
    expect(await button.isDisabled()).toBe(true);
    expect(await limit.textContent()).toBe("The names of these items are too long for one archive. Select fewer.");
    expect(await button.getAttribute("aria-describedby")).toBe(await limit.getAttribute("id"));
    await boxOf(page, "a".repeat(200)).click();
    expect(await limit.isVisible()).toBe(false);
    const download = page.waitForEvent("download");
    await button.click();
    expect(await (await download).failure()).toBe(null);
    await page.evaluate(() => {
      const main = document.querySelector("main");
      if (main !== null) main.dataset.maxNames = "3";
    });
    await boxOf(page, "a".repeat(200)).click();
    expect(await button.isDisabled()).toBe(true);
    expect(await limit.textContent()).toBe("Select at most 3 items at a time.");
    expectNoComplaints();
  });

  it.each([
    ["commands", { maxCommands: 7 }],
    ["bytes", { maxJsonBytes: 1024 }],
  ])("are deleted and restored in as many requests as the limit of %s asks for", async (_limit, limits) => {
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`${index} é ${"x".repeat(40)}.txt`, ""]),
    );
    const site = await openSite({ files, hasTrash: true, limits });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    let posts = 0;
    page.on("request", (request) => {
      if (request.method() === "POST") posts += 1;
    });
    await page.locator("#select-all").click();
    await page.getByRole("group").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("This folder is empty.").waitFor();
    expect(posts).toBeGreaterThan(3);
    expect(posts).toBeLessThan(10);
    await page.getByRole("button", { name: "Restore" }).click();
    await eventually(() => page.locator("tbody tr").count()).toBe(40);
    expectNoComplaints();
  });

  it("are deleted and restored together", async () => {
    const site = await openSite({ files: MANY, hasTrash: true });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.locator("#select-all").click();
    await page.getByRole("group").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("This folder is empty.").waitFor({ timeout: LONG });
    await page.getByRole("button", { name: "Restore" }).click();
    await eventually(() => page.locator("tbody tr").count(), LONG).toBe(1200);
    expectNoComplaints();
  });

  it("have a trigger run on all of them, without leaving the page", { timeout: 90_000 }, async () => {
    const seen: string[] = [];
    const approve = {
      label: "Approve",
      run(_context: unknown, members: readonly { name: string }[]) {
        for (const { name } of members) {
          if (name === "7.txt" && seen.length < 1200) throw new HttpError("unprocessable", "Seven is not to be.");
          seen.push(name);
        }
      },
    };
    const site = await openSite({ files: MANY, triggers: { approve } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.evaluate(() => document.documentElement.setAttribute("data-marked", ""));
    await page.locator("#select-all").click();
    await untilRefreshed(page, () => page.getByRole("button", { name: "Approve" }).click());
    const alert = page.getByRole("alert");
    await eventually(() => alert.allTextContents()).toEqual(["7.txt: Seven is not to be."]);
    await eventually(() => page.locator(".announcer").textContent()).toBe("Approve: 1,199 done");
    expect(new Set(seen).size).toBe(1199);
    await eventually(() => page.locator("#members").getAttribute("aria-busy")).toBe(null);
    await page.locator("#select-all").click();
    await boxOf(page, "3.txt").click();
    if ((await chosen(page)).length !== 1) throw new Error("One is to be chosen.");
    await page.getByRole("button", { name: "Approve" }).click();
    await eventually(() => page.locator(".notice.success").allTextContents()).toEqual(["Approve: 1 done"]);
    expect(await alert.count()).toBe(0);
    expect(await page.locator("html").getAttribute("data-marked")).toBe("");
    expectNoComplaints(/status of 422/);
  });

  it("are refused without JavaScript by a page that says what to do", { timeout: 90_000 }, async () => {
    const site = await openSite({ files: MANY });
    const { page, context } = await chromium.open();
    await logIn(page, site);
    await page.locator("#select-all").click();
    const content = await page.content();
    await context.close();
    const { page: plain } = await chromium.open({ javaScriptEnabled: false });
    await logIn(plain, site);
    // The test checks the boxes in the markup, as there are many.
    const markup = content.replaceAll(/(name="selected-members")/g, "$1 checked");
    await plain.route(/\/home\/\?all$/, (route) => route.fulfill({ contentType: "text/html", body: markup }));
    await plain.goto(`${site.home}?all`);
    await plain.locator('button[value="delete-members"]').evaluate((button) => button.removeAttribute("disabled"));
    await plain.getByRole("button", { name: "Delete" }).click();
    await eventually(() => plain.locator("main").textContent()).toContain("Select fewer items at a time");
    expect((await site.list()).length).toBe(1200);
  });
});

describeInChromium("the message of a form", (chromium) => {
  it("is shown once, and goes when there is something newer", async () => {
    const site = await openSite({ files: { "taken/": "" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const message = page.locator(".notice.success");
    await page.goto(`${site.home}?sort=size&done=uploaded`);
    await eventually(() => page.url()).toBe(`${site.home}?sort=size`);
    expect(await message.textContent()).toBe("The upload is complete.");
    await page.reload();
    expect(await message.count()).toBe(0);
    await page.goto(`${site.home}?done=deleted`);
    expect(await message.textContent()).toBe("The selected items were deleted.");
    await makeFolder(page, "taken");
    await page.getByRole("alert").waitFor();
    expect(await message.count()).toBe(0);
    await page.goto(`${site.home}?done=deleted`);
    await makeFolder(page, "fresh");
    await rowOf(page, "fresh").waitFor();
    expect(await message.count()).toBe(0);
    expectNoComplaints(/status of 422/);
  });
});

/** Uploads a file as far as its request, which is held back. */
async function startUpload(page: Page, name: string): Promise<Route> {
  let hold: (route: Route) => void = () => undefined;
  const held = new Promise<Route>((resolve) => {
    hold = resolve;
  });
  await page.route(`**/${name}`, (route) => hold(route));
  await page.setInputFiles("#upload-file", { name, mimeType: "text/plain", buffer: Buffer.from("x") });
  return held;
}

/** The names of the rows that were put into the page or taken out of it since; one that is moved is both. */
async function watchRows(page: Page): Promise<() => Promise<{ added: string[]; removed: string[] }>> {
  const changes = await page.evaluateHandle(() => {
    const seen = { added: [] as string[], removed: [] as string[] };
    const toNames = (nodes: NodeList) =>
      [...nodes].filter((node) => node instanceof HTMLTableRowElement).map(({ dataset }) => dataset.name ?? "");
    new MutationObserver((records) => {
      for (const { addedNodes, removedNodes } of records) {
        seen.added.push(...toNames(addedNodes));
        seen.removed.push(...toNames(removedNodes));
      }
    }).observe(document.querySelector("#members") ?? document, { childList: true, subtree: true });
    return seen;
  });
  return () => changes.jsonValue();
}

function namesShown(page: Page): Promise<string[]> {
  return page.locator("tr[data-name] th a").allTextContents();
}

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
