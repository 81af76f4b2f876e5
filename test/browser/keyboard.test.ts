import { writeFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium, eventually } from "./chromium.ts";
import { dropFiles, logIn, openFullSite, openSite, rowOf, tabTo, transferOf } from "./site.ts";

const FILES = { "reports/inner.txt": "x", "a.txt": "a", "b.txt": "b", "c.txt": "c" };

describeInChromium("a folder by the keyboard alone", (chromium) => {
  it("moves, selects, renames, deletes, filters and goes up", async () => {
    const site = await openSite({ files: FILES, hasTrash: true });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).toBe("reports");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+ArrowDown");
    await eventually(() => page.locator(".announcer").textContent()).toBe("2 selected, 2 bytes");
    expect(await selected(page)).toEqual(["a.txt", "b.txt"]);
    // The bar goes, and the focus that is in it goes back to the row.
    await tabTo(page, 'button[value="delete-members"]');
    await page.keyboard.press("Escape");
    expect(await selected(page)).toEqual([]);
    expect(await focused(page)).toBe("b.txt");
    await page.keyboard.press("F2");
    await page.keyboard.type("renamed");
    await page.keyboard.press("Enter");
    await rowOf(page, "renamed.txt").waitFor();
    await eventually(() => focused(page)).toBe("renamed.txt");
    await page.keyboard.press("Delete");
    await rowOf(page, "renamed.txt").waitFor({ state: "detached" });
    await tabTo(page, ".toast button");
    await page.keyboard.press("Enter");
    await rowOf(page, "renamed.txt").waitFor();
    expect(await site.content("renamed.txt")).toBe("b");
    await eventually(() => focused(page)).toBe("renamed.txt");
    await page.keyboard.press("Delete");
    await rowOf(page, "renamed.txt").waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.keyboard.type("rep");
    expect(await page.locator("tbody tr:visible").count()).toBe(1);
    await page.keyboard.press("Escape");
    await page.locator("#filter").blur();
    await page.keyboard.press("Control+a");
    expect(await selected(page)).toEqual(["reports", "a.txt", "c.txt"]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    const shown = page.getByRole("dialog", { name: "Keyboard shortcuts" }).locator("dl > div");
    await shown.first().waitFor();
    expect(await shown.allTextContents()).toEqual(
      expect.arrayContaining(["↑ ↓ Home EndGo to another item", "Shift F10Actions"]),
    );
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Home");
    expect(await focused(page)).toBe("reports");
    await page.keyboard.press("Enter");
    await page.waitForURL(/reports\/$/);
    await rowOf(page, "inner.txt").waitFor();
    await page.keyboard.press("Backspace");
    await page.waitForURL(site.home);
    expectNoComplaints();
  });

  it("deletes what is selected though no row has the focus, and restores several deletions at once", async () => {
    const site = await openSite({ files: FILES, hasTrash: true });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.getByRole("searchbox").fill(".txt");
    const all = page.locator("#select-all");
    await all.click();
    expect(await selected(page)).toEqual(["a.txt", "b.txt", "c.txt"]);
    await all.click();
    expect(await selected(page)).toEqual([]);
    await rowOf(page, "a.txt").getByRole("checkbox").check();
    await page.locator("h1").click();
    await page.keyboard.press("Delete");
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    await rowOf(page, "b.txt").locator("th a").focus();
    await page.keyboard.press("Delete");
    await rowOf(page, "b.txt").waitFor({ state: "detached" });
    await page.locator(".toast").getByText("Deleted: 2").waitFor();
    await page.locator(".toast button").press("Enter");
    for (const name of ["a.txt", "b.txt", "c.txt"]) await rowOf(page, name).waitFor();
    await page.locator("h1").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await eventually(() => page.locator(".announcer").textContent()).toBe("0 of 1 items match.");
    // What is announced meanwhile leaves the button to restore them where it is.
    expect(await page.locator(".toast").textContent()).toContain("Deleted: 3");
    expect((await site.list()).filter((path) => path.endsWith(".txt"))).toEqual(["reports/inner.txt"]);
    expectNoComplaints();
  });

  it("selects all rows on the way with Shift, however far a key goes", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.keyboard.press("ArrowDown");
    await expectSelecting(
      page,
      [
        ["End", ["reports", "a.txt", "b.txt", "c.txt"]],
        ["Home", ["reports", "a.txt", "b.txt", "c.txt"]],
        ["PageDown", ["reports", "a.txt", "b.txt", "c.txt"]],
        ["ArrowUp", ["b.txt", "c.txt"]],
        ["PageUp", ["reports", "a.txt", "b.txt"]],
      ],
      () => page.keyboard.press("Escape"),
    );
    // What the filter hides is not selected.
    await page.getByRole("searchbox").fill(".txt");
    await rowOf(page, "b.txt").evaluate((row: HTMLElement) => {
      row.hidden = true;
    });
    await rowOf(page, "a.txt").locator("th a").focus();
    await page.keyboard.press("Shift+End");
    expect(await selected(page)).toEqual(["a.txt", "c.txt"]);
    expectNoComplaints();
  });

  it("selects fewer rows again when Shift goes back, from where it began", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await expectSelecting(page, [
      ["ArrowDown", ["a.txt", "b.txt"]],
      ["ArrowDown", ["a.txt", "b.txt", "c.txt"]],
      ["ArrowUp", ["a.txt", "b.txt"]],
      ["Home", ["reports", "a.txt"]],
      ["End", ["a.txt", "b.txt", "c.txt"]],
    ]);
    // Without Shift another range begins, and what is selected stays.
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Shift+ArrowUp");
    expect(await selected(page)).toEqual(["reports", "a.txt", "b.txt", "c.txt"]);
    await page.keyboard.press("Shift+ArrowDown");
    expect(await selected(page)).toEqual(["a.txt", "b.txt", "c.txt"]);
    expectNoComplaints();
  });

  it("leaves keys to an input method that composes a name", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("F2");
    const field = page.locator("input.new-name");
    await field.fill("にほん.txt");
    for (const key of ["Enter", "Escape"]) {
      await field.dispatchEvent("keydown", { key, isComposing: true, bubbles: true, cancelable: true });
      // Safari ends the composition before it sends the key that did so.
      await field.dispatchEvent("keydown", { key, keyCode: 229, bubbles: true, cancelable: true });
    }
    expect(await field.inputValue()).toBe("にほん.txt");
    expect(await field.isEnabled()).toBe(true);
    expect(await site.list()).toContain("a.txt");
    await field.press("Enter");
    await rowOf(page, "にほん.txt").waitFor();
    const filter = page.getByRole("searchbox");
    await filter.fill("にほ");
    await filter.dispatchEvent("keydown", { key: "Escape", isComposing: true, bubbles: true, cancelable: true });
    expect(await filter.inputValue()).toBe("にほ");
    await page.locator("#create > summary").click();
    const folder = page.locator('input[name="new-folder"]');
    await folder.dispatchEvent("keydown", { key: "Escape", isComposing: true, bubbles: true, cancelable: true });
    expect(await folder.isVisible()).toBe(true);
    expectNoComplaints();
  });

  it("moves rows to a folder that is chosen among those of the dialog", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+ArrowDown");
    await tabTo(page, 'button[value="move-members"]');
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Move 2 items" }).getByRole("button", { name: "reports" }).waitFor();
    await tabTo(page, ".choices button.folder");
    await page.keyboard.press("Enter");
    await eventually(() => page.locator("#choose-path").inputValue()).toBe("/reports/");
    await tabTo(page, "dialog button.primary");
    await page.keyboard.press("Enter");
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    expect(await site.list()).toEqual(["c.txt", "reports/", "reports/a.txt", "reports/b.txt", "reports/inner.txt"]);
    // The button that was pressed has gone with the selection.
    await eventually(() => focused(page)).toBe("c.txt");
    expectNoComplaints();
  });

  it("reaches the search by Tab, and then what it has found", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await tabTo(page, "#filter");
    await page.keyboard.type("inner");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Found for “inner”" }).waitFor();
    await tabTo(page, 'a[href="./reports/inner.txt"]');
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "inner.txt" }).waitFor();
    expectNoComplaints();
  });

  it("chooses the height of the rows and their order in a menu, or the order in the head of the table", async () => {
    const site = await openSite({ files: { ...FILES, "d.txt": "longer" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const height = async () => (await rowOf(page, "a.txt").boundingBox())?.height;
    const files = () => page.locator('tr[data-kind="file"] th a').allTextContents();
    await tabTo(page, "#more > summary");
    await page.keyboard.press("Enter");
    await tabTo(page, "#rows input:checked");
    await page.keyboard.press("ArrowDown");
    await eventually(height).toBe(48);
    await page.keyboard.press("ArrowUp");
    await eventually(height).toBe(36);
    await page.keyboard.press("Escape");
    await page.waitForSelector("#more:not([open]) > summary:focus");
    await page.keyboard.press("Enter");
    await tabTo(page, '#more a[href="?sort=name&order=desc"]');
    await page.keyboard.press("Enter");
    await page.waitForURL(`${site.home}?sort=name&order=desc`);
    await eventually(files).toEqual(["d.txt", "c.txt", "b.txt", "a.txt"]);
    await tabTo(page, "thead .size a");
    await page.keyboard.press("Enter");
    await page.waitForURL(/sort=size/);
    await eventually(files).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"]);
    await tabTo(page, "thead .size a");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${site.home}?sort=size&order=desc`);
    await eventually(async () => (await files())[0]).toBe("d.txt");
    expectNoComplaints();
  });

  it("takes one tab stop for all rows, whose controls the arrows reach", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.waitForSelector('.files[role="grid"]');
    await page.keyboard.press("Tab");
    expect(await page.locator('tbody :is(a, input)[tabindex="0"]').count()).toBe(1);
    expect(await page.locator("tbody :is(a, input):not([tabindex])").count()).toBe(0);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Actions for reports");
    await page.keyboard.press("ArrowDown");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Actions for a.txt");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.closest("tbody"))).toBeNull();
    expectNoComplaints();
  });
});

describeInChromium("Enter among the members of a folder", (chromium) => {
  it("moves to the folder of the field without a script, and asks for it in a box", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open({ javaScriptEnabled: false });
    await logIn(page, site);
    await page.getByRole("checkbox", { name: "a.txt" }).check();
    await page.getByText("Move or copy").click();
    await page.getByLabel("To folder").fill("reports");
    await page.getByLabel("To folder").press("Enter");
    await page.getByRole("status").getByText("The selected items were moved.").waitFor();
    expect(await site.list()).toEqual(["b.txt", "c.txt", "reports/", "reports/a.txt", "reports/inner.txt"]);
    await page.getByRole("checkbox", { name: "b.txt" }).check();
    await page.getByRole("checkbox", { name: "b.txt" }).press("Enter");
    await page.getByRole("alert").getByText("Enter one destination folder.").waitFor();
    expectNoComplaints(/status of 400/);
  });

  it.each([
    ["rename and delete", ["allow-rename"], 1],
    ["delete alone", [], 0],
  ] as const)("deletes nothing without a script for an account that may %s", async (_case, more, posts) => {
    const permissions = [["allow-list", "allow-delete-file", ...more]];
    const site = await openSite({ files: FILES, groups: { DEFAULT_GROUP: { permissions } } });
    const { page } = await chromium.open({ javaScriptEnabled: false });
    await logIn(page, site);
    await page.getByRole("checkbox", { name: "b.txt" }).check();
    let sent = 0;
    page.on("request", (request) => {
      if (request.method() === "POST") sent += 1;
    });
    await page.getByRole("checkbox", { name: "b.txt" }).press("Enter");
    if (posts > 0) await page.getByRole("alert").getByText("Enter one destination folder.").waitFor();
    await rowOf(page, "b.txt").getByRole("link", { name: "Actions for" }).click();
    await page.locator(".member").waitFor();
    expect(sent).toBe(posts);
    expect(await site.list()).toContain("b.txt");
  });

  it("opens the item of a box with a script, and neither downloads nor deletes", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") sent.push(request.url());
    });
    await rowOf(page, "a.txt").getByRole("checkbox").check();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "a.txt" }).waitFor();
    await page.keyboard.press("Escape");
    // The viewer has closed when the row has the focus.
    await rowOf(page, "a.txt").locator("th a:focus").waitFor();
    await page.locator("#select-all").focus();
    await page.keyboard.press("Enter");
    await rowOf(page, "reports").getByRole("checkbox").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/reports\/$/);
    expect(sent).toEqual([]);
    expectNoComplaints();
  });
});

describeInChromium("the tab stop of the rows", (chromium) => {
  it("is one row, also after the members are replaced and while some are hidden", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    /** Filters, and expects one row to be the only stop on the way by Tab. */
    async function expectStop(filter: string, name: string): Promise<void> {
      await page.locator("#filter").fill(filter);
      await page.locator("#filter").focus();
      await tabToRows(page);
      expect(await focused(page)).toBe(name);
      await page.keyboard.press("Tab");
      expect(await focused(page)).toBeUndefined();
    }
    await expectStop("", "reports");
    await expectStop("c.t", "c.txt");
    await expectStop("", "c.txt");
    await expectStop("rep", "reports");
    await expectStop("", "reports");
    await rowOf(page, "c.txt").locator("th a").focus();
    await page.keyboard.press("Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await rowOf(page, "c.txt").waitFor({ state: "detached" });
    await eventually(() => focused(page)).toBe("b.txt");
    await expectStop("", "b.txt");
    expectNoComplaints();
  });

  it("is the row that was clicked, and keys work on it", async () => {
    const site = await openSite({ files: FILES, hasTrash: true });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await rowOf(page, "b.txt").locator(".size").click();
    expect(await focused(page)).toBe("b.txt");
    await page.keyboard.press("Delete");
    await rowOf(page, "b.txt").waitFor({ state: "detached" });
    expect(await site.list()).not.toContain("b.txt");
    // The next row is where the user goes on, or the last one.
    await eventually(() => focused(page)).toBe("c.txt");
    await page.keyboard.press("Delete");
    await rowOf(page, "c.txt").waitFor({ state: "detached" });
    await eventually(() => focused(page)).toBe("a.txt");
    for (const name of ["d1", "d2", "d3"]) await writeFile(`${site.folder}/${name}.txt`, "x");
    await page.reload();
    await rowOf(page, "a.txt").locator("th a").focus();
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Delete");
    await rowOf(page, "d1.txt").waitFor({ state: "detached" });
    await eventually(() => focused(page)).toBe("d2.txt");
    expectNoComplaints();
  });
});

describeInChromium("what is dragged or pasted", (chromium) => {
  it("moves rows to the folder that they are dropped on", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await rowOf(page, "a.txt").getByRole("checkbox").check();
    await rowOf(page, "b.txt").getByRole("checkbox").check();
    await rowOf(page, "a.txt").locator("th a").dragTo(rowOf(page, "reports").locator("th a"));
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    expect(await site.list()).toEqual(["c.txt", "reports/", "reports/a.txt", "reports/b.txt", "reports/inner.txt"]);
    await page.goto(`${site.home}reports/`);
    await rowOf(page, "a.txt").locator("th a").dragTo(page.locator(".crumbs a"));
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    expect(await site.list()).toContain("a.txt");
    expectNoComplaints();
  });

  it("opens the menu of a row by a right click, and that of all selected rows on one of them", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const menu = page.getByRole("menu");
    for (const part of ["th a", ".size"]) {
      await rowOf(page, "a.txt").locator(part).click({ button: "right" });
      expect(await menu.getAttribute("aria-label")).toBe("Actions for a.txt");
      await page.keyboard.press("Escape");
    }
    // With Shift the browser has its own.
    await rowOf(page, "a.txt")
      .locator("th a")
      .click({ button: "right", modifiers: ["Shift"] });
    expect(await menu.count()).toBe(0);
    await rowOf(page, "a.txt").locator(".size").click();
    await rowOf(page, "c.txt")
      .locator(".size")
      .click({ modifiers: ["Shift"] });
    expect(await selected(page)).toEqual(["a.txt", "b.txt", "c.txt"]);
    await rowOf(page, "b.txt").locator("th a").click({ button: "right" });
    expect(await menu.getAttribute("aria-label")).toBe("3 selected");
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await rowOf(page, "b.txt").waitFor({ state: "detached" });
    expect(await site.list()).toEqual(["reports/", "reports/inner.txt"]);
    expectNoComplaints();
  });

  it("leaves selected text to the browser, and selects rows where no text is", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const size = (name: string) => rowOf(page, name).locator(".size");
    const selectText = (name: string) => size(name).evaluate((cell) => getSelection()?.selectAllChildren(cell));
    await selectText("a.txt");
    await size("a.txt").click({ button: "right" });
    expect(await page.getByRole("menu").count()).toBe(0);
    await size("b.txt").click({ button: "right" });
    await page.getByRole("menu").waitFor();
    await page.keyboard.press("Escape");
    await size("b.txt").click();
    await selectText("a.txt");
    await size("c.txt").click({ modifiers: ["Shift"] });
    expect(await selected(page)).toEqual(["b.txt", "c.txt"]);
    expectNoComplaints();
  });

  it("does not leave a page that takes no files when one is dropped", async () => {
    const groups = { DEFAULT_GROUP: { permissions: [["allow-list", "allow-read"]] } };
    const site = await openSite({ files: FILES, hasTrash: true, groups });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const session = await page.context().newCDPSession(page);
    const data = { items: [], files: [`${site.folder}/a.txt`], dragOperationsMask: 1 };
    for (const path of ["", "?q=txt", "__svc__/trash"]) {
      await page.goto(site.home + path);
      const marked = await page.evaluateHandle(() => document);
      for (const type of ["dragEnter", "dragOver", "dragOver", "drop"] as const) {
        await session.send("Input.dispatchDragEvent", { type, x: 200, y: 200, data });
      }
      const transfer = await page.evaluateHandle(() => {
        const made = new DataTransfer();
        made.items.add(new File(["x"], "x.txt"));
        return made;
      });
      for (const type of ["dragover", "drop"]) {
        const isKept = await transfer.evaluate(
          (dataTransfer, name) =>
            !document.body.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true })),
          type,
        );
        expect(isKept, `${path} ${type}`).toBe(true);
      }
      expect(await marked.evaluate((one) => one === document)).toBe(true);
      expect(page.url()).toBe(site.home + path);
    }
    expectNoComplaints();
  });

  it("uploads pasted files, and says where dropped ones go", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.goto(`${site.home}reports/`);
    const hold = () =>
      page.evaluateHandle(() => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(["pasted"], "image.png"));
        return transfer;
      });
    const data = await hold();
    await page.dispatchEvent("main", "dragenter", { dataTransfer: data });
    await page.getByText("Drop to upload to reports").waitFor();
    await page.dispatchEvent("main", "dragleave", { dataTransfer: data });
    await page.evaluate((clipboardData) => {
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, data);
    await rowOf(page, "image.png").waitFor();
    const inField = await page.evaluate((clipboardData) => {
      const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
      document.querySelector("#filter")?.dispatchEvent(event);
      return event.defaultPrevented;
    }, data);
    expect(inField).toBe(false);
    expect(await page.locator(".transfer").count()).toBe(1);

    await page.goto(site.home);
    const folder = 'tr[data-name="reports"] th a';
    const dataTransfer = await hold();
    await page.dispatchEvent(folder, "dragenter", { dataTransfer });
    await page.dispatchEvent(folder, "dragover", { dataTransfer });
    await page.getByText("Drop to upload to reports").waitFor();
    expect(await page.locator("[data-drop]").getAttribute("data-name")).toBe("reports");
    await page.dispatchEvent(folder, "dragleave", { dataTransfer });
    await page.getByText("Drop to upload to").waitFor({ state: "hidden" });
    expect(await page.locator("[data-drop]").count()).toBe(0);
    await dropFiles(page, [{ name: "dropped.txt", content: "x" }], folder);
    await eventually(() => transferOf(page, "reports/dropped.txt").getAttribute("data-state")).toBe("done");
    expect(await site.content("reports/dropped.txt")).toBe("x");
    expect(await site.content("reports/image.png")).toBe("pasted");
    expectNoComplaints();
  });
});

describeInChromium("the times of pages", (chromium) => {
  it("are in the reader's zone, relative for today, exact in UTC on hover", async () => {
    const site = await openSite({ files: FILES });
    const { utimes } = await import("node:fs/promises");
    const old = new Date("2020-01-31T23:30:00Z");
    await utimes(`${site.folder}/a.txt`, old, old);
    const { page, expectNoComplaints } = await chromium.open({ timezoneId: "Asia/Tokyo", locale: "en-GB" });
    await logIn(page, site);
    const time = rowOf(page, "a.txt").locator("time");
    await eventually(() => time.textContent()).toMatch(/Feb 1, 2020, 8:30/);
    await time.hover();
    await eventually(() => time.getAttribute("title")).toBe("2020-01-31 23:30:00 UTC");
    expect(await rowOf(page, "b.txt").locator("time").textContent()).toMatch(/now|ago/);
    expect(await page.locator("thead .modified").textContent()).not.toContain("UTC");
    expectNoComplaints();
  });

  it.each([
    ["with", "in the reader's zone", true],
    ["without", "in UTC, which they say,", false],
  ])("%s JavaScript are %s on all other pages", async (_case, _zone, javaScriptEnabled) => {
    const site = await openFullSite({ files: { "a.txt": "a", "b.txt": "b" } });
    const options = { timezoneId: "Asia/Tokyo", locale: "en-GB" };
    const { page } = await chromium.open(options);
    await logIn(page, site);
    await rowOf(page, "b.txt").locator("th a").focus();
    await page.keyboard.press("Delete");
    await rowOf(page, "b.txt").waitFor({ state: "detached" });
    await page.goto(`${site.home}__svc__/keys`);
    await page.locator("main button.primary").click();
    await page.locator("#key").waitFor();
    const { id } = await site.links.create({ username: "alice", path: "/a.txt" });
    const { page: reader, expectNoComplaints } = await chromium.open({ ...options, javaScriptEnabled });
    await logIn(reader, site);
    const pages = ["trash", "keys", "links", `links/${id}`, "versions?path=/a.txt"];
    for (const path of [...pages.map((one) => `__svc__/${one}`), "?member=a.txt"]) {
      await reader.goto(site.home + path);
      const times = reader.locator("main time:not(tr[data-name] time)");
      await times.first().waitFor();
      for (const time of await times.all()) {
        const exact = new Date((await time.getAttribute("datetime")) ?? "");
        const title = `${exact.toISOString().slice(0, 19).replace("T", " ")} UTC`;
        expect(await time.getAttribute("title"), path).toBe(title);
        const text = async () => (await time.textContent())?.replace(/\s/g, " ");
        if (javaScriptEnabled) await eventually(text, 5000).toMatch(toLocal(exact));
        else expect(await text(), path).toBe(`${formatIn("UTC", exact)} UTC`);
      }
    }
    expectNoComplaints();
  });
});

/** A time as the pages have it in a zone. */
function formatIn(timeZone: string, time: Date): string {
  const format = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", timeZone });
  return format.format(time).replace(/\s/g, " ");
}

/** A time in Tokyo, or one of today as what has passed since. */
function toLocal(time: Date): RegExp {
  return new RegExp(`^(?:${formatIn("Asia/Tokyo", time)}|now|\\d+ minutes? ago)$`);
}

/** Presses Tab until the name of a row has the focus. */
async function tabToRows(page: Page): Promise<void> {
  do await page.keyboard.press("Tab");
  while ((await page.locator("tr[data-name] th a:focus").count()) === 0);
}

function focused(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.activeElement?.closest("tr")?.dataset.name);
}

function selected(page: Page): Promise<string[]> {
  return page
    .locator("tr[data-selected]")
    .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset.name ?? ""));
}

/** Presses keys with Shift, and expects what each has selected. */
async function expectSelecting(
  page: Page,
  steps: readonly (readonly [key: string, names: readonly string[]])[],
  afterEach?: () => Promise<void>,
): Promise<void> {
  for (const [key, names] of steps) {
    await page.keyboard.press(`Shift+${key}`);
    expect(await selected(page), key).toEqual(names);
    await afterEach?.();
  }
}
