import { expect, it } from "vitest";
import { expectAccessible } from "./axe.ts";
import { describeInChromium, eventually } from "./chromium.ts";
import {
  closeDialog,
  closeViewer,
  dropFiles,
  logIn,
  makeFolder,
  openFullSite,
  openSite,
  PASSWORD,
  rowOf,
  tabTo,
  transferOf,
} from "./site.ts";

const FILES = { "reports/inner.txt": "x", "a.txt": "a", "photo.jpg": "x", "archive.zip": "x", "שלום.txt": "x" };

describeInChromium("accessibility", (chromium) => {
  it.each([
    ["light", "en-GB"],
    ["dark", "de-DE"],
  ] as const)("axe finds nothing on any page, %s, %s", async (colorScheme, locale) => {
    const site = await openFullSite({
      files: { ...FILES, "empty/": "" },
      triggers: {
        approve: { label: "Approve", style: "success" },
        hold: { label: "Hold", style: "warning" },
        reject: { label: "Reject", style: "danger" },
        archive: {},
      },
      branding: { name: "Files & more", footnote: "Ask us." },
    });
    const { page, context, expectNoComplaints } = await chromium.open({ colorScheme, locale });
    await page.goto(site.home);
    expect(await page.locator("html").getAttribute("lang")).toBe(locale.slice(0, 2));
    await expectAccessible(page, "login");
    await page.fill('input[name="username"]', "alice");
    await page.fill('input[name="password"]', "wrong");
    await page.press('input[name="password"]', "Enter");
    await page.getByRole("alert").waitFor();
    await expectAccessible(page, "login with a message");
    await logIn(page, site);
    await expectAccessible(page, "folder");
    await page.locator("#select-all").click();
    await expectAccessible(page, "folder with all selected");
    for (const menu of ["more", "create", "send", "account"]) {
      await page.locator(`#${menu} > summary`).click();
      await expectAccessible(page, `menu ${menu}`);
    }
    await page.locator("h1").click();
    await page.locator("#select-all").click();
    await rowOf(page, "a.txt")
      .getByRole("link", { name: /Act|Akt/ })
      .click();
    await expectAccessible(page, "menu of a row");
    await page.getByRole("menuitem", { name: /Properties|Eigenschaften/ }).click();
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page, "properties");
    await closeDialog(page);
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page, "keyboard shortcuts");
    await closeDialog(page);
    await page.keyboard.press("F2");
    await rowOf(page, "a.txt").getByRole("textbox").waitFor();
    await expectAccessible(page, "rename field");
    await page.keyboard.press("Escape");
    await page.locator("#select-all").click();
    await page.locator('button[value="move-members"]').click();
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page, "choice of a folder");
    await closeDialog(page);
    await rowOf(page, "a.txt").locator("th a").focus();
    await page.keyboard.press("Shift+F10");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page, "question");
    await closeDialog(page);
    await page.locator(".clear").click();
    await rowOf(page, "archive.zip").locator("th a").focus();
    await page.keyboard.press("Delete");
    await page.locator(".toast button").waitFor();
    await expectAccessible(page, "a deletion that can be undone");
    const dataTransfer = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(["x"], "x.txt"));
      return data;
    });
    await page.dispatchEvent("main", "dragenter", { dataTransfer });
    await page.locator(".drop-here").waitFor();
    await expectAccessible(page, "where dropped files go");
    await page.dispatchEvent("main", "dragleave", { dataTransfer });

    // One under way, one that waits for an answer, one that failed, one that is done.
    await page.route("**/slow.txt", () => undefined);
    const names = ["slow.txt", "a.txt", "reports", "done.txt"];
    await dropFiles(
      page,
      names.map((name) => ({ name, content: "x" })),
    );
    await eventually(() => transferOf(page, "done.txt").getAttribute("data-state")).toBe("done");
    await eventually(() => transferOf(page, "reports").getAttribute("data-state")).toBe("failed");
    await expectAccessible(page, "uploads");
    await makeFolder(page, "reports");
    await page.locator(".notice.problem:visible").waitFor();
    await expectAccessible(page, "folder with a problem");
    await page.locator(".transfers-actions button:visible").first().click();
    await page.unrouteAll({ behavior: "ignoreErrors" });

    await page.goto(`${site.home}?done=uploaded&member=a.txt`);
    await expectAccessible(page, "folder with a message and a member");
    await page.goto(`${site.home}__svc__/password-update`);
    await expectAccessible(page, "password");
    await page.fill('input[name="current_password"]', "wrong");
    await page.fill('input[name="new_password"]', "short");
    await page.fill('input[name="repeated_password"]', "short");
    await page.press('input[name="repeated_password"]', "Enter");
    await page.getByRole("alert").waitFor();
    await expectAccessible(page, "password with a message");
    await page.goto(`${site.home}__svc__/trash`);
    await page.locator("tbody tr").waitFor();
    await expectAccessible(page, "trash");
    await page.goto(`${site.home}__svc__/keys`);
    await page.locator("main button.primary").click();
    await page.locator("#key").waitFor();
    await expectAccessible(page, "new key");
    await page.goto(`${site.home}__svc__/keys`);
    await page.locator("tbody tr").waitFor();
    await expectAccessible(page, "keys");
    await page.goto(`${site.home}nothing/`);
    await expectAccessible(page, "error");
    await page.goto(`${site.home}reports/`);
    await expectAccessible(page, "folder below the root");
    await page.goto(`${site.home}empty/`);
    await expectAccessible(page, "empty folder");
    await page.goto(site.home);
    await page.locator("#filter").fill("nothing has this name");
    await page.getByText(/No item has this text|Kein Eintrag hat diesen Text/).waitFor();
    await expectAccessible(page, "filter without a match");
    await page.goto(`${site.home}__svc__/trash`);
    await page.locator("details.all > summary").click();
    await expectAccessible(page, "question before the trash is emptied");
    await page.locator("details.all button").click();
    await page.locator(".empty").waitFor();
    await expectAccessible(page, "empty trash");

    const plain = await context.browser()?.newContext({ colorScheme, locale, javaScriptEnabled: false });
    const simple = await plain?.newPage();
    if (simple === undefined) throw new Error("No page.");
    await logIn(simple, site);
    await makeFolder(simple, "reports");
    await simple.getByRole("alert").waitFor();
    // axe needs scripts: the same markup, with them.
    const markup = await simple.content();
    await plain?.close();
    await page.route("**/home/problem/", (route) => route.fulfill({ contentType: "text/html", body: markup }));
    await page.goto(`${site.home}problem/`);
    await expectAccessible(page, "folder with the problems of a form");
    await page.goto(site.home);
    site.advance(13 * 3600);
    await rowOf(page, "a.txt").locator("th a").focus();
    await page.keyboard.press("Delete");
    await page.locator(".notice.problem a").waitFor();
    await expectAccessible(page, "folder after the end of the session");
    expectNoComplaints(/status of 4\d\d/);
  });

  it.each(["light", "dark"] as const)("axe finds nothing on a phone, with 20 uploads, %s", async (colorScheme) => {
    const site = await openSite({ files: FILES, triggers: { approve: { label: "Approve", style: "success" } } });
    const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
    const { page, expectNoComplaints } = await chromium.open({ ...phone, colorScheme });
    await page.goto(site.home);
    await expectAccessible(page, "login");
    await logIn(page, site);
    await page.locator("#select-all").click();
    await expectAccessible(page, "folder with all selected");
    await page.route("**/slow.txt", () => undefined);
    const names = ["slow.txt", "a.txt", "reports", ...Array.from({ length: 17 }, (_, index) => `${index}.txt`)];
    await dropFiles(
      page,
      names.map((name) => ({ name, content: "x" })),
    );
    await eventually(() => page.locator('.transfer[data-state="done"]').count()).toBe(17);
    await eventually(() => transferOf(page, "reports").getAttribute("data-state")).toBe("failed");
    await expectAccessible(page, "uploads");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.getByRole("button", { name: "Cancel all" }).click();
    await eventually(() => transferOf(page, "slow.txt").getAttribute("data-state")).toBe("cancelled");
    await expectAccessible(page, "uploads, one cancelled");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    expectNoComplaints(/status of 4\d\d/);
  });

  it("the keyboard alone goes all the way", { timeout: 60_000 }, async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await page.goto(site.home);
    await page.waitForSelector('input[name="username"]:focus');
    await page.keyboard.type("alice");
    await tabTo(page, 'input[name="password"]');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForSelector("main#folder");
    await tabTo(page, "#create > summary");
    // The field has the focus as soon as it is there.
    await page.keyboard.press("Enter");
    await page.waitForSelector("#new-folder-name:focus");
    await page.keyboard.type("reports");
    await page.keyboard.press("Enter");
    await rowOf(page, "reports").waitFor();
    await tabTo(page, 'tr[data-name="reports"] th a');
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/reports\/$/);
    const chooser = page.waitForEvent("filechooser");
    await tabTo(page, "#send > summary");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await (await chooser).setFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
    await rowOf(page, "a.txt").waitFor();
    await tabTo(page, 'tr[data-name="a.txt"] th a');
    const download = page.waitForEvent("download");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await tabTo(page, "dialog a");
    await page.keyboard.press("Enter");
    expect((await download).suggestedFilename()).toBe("a.txt");
    await closeViewer(page);
    await page.keyboard.press("Space");
    await page.waitForSelector('tr[data-name="a.txt"] input:checked');
    await tabTo(page, 'button[value="delete-members"]');
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    expect(await site.list()).toEqual(["reports/"]);
    await tabTo(page, "#account > summary");
    await page.keyboard.press("Enter");
    await tabTo(page, 'form[action$="logout"] button');
    await page.keyboard.press("Enter");
    await page.waitForSelector('input[name="username"]');
    expectNoComplaints();
  });
});
