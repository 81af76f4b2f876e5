import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium, eventually } from "./chromium.ts";
import {
  chooseAction,
  logInByForm,
  makeFolder,
  openAccountMenu,
  openSite,
  PASSWORD,
  rowOf,
  type Site,
} from "./site.ts";

const NEW_PASSWORD = "another one entirely";

const REPORT = { name: "report 🦭.txt", mimeType: "text/plain", buffer: Buffer.from("the report") };

describeInChromium("the whole journey", (chromium) => {
  it("goes with JavaScript, without a page jump in a folder", async () => {
    const site = await openSite();
    const { page, context, expectNoComplaints } = await chromium.open();
    await logInByForm(page, site);
    await page.evaluate(() => document.documentElement.setAttribute("data-marked", ""));
    await makeFolder(page, "reports");
    await rowOf(page, "reports").waitFor();
    expect(await page.locator("html").getAttribute("data-marked")).toBe("");
    expect(await page.inputValue('input[name="new-folder"]')).toBe("");
    await rowOf(page, "reports").locator("th a").click();
    await page.waitForURL(/\/home\/reports\/$/);

    await page.setInputFiles("#upload-file", [REPORT, { ...REPORT, name: "second.txt" }]);
    await rowOf(page, "second.txt").waitFor();
    expect(await site.content(`reports/${REPORT.name}`)).toBe("the report");
    expect(await download(page, REPORT.name)).toBe("the report");

    await page.getByRole("checkbox", { name: REPORT.name }).check();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await rowOf(page, REPORT.name).waitFor({ state: "detached" });
    expect(await site.list()).toEqual(["reports/", "reports/second.txt"]);
    await downloadArchive(page, "second.txt");
    await changePassword(page, site);
    await logOut(page, site);
    expect(await context.cookies()).toEqual([]);
    await logInByForm(page, site, NEW_PASSWORD);
    expectNoComplaints();
  });

  it("goes without JavaScript", async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open({ javaScriptEnabled: false });
    await logInByForm(page, site);
    await journeyByForms(page, site);
    await changePassword(page, site);
    await logOut(page, site);
    await logInByForm(page, site, NEW_PASSWORD);
    expectNoComplaints();
  });

  it.each([
    ["with", true],
    ["without", false],
  ])("is watched for what the Content-Security-Policy holds back, %s JavaScript", async (_case, javaScriptEnabled) => {
    const site = await openSite();
    const { page, complaints, expectNoComplaints } = await chromium.open({ javaScriptEnabled });
    await logInByForm(page, site);
    expectNoComplaints();
    await page.route(site.home, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: `${await response.text()}<p style="color: red">inline</p>` });
    });
    await page.goto(site.home);
    await eventually(() => complaints.join()).toMatch(/style-src/);
  });

  it.each([
    ["and with JavaScript", true],
    ["and without JavaScript", false],
  ])("goes without cookies, by Basic credentials, %s", async (_case, javaScriptEnabled) => {
    const site = await openSite({ cookies: false });
    const httpCredentials = { username: "alice", password: PASSWORD };
    const options = { javaScriptEnabled, httpCredentials };
    const { page, context, expectNoComplaints } = await chromium.open(options);
    await page.goto(`${site.origin}/__svc__/login`);
    await page.fill('input[name="username"]', "alice");
    await page.fill('input[name="password"]', PASSWORD);
    await page.press('input[name="password"]', "Enter");
    await page.waitForURL(/__svc__\/login\?/);
    await page.getByRole("link", { name: /without cookies/i }).click();
    await page.waitForSelector("main#folder");
    expect(await page.getByRole("link", { name: /password/i }).count()).toBe(0);
    if (javaScriptEnabled) {
      await makeFolder(page, "reports");
      await rowOf(page, "reports").locator("th a").click();
      await page.waitForURL(/\/reports\/$/);
      await page.setInputFiles("#upload-file", REPORT);
      await rowOf(page, REPORT.name).waitFor();
      expect(await download(page, REPORT.name)).toBe("the report");
      await page.getByRole("checkbox", { name: REPORT.name }).check();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await rowOf(page, REPORT.name).waitFor({ state: "detached" });
    } else await journeyByForms(page, site);
    expect(await site.list()).not.toContain(`reports/${REPORT.name}`);
    expect(await site.list()).toContain("reports/");
    expect(await context.cookies()).toEqual([]);
    expectNoComplaints();
  });

  it("finds its way below a prefix, back to the page that was asked for", async () => {
    const site = await openSite({ basePath: "/files", files: { "reports/a.txt": "a" } });
    const { page, expectNoComplaints } = await chromium.open();
    await page.goto(`${site.origin}/files/home/reports/?sort=size`);
    await page.fill('input[name="username"]', "alice");
    await page.fill('input[name="password"]', PASSWORD);
    await page.press('input[name="password"]', "Enter");
    await rowOf(page, "a.txt").waitFor();
    expect(new URL(page.url()).pathname).toBe("/files/home/reports/");
    await page.setInputFiles("#upload-file", REPORT);
    await rowOf(page, REPORT.name).waitFor();
    expect(await site.content(`reports/${REPORT.name}`)).toBe("the report");
    expectNoComplaints();
  });
});

