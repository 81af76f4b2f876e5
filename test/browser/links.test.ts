import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { LINK_SECRET } from "../support/links.ts";
import { quickHasher } from "../support/quick-hasher.ts";
import { expectAccessible } from "./axe.ts";
import { describeInChromium, eventually, launchChromium } from "./chromium.ts";
import { logIn, logInByForm, openSite, rowOf, type Site } from "./site.ts";

const FILES = { "reports/a.txt": "the report", "b.txt": "b" };

/** A site whose alice can make links. */
function openLinkSite(hasStore = true): Promise<Site> {
  const links = { secret: LINK_SECRET, passwordHasher: quickHasher };
  return openSite({ files: FILES, links: hasStore ? { ...links, store: createMemoryKeyValueStore() } : links });
}

/** Fails if the page is wider than its window. */
async function checkWidth(page: Page): Promise<void> {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(content).toBeLessThanOrEqual(window ?? 0);
}

describeInChromium("links in the pages", (chromium) => {
  it.each([
    ["with", true],
    ["without", false],
  ])("are made, opened by somebody else and withdrawn, %s JavaScript", async (_case, javaScriptEnabled) => {
    const site = await openLinkSite();
    const { page, expectNoComplaints } = await chromium.open({ javaScriptEnabled });
    await logIn(page, site);
    await rowOf(page, "reports").getByRole("checkbox").check();
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("heading", { name: "Share reports" }).waitFor();
    await page.locator(".new-link summary").first().click();
    expect(await page.getByRole("checkbox", { name: "Download files" }).isChecked()).toBe(true);
    await page.getByLabel("Valid for").selectOption("1 day");
    await page.getByText("More settings").click();
    await page.getByLabel("Note").fill("for Bob");
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByRole("heading", { name: "The link is ready" }).waitFor();
    const url = await page.getByLabel("Address of the link").inputValue();
    await page.getByRole("img", { name: "QR code of the link" }).waitFor();

    const stranger = await chromium.open({ javaScriptEnabled });
    await stranger.page.goto(url);
    await stranger.page.getByRole("link", { name: "a.txt", exact: true }).waitFor();
    const downloading = stranger.page.waitForEvent("download");
    await stranger.page.getByRole("link", { name: "a.txt", exact: true }).click();
    // The script shows the file first.
    if (javaScriptEnabled) await stranger.page.getByRole("link", { name: "Download", exact: true }).click();
    expect((await downloading).suggestedFilename()).toBe("a.txt");

    await page.getByRole("link", { name: "Links" }).first().click();
    await page.getByRole("row").getByText("for Bob").waitFor();
    await page.getByRole("button", { name: "Withdraw the link to /reports" }).click();
    await page.getByText("There are no links.").waitFor();
    await stranger.page.goto(url);
    await stranger.page.getByText("The link was withdrawn.").waitFor();
    expectNoComplaints();
    stranger.expectNoComplaints(/status of 410/);
  });

  it("has the button of its form in sight, with all parts folded", async () => {
    const site = await openLinkSite();
    const { page } = await chromium.open({ viewport: { width: 1280, height: 800 } });
    await logIn(page, site);
    await page.goto(`${site.home}__svc__/links/new?path=/reports`);
    const { y, height } = (await page.getByRole("button", { name: "Create link" }).boundingBox()) ?? {
      y: 0,
      height: 0,
    };
    expect(y).toBeGreaterThan(0);
    expect(y + height).toBeLessThan(800);
  });

  it("copies the address with a script, and says so", async () => {
    const site = await openLinkSite();
    const { page, context, expectNoComplaints } = await chromium.open();
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: site.origin });
    await logIn(page, site);
    await page.locator("#more > summary").click();
    await page.getByRole("link", { name: "Share this folder" }).click();
    await page.getByRole("link", { name: "Only send files in" }).click();
    await page.getByRole("button", { name: "Create link" }).click();
    const url = await page.getByLabel("Address of the link").inputValue();
    await page.getByRole("button", { name: "Copy" }).click();
    await eventually(() => page.locator(".copy-status").textContent()).toBe("Copied");
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(url);
    await page.goto(`${site.home}__svc__/links`);
    await page.getByRole("button", { name: "Copy the link to /" }).click();
    await eventually(() => page.locator(".copy-status").textContent()).toBe("Copied");
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/__svc__\/share\//);
    expectNoComplaints();
  });

  it("need exactly one selected item", async () => {
    const site = await openLinkSite();
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const button = page.getByRole("button", { name: "Share" });
    expect(await button.isVisible()).toBe(false);
    await rowOf(page, "b.txt").getByRole("checkbox").check();
    expect(await button.isDisabled()).toBe(false);
    await rowOf(page, "reports").getByRole("checkbox").check();
    expect(await button.isDisabled()).toBe(true);
    const plain = await chromium.open({ javaScriptEnabled: false });
    await logIn(plain.page, site);
    await plain.page.getByRole("button", { name: "Share" }).click();
    expect(await plain.page.getByRole("alert").textContent()).toContain("Select exactly one item to share.");
    plain.expectNoComplaints(/status of 400/);
    expectNoComplaints();
  });

  it("shows a form that failed again, and withdraws all links after a question", async () => {
    const site = await openLinkSite();
    const { page, expectNoComplaints } = await chromium.open({ javaScriptEnabled: false });
    await logIn(page, site);
    await page.goto(`${site.home}__svc__/links/new?path=/reports`);
    await page.locator(".new-link summary").first().click();
    for (const box of await page.getByRole("checkbox").all()) await box.uncheck();
    await page.getByRole("checkbox", { name: "Delete and replace files" }).check();
    await page.getByLabel("Password", { exact: true }).fill("open sesame");
    await page.getByRole("button", { name: "Create link" }).click();
    expect(await page.getByRole("alert").textContent()).toContain("must permit listing");
    expect(await page.getByRole("checkbox", { name: "Delete and replace files" }).isChecked()).toBe(true);
    expect(await page.getByLabel("Password", { exact: true }).inputValue()).toBe("");
    await page.getByRole("checkbox", { name: "See which files" }).check();
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByRole("link", { name: "Links" }).first().click();
    const all = page.getByRole("button", { name: "Withdraw all" });
    expect(await all.isVisible()).toBe(false);
    await page.locator("summary", { hasText: "Withdraw all" }).click();
    await all.click();
    await page.getByText("There are no links.").waitFor();
    expectNoComplaints(/status of 422/);
  });

  // Without HTTPS browsers do not send Sec-Fetch-Site, so forms have only their origin to show.
  it("takes its forms from a host without HTTPS", async () => {
    const site = await openLinkSite();
    const browser = await launchChromium(["--host-resolver-rules=MAP files.example 127.0.0.1"]);
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const home = site.home.replace("127.0.0.1", "files.example");
    await logInByForm(page, { ...site, home });
    await page.goto(`${home}__svc__/links/new?path=/reports`);
    await page.getByLabel("Password", { exact: true }).fill("open sesame");
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByRole("heading", { name: "The link is ready" }).waitFor();
    const url = await page.getByLabel("Address of the link").inputValue();
    expect(url).toMatch(/^http:\/\/files\.example:\d+\//);
    const stranger = await browser.newPage();
    await stranger.goto(url);
    await stranger.getByLabel("Password", { exact: true }).fill("open sesame");
    await stranger.getByRole("button", { name: "Open" }).click();
    await stranger.getByRole("link", { name: "a.txt", exact: true }).waitFor();
    // The clipboard is closed there.
    await page.getByRole("button", { name: "Copy" }).click();
    await eventually(() => page.locator(".copy-status").textContent()).toBe("Copied");
    await page.getByRole("button", { name: "Withdraw" }).click();
    await page.getByText("There are no links.").waitFor();
  });

  it.each([
    ["dark", "en-GB", 1280],
    ["light", "de-DE", 360],
  ] as const)("axe finds nothing on any page: %s, %s, %i pixels", async (colorScheme, locale, width) => {
    const site = await openLinkSite();
    const { page, expectNoComplaints } = await chromium.open({ colorScheme, locale, viewport: { width, height: 800 } });
    const show = async (name: string, path: string) => {
      await page.goto(`${site.home}${path}`);
      await expectAccessible(page, name);
      await checkWidth(page);
    };
    await logIn(page, site);
    await show("folder", "reports/");
    await show("no links", "__svc__/links");
    await show("form for a file", "__svc__/links/new?path=/b.txt");
    await show("form for a folder", "__svc__/links/new?path=/reports");
    for (const summary of await page.locator(".new-link summary").all()) await summary.click();
    await expectAccessible(page, "form with more settings");
    await page.locator("#label").fill("a note of several words, longer than a column");
    await page.locator("#max_uses").fill("3");
    await page.locator("#password").fill("open sesame");
    await page.locator("button.primary").click();
    await page.locator("svg.qr").waitFor();
    await expectAccessible(page, "new link");
    await checkWidth(page);
    await show("list", "__svc__/links");
    await page.locator(".all summary").click();
    await expectAccessible(page, "list with the question");
    await page.goto(`${site.home}__svc__/links/new?path=/reports`);
    await page.locator(".new-link summary").first().click();
    for (const box of await page.getByRole("checkbox").all()) await box.uncheck();
    await page.locator("#allow-delete-file").check();
    await page.locator("button.primary").click();
    await page.getByRole("alert").waitFor();
    await expectAccessible(page, "form that failed");
    await show("link to a file", "__svc__/links/new?path=/b.txt");
    await page.locator("button.primary").click();
    await page.locator("#file-url").waitFor();
    await expectAccessible(page, "new link to a file");
    await checkWidth(page);
    expectNoComplaints(/status of 422/);
  });
});
