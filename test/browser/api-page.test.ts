import { AxeBuilder } from "@axe-core/playwright";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { createApiPage } from "../../src/api-page.ts";
import type { FileEvent } from "../../src/contracts/events.ts";
import { describeApi } from "./api-description.ts";
import { type Chromium, describeInChromium, eventually, type WatchedPage } from "./chromium.ts";
import { logIn, openSite, PASSWORD, type Site, type SiteOptions } from "./site.ts";

const FILES = { "a.txt": "a", "reports/2018/": "" };

interface OpenApiPage extends WatchedPage {
  readonly site: Site;
  /** The URLs of all requests that the page has sent. */
  readonly urls: readonly string[];
}

async function openApiPage(
  chromium: Chromium,
  site: SiteOptions = {},
  options: Parameters<Chromium["open"]>[0] = {},
): Promise<OpenApiPage> {
  const opened = await openSite({ files: FILES, apiPage: createApiPage(), ...site });
  const watched = await chromium.open(options);
  const { page } = watched;
  const urls: string[] = [];
  page.on("request", (request) => urls.push(request.url()));
  await describeApi(page, site.basePath);
  await page.goto(`${opened.origin}${site.basePath ?? ""}/__svc__/openapi.html`);
  await page.locator("#login").waitFor();
  return { ...watched, site: opened, urls };
}

async function logInHere(page: Page, password = PASSWORD): Promise<void> {
  await page.fill("#username", "alice");
  await page.fill("#password", password);
  await page.press("#password", "Enter");
}

/** Opens a call of the description and sends it, with the path and the body that it takes; where its answer stands. */
async function tryCall(page: Page, summary: string, path?: string, body?: string): Promise<Locator> {
  const call = page.locator(".opblock").filter({ hasText: summary });
  await call.locator(".opblock-summary-control").click();
  if (path !== undefined) await call.locator(".parameters input").fill(path);
  if (body !== undefined) await call.locator("textarea").fill(body);
  await call.locator("button.execute").click();
  return call.locator(".live-responses-table .response");
}

