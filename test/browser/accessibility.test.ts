import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium, eventually } from "./chromium.ts";
import { dropFiles, logIn, openSite, PASSWORD, rowOf, transferOf } from "./site.ts";

const FILES = { "reports/inner.txt": "x", "a.txt": "a", "photo.jpg": "x", "archive.zip": "x", "שלום.txt": "x" };

describeInChromium("accessibility", (chromium) => {
  it.each([
    ["light", "en-GB"],
    ["dark", "en-GB"],
    ["light", "de-DE"],
  ] as const)("axe finds nothing on any page, %s, %s", { timeout: 120_000 }, async (colorScheme, locale) => {
    const site = await openSite({
      files: FILES,
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
    await check(page, "login");
    await page.fill('input[name="username"]', "alice");
    await page.fill('input[name="password"]', "wrong");
    await page.press('input[name="password"]', "Enter");
    await page.getByRole("alert").waitFor();
    await check(page, "login with a message");
    await logIn(page, site);
    await check(page, "folder");
    await page.locator("#select-all").click();
    await check(page, "folder with all selected");
    await page.locator('button[value="delete-members"]').click();
    await page.getByRole("dialog").waitFor();
    await check(page, "question");
    await page.keyboard.press("Escape");

    // One under way, one that waits for an answer, one that failed, one that is done.
    await page.route("**/slow.txt", () => undefined);
    const names = ["slow.txt", "a.txt", "reports", "done.txt"];
    await dropFiles(
      page,
      names.map((name) => ({ name, content: "x" })),
    );
    await eventually(() => transferOf(page, "done.txt").getAttribute("data-state")).toBe("done");
    await eventually(() => transferOf(page, "reports").getAttribute("data-state")).toBe("failed");
    await check(page, "uploads");
    await page.fill('input[name="new-folder"]', "reports");
    await page.press('input[name="new-folder"]', "Enter");
    await page.locator(".notice.problem:visible").waitFor();
    await check(page, "folder with a problem");
    await page.locator(".transfers-actions button:visible").first().click();
    await page.unrouteAll({ behavior: "ignoreErrors" });

    await page.goto(`${site.home}?done=uploaded`);
    await check(page, "folder with a message");
    await page.goto(`${site.home}__svc__/password-update`);
    await check(page, "password");
    await page.fill('input[name="current_password"]', "wrong");
    await page.fill('input[name="new_password"]', "short");
    await page.press('input[name="new_password"]', "Enter");
    await page.getByRole("alert").waitFor();
    await check(page, "password with a message");
    await page.goto(`${site.home}nothing/`);
    await check(page, "error");
    await page.goto(`${site.home}reports/`);
    await check(page, "folder below the root");

    const plain = await context.browser()?.newContext({ colorScheme, locale, javaScriptEnabled: false });
    const simple = await plain?.newPage();
    if (simple === undefined) throw new Error("No page.");
    await logIn(simple, site);
    await simple.locator('#new-folder input[name="new-folder"]').fill("reports");
    await simple.locator("#new-folder button").click();
    await simple.getByRole("alert").waitFor();
    // axe needs scripts: the same markup, with them.
    const markup = await simple.content();
    await plain?.close();
    await page.route("**/home/problem/", (route) => route.fulfill({ contentType: "text/html", body: markup }));
    await page.goto(`${site.home}problem/`);
    await check(page, "folder with the problems of a form");
    expectNoComplaints(/status of 4\d\d/);
  });

  it.each(["light", "dark"] as const)(
    "axe finds nothing on a phone, with 20 uploads, %s",
    { timeout: 120_000 },
    async (colorScheme) => {
      const site = await openSite({ files: FILES, triggers: { approve: { label: "Approve", style: "success" } } });
      const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
      const { page, expectNoComplaints } = await chromium.open({ ...phone, colorScheme });
      await page.goto(site.home);
      await check(page, "login");
      await logIn(page, site);
      await page.locator("#select-all").click();
      await check(page, "folder with all selected");
      await page.route("**/slow.txt", () => undefined);
      const names = ["slow.txt", "a.txt", "reports", ...Array.from({ length: 17 }, (_, index) => `${index}.txt`)];
      await dropFiles(
        page,
        names.map((name) => ({ name, content: "x" })),
      );
      await eventually(() => page.locator('.transfer[data-state="done"]').count()).toBe(17);
      await eventually(() => transferOf(page, "reports").getAttribute("data-state")).toBe("failed");
      await check(page, "uploads");
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
      await page.getByRole("button", { name: "Cancel all" }).click();
      await eventually(() => transferOf(page, "slow.txt").getAttribute("data-state")).toBe("cancelled");
      await check(page, "uploads, one cancelled");
      await page.unrouteAll({ behavior: "ignoreErrors" });
      expectNoComplaints(/status of 4\d\d/);
    },
  );

  it("the keyboard alone goes all the way", { timeout: 60_000 }, async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await page.goto(site.home);
    await page.waitForSelector('input[name="username"]:focus');
    await page.keyboard.type("alice");
    await page.keyboard.press("Tab");
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForSelector("main#folder");
    await tabTo(page, '#new-folder input[name="new-folder"]');
    await page.keyboard.type("reports");
    await page.keyboard.press("Enter");
    await rowOf(page, "reports").waitFor();
    await tabTo(page, 'tr[data-name="reports"] th a');
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/reports\/$/);
    const chooser = page.waitForEvent("filechooser");
    await tabTo(page, "#upload-file");
    await page.keyboard.press("Enter");
    await (await chooser).setFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
    await rowOf(page, "a.txt").waitFor();
    await tabTo(page, 'tr[data-name="a.txt"] th a');
    const download = page.waitForEvent("download");
    await page.keyboard.press("Enter");
    expect((await download).suggestedFilename()).toBe("a.txt");
    await tabTo(page, 'tr[data-name="a.txt"] input');
    await page.keyboard.press("Space");
    await tabTo(page, 'button[value="delete-members"]');
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    expect(await site.list()).toEqual(["reports/"]);
    await tabTo(page, 'form[action$="logout"] button');
    await page.keyboard.press("Enter");
    await page.waitForSelector('input[name="username"]');
    expectNoComplaints();
  });
});

async function check(page: Page, name: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary })),
  );
  expect(found, name).toEqual([]);
}

/** Presses Tab until the element has the focus, as far as a page's worth of stops. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let stops = 0; stops < 60; stops++) {
    if (await page.locator(selector).evaluate((target) => target === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`The keyboard does not reach ${selector}.`);
}