/**
 * Folder, upload, download, archive and deletion, every step a form or a link. Ends in `/home/reports/` with
 * `second.txt` in it.
 */
async function journeyByForms(page: Page, site: Site): Promise<void> {
  await makeFolder(page, "reports");
  await rowOf(page, "reports").locator("th a").click();
  await page.waitForURL(/\/home\/reports\/$/);
  await page.locator("#send > summary").click();
  await page.setInputFiles("#upload-file", [REPORT, { ...REPORT, name: "second.txt" }]);
  await page.locator("#upload").getByRole("button", { name: "Upload", exact: true }).click();
  await rowOf(page, "second.txt").waitFor();
  expect(await site.content(`reports/${REPORT.name}`)).toBe("the report");
  expect(await download(page, REPORT.name, false)).toBe("the report");
  await downloadArchive(page, "second.txt");
  await page.reload();
  await page.getByRole("checkbox", { name: REPORT.name }).check();
  await page.getByRole("button", { name: "Delete" }).click();
  await rowOf(page, REPORT.name).waitFor({ state: "detached" });
  expect(await site.list()).toEqual(["reports/", "reports/second.txt"]);
}

/** Downloads a member, with JavaScript by its menu, and otherwise by its link; its content. */
async function download(page: Page, name: string, hasScript = true): Promise<string> {
  const started = page.waitForEvent("download");
  await (hasScript ? chooseAction(page, name, "Download") : rowOf(page, name).locator("th a").click());
  const done = await started;
  expect(done.suggestedFilename()).toBe(name);
  return readFile(await done.path(), "utf8");
}

/** Downloads a member in an archive. */
async function downloadArchive(page: Page, name: string): Promise<void> {
  await page.getByRole("checkbox", { name }).check();
  const started = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const done = await started;
  expect(done.suggestedFilename()).toBe("reports.zip");
  const bytes = await readFile(await done.path());
  expect(bytes.subarray(0, 4).toString("latin1")).toBe("PK\u0003\u0004");
  expect(bytes.includes(name)).toBe(true);
}

async function changePassword(page: Page, { home }: Site): Promise<void> {
  await openAccountMenu(page);
  await page.getByRole("link", { name: /change .*password/i }).click();
  await page.fill('input[name="current_password"]', PASSWORD);
  await page.fill('input[name="new_password"]', NEW_PASSWORD);
  await page.fill('input[name="repeated_password"]', NEW_PASSWORD);
  await page.press('input[name="repeated_password"]', "Enter");
  await page.waitForSelector("main#folder");
  await page.goto(home);
}

async function logOut(page: Page, { home }: Site): Promise<void> {
  await openAccountMenu(page);
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForSelector('input[name="username"]');
  await page.goto(home);
  await eventually(() => page.url()).toContain("/__svc__/login");
}