describeInChromium("the interactive page of the API", (chromium) => {
  it("shows the calls of the description, without anything from elsewhere or against its policy", async () => {
    const { page, site, urls, expectNoComplaints } = await openApiPage(chromium);
    expect(await page.title()).toBe("HTTP API – Files");
    expect(await page.locator(".opblock").count()).toBe(3);
    expect(await page.locator(".info .title").textContent()).toContain("Files");
    expect(await page.locator(".info em").textContent()).toBe("files");
    expect(urls.filter((url) => !url.startsWith(site.origin) && !url.startsWith("data:"))).toEqual([]);
    expectNoComplaints();
  });

  it("logs in, tries calls on paths with slashes, and ends the session", async () => {
    const { page, site, urls, expectNoComplaints } = await openApiPage(chromium);
    await logInHere(page);
    await page.locator("#logout:focus").waitFor();
    const listing = await tryCall(page, "Lists the root");
    await eventually(() => listing.locator(".response-col_status").first().textContent()).toContain("200");
    expect(await listing.textContent()).toContain('"name": "a.txt"');

    const stored = await tryCall(page, "Stores a file", "reports/2018/naïve plan.txt", "for 2019");
    await eventually(() => stored.locator(".response-col_status").first().textContent()).toContain("201");
    expect(await site.content("reports/2018/naïve plan.txt")).toBe("for 2019");
    expect(urls).toContain(`${site.home}reports/2018/na%C3%AFve%20plan.txt`);

    const file = await tryCall(page, "Gets a file", "reports/2018/naïve plan.txt");
    await eventually(() => file.locator(".response-col_status").first().textContent()).toContain("200");

    const ended = page.waitForResponse(/logout$/);
    await page.click("#logout");
    expect((await ended).status()).toBe(204);
    expect(await page.locator("#message").textContent()).toBe("You are logged out.");
    await page.locator("#username:focus").waitFor();
    await page.locator(".opblock", { hasText: "Lists the root" }).locator("button.execute").click();
    await eventually(() => listing.locator(".response-col_status").first().textContent()).toContain("401");
    expect(urls.filter((url) => !url.startsWith(site.origin) && !/^(?:data|blob):/.test(url))).toEqual([]);
    expectNoComplaints(/status of 401/);
  });

  it("refuses a path that leads out of the folder, as the service does", async () => {
    const { page, site, urls } = await openApiPage(chromium);
    await logInHere(page);
    await page.locator("#access").waitFor();
    const answer = await tryCall(page, "Gets a file", "../__svc__/login");
    await eventually(() => answer.locator(".response-col_status").first().textContent()).toContain("400");
    expect(urls).toContain(`${site.home}..%2F__svc__%2Flogin`);
  });

  it("says that a password is wrong, and forgets what was typed with the page", async () => {
    const ended: unknown[] = [];
    const site = { onEvent: (event: FileEvent) => void (event.id === 40037 && ended.push(event)) };
    const { page, context, expectNoComplaints } = await openApiPage(chromium, site);
    await logInHere(page, "wrong");
    await page.getByRole("status").filter({ hasText: "The user name or password is wrong." }).waitFor();
    expect(await page.locator("#login").isVisible()).toBe(true);
    await logInHere(page);
    await page.locator("#access").waitFor();
    expect(await page.locator("#message").textContent()).toBe("");
    expect(await page.inputValue("#password")).toBe("");
    expect(await page.evaluate(() => ({ ...localStorage, ...sessionStorage }))).toEqual({});
    expect(await context.cookies()).toEqual([]);
    expect(ended).toEqual([]);
    await page.reload();
    await page.locator("#login").waitFor();
    await eventually(() => ended.length).toBe(1);
    expectNoComplaints(/status of 401/);
  });

  it("says that the service does not answer", async () => {
    const { page } = await openApiPage(chromium);
    await page.route("**/__svc__/login", (route) => route.abort());
    await logInHere(page);
    await page.getByRole("status").filter({ hasText: "The network is lost." }).waitFor();
    expect(await page.locator("#login button").isEnabled()).toBe(true);
  });

  it("works by the session that the browser has, too", async () => {
    const site = await openSite({ files: FILES, apiPage: createApiPage() });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await describeApi(page);
    await page.goto(`${site.origin}/__svc__/openapi.html`);
    await page.locator("#login").waitFor();
    const stored = await tryCall(page, "Stores a file", "reports/b.txt", "b");
    await eventually(() => stored.locator(".response-col_status").first().textContent()).toContain("201");
    expectNoComplaints();
  });

  it("takes name and password in the viewer's own dialogue", async () => {
    const { page, expectNoComplaints } = await openApiPage(chromium);
    await page.locator(".btn.authorize").click();
    const basic = page.locator(".auth-container").filter({ hasText: "basic" });
    await basic.locator('input[name="username"]').fill("alice");
    await basic.locator('input[name="password"]').fill(PASSWORD);
    await basic.getByRole("button", { name: "Apply credentials" }).click();
    await page.locator(".close-modal").click();
    const listing = await tryCall(page, "Lists the root");
    await eventually(() => listing.locator(".response-col_status").first().textContent()).toContain("200");
    expectNoComplaints();
  });

  it("stands below the base path (CONTRACT 2.7)", async () => {
    const { page, site, expectNoComplaints } = await openApiPage(chromium, { basePath: "/files" });
    await logInHere(page);
    await page.locator("#access").waitFor();
    const stored = await tryCall(page, "Stores a file", "reports/2018/x.txt", "x");
    await eventually(() => stored.locator(".response-col_status").first().textContent()).toContain("201");
    expect(await site.content("reports/2018/x.txt")).toBe("x");
    expectNoComplaints();
  });

  it.each([
    ["light", "en-GB"],
    ["dark", "en-GB"],
    ["dark", "de-DE"],
  ] as const)("axe finds nothing in what is ours, %s, %s", async (colorScheme, locale) => {
    const site = { branding: { name: "Files & more", footnote: "Ask us.", accent: "#0b5fff" } };
    const { page } = await openApiPage(chromium, site, { colorScheme, locale });
    const isDark = await page.evaluate(() => document.documentElement.classList.contains("dark-mode"));
    expect(isDark).toBe(colorScheme === "dark");
    const heading = page.locator("h1#title");
    expect(await heading.textContent()).toBe(locale === "de-DE" ? "HTTP-API" : "HTTP API");
    await check(page, "login");
    await logInHere(page, "wrong");
    await page.locator("#message.problem").waitFor();
    await check(page, "login with a message");
    await logInHere(page);
    await page.locator("#access").waitFor();
    await check(page, "logged in");
  });

  it("fits a phone", async () => {
    const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
    const { page } = await openApiPage(chromium, {}, phone);
    await check(page, "login");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });

  it("says that it needs JavaScript", async () => {
    const site = await openSite({ apiPage: createApiPage() });
    const { page } = await chromium.open({ javaScriptEnabled: false });
    await page.goto(`${site.origin}/__svc__/openapi.html`);
    expect(await page.locator("noscript").textContent()).toContain("This page needs JavaScript.");
    expect(await page.locator("#login").isVisible()).toBe(false);
  });
});

async function check(page: Page, name: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).exclude("#viewer").analyze();
  const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => ({ id, html })));
  expect(found, name).toEqual([]);
}
