import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page, Request } from "playwright-core";
import { expect, it } from "vitest";
import { createApiPage } from "../../src/api-page.ts";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import type { FileEvent } from "../../src/contracts/events/file-event.ts";
import { createRecordingLogger } from "../support/logger.ts";
import { TOTP_SECRET, toOneTimePassword } from "../support/secrets/totp.ts";
import { expectAccessible } from "./axe.ts";
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
  await page.goto(`${opened.origin}${site.basePath ?? ""}/__svc__/openapi.html`);
  await page.locator("#login").waitFor();
  return { ...watched, site: opened, urls };
}

async function logInHere(page: Page, password = PASSWORD): Promise<void> {
  await page.fill("#username", "alice");
  await page.fill("#password", password);
  await page.press("#password", "Enter");
}

interface Call {
  readonly place: Locator;
  /** The status of the last answer. */
  status(): Promise<string | null>;
  /** Sends it, and waits for what is sent. */
  send(): Promise<Request>;
  close(): Promise<void>;
}

/** Opens a call of the description by its name. */
async function openCall(page: Page, name: string): Promise<Call> {
  const place = page.locator(`.opblock[id$="-${name}"]`);
  const summary = place.locator(".opblock-summary-control");
  await summary.click();
  await place.locator("button.execute").waitFor();
  return {
    place,
    status: () => place.locator(".live-responses-table .response .response-col_status").first().textContent(),
    async send() {
      const sent = page.waitForRequest((request) => !/^(?:data|blob):/.test(request.url()));
      await place.locator("button.execute").click();
      return sent;
    },
    close: () => summary.click(),
  };
}

/** Opens a call and sends it with its examples, but for the path; with its answer's status. */
async function tryCall(
  page: Page,
  name: string,
  status: number,
  path?: string,
): Promise<Call & { readonly request: Request }> {
  const call = await openCall(page, name);
  if (path !== undefined) await call.place.locator('tr[data-param-in="path"] input').fill(path);
  const request = await call.send();
  await eventually(call.status).toContain(String(status));
  return { ...call, request };
}

async function putFile(page: Page, path: string, content: Buffer): Promise<Request> {
  const call = await openCall(page, "putFile");
  await call.place.locator('tr[data-param-in="path"] input').fill(path);
  const file = { name: "chosen.png", mimeType: "image/png", buffer: content };
  await call.place.locator('input[type="file"]').setInputFiles(file);
  const request = await call.send();
  await eventually(call.status).toContain("201");
  await call.close();
  return request;
}

/** The optional fields of a request that only a parameter of the description can have set. */
function fieldsOf(request: Request): readonly string[] {
  return Object.keys(request.headers()).filter((name) => /^(?:if-.*|range|trace.*)$/.test(name));
}

/** Swagger UI has a button in a heading that is one, too, and headings without an order. */
const VIEWER = { part: "#viewer", rules: ["nested-interactive", "region", "heading-order"] };

describeInChromium("the interactive page of the API", (chromium) => {
  it("shows the calls of the description, without anything from elsewhere or against its policy", async () => {
    const { page, site, urls, expectNoComplaints } = await openApiPage(chromium);
    expect(await page.title()).toBe("HTTP API – Files");
    expect(await page.locator(".info .title").textContent()).toContain("Files");
    const groups = page.locator(".opblock-tag-section");
    await eventually(() => groups.locator(".opblock-tag a").allTextContents()).toEqual([
      "Files",
      "Folders",
      "Uploads",
      "Login",
      "Service",
    ]);
    expect(urls.filter((url) => !url.startsWith(site.origin) && !url.startsWith("data:"))).toEqual([]);
    expectNoComplaints();
  });

  it("has the calls on files before those that few will try, and the rest closed until it is asked for", async () => {
    const { page, site } = await openApiPage(chromium);
    const methods = page.locator(".opblock-tag-section").first().locator(".opblock-summary-method");
    await eventually(() => methods.allTextContents()).toEqual(["GET", "PUT", "POST", "DELETE", "HEAD"]);
    expect(await page.locator(".opblock-options").count()).toBe(0);
    await page.locator("#operations-tag-Service").click();
    await eventually(() => page.locator(".opblock-options").count()).toBeGreaterThan(5);
    await page.goto("about:blank");
    await page.goto(`${site.origin}/__svc__/openapi.html#/Service/getOpenApi`);
    await page.locator('.opblock.is-open[id$="-getOpenApi"]').waitFor();
  });

  it("logs in, tries calls on paths with slashes, and ends the session", async () => {
    const { page, site, urls, expectNoComplaints } = await openApiPage(chromium);
    await logInHere(page);
    await page.locator("#logout:focus").waitFor();
    const listing = await tryCall(page, "getFolderOfRoot", 200);
    expect(listing.request.url()).toBe(site.home);
    expect(fieldsOf(listing.request)).toEqual([]);
    const answer = listing.place.locator(".live-responses-table");
    await eventually(() => answer.textContent()).toContain('"name": "a.txt"');

    const bytes = Buffer.from([0, 255, 128, 13, 10, 0, 27]);
    const stored = await putFile(page, "reports/2018/naïve plan.txt", bytes);
    expect(stored.url()).toBe(`${site.home}reports/2018/na%C3%AFve%20plan.txt`);
    expect(stored.headers()).toMatchObject({ accept: "application/json", "content-type": "image/png" });
    expect(fieldsOf(stored)).toEqual([]);
    expect(await readFile(join(site.folder, "reports/2018/naïve plan.txt"))).toEqual(bytes);

    const file = await tryCall(page, "getFile", 200, "reports/2018/naïve plan.txt");
    expect(fieldsOf(file.request)).toEqual([]);

    // A path that leads out of the folder is refused, as the service does.
    await file.place.locator('tr[data-param-in="path"] input').fill("../__svc__/login");
    expect((await file.send()).url()).toBe(`${site.home}..%2F__svc__%2Flogin`);
    await eventually(file.status).toContain("400");

    expect(await page.content()).not.toMatch(/session [\da-f]{32}/);
    const ended = page.waitForResponse(/logout$/);
    await page.click("#logout");
    expect((await ended).status()).toBe(204);
    expect(await page.locator("#message").textContent()).toBe("You are logged out.");
    await page.locator("#username:focus").waitFor();
    await listing.send();
    await eventually(listing.status).toContain("401");
    expect(urls.filter((url) => !url.startsWith(site.origin) && !/^(?:data|blob):/.test(url))).toEqual([]);
    expectNoComplaints(/status of 40[01]/);
  });

  it("has examples that work as they are, in the order of a story, and touch nothing but what they have made", async () => {
    const { page, site, expectNoComplaints } = await openApiPage(chromium);
    await logInHere(page);
    await page.locator("#access").waitFor();
    for (const [name, status] of [
      ["createFolder", 201],
      ["putFile", 201],
      ["getFile", 200],
      ["getFolder", 200],
      ["changeFolder", 200],
    ] as const) {
      // An open call is rendered again with each of the next ones.
      await (await tryCall(page, name, status)).close();
    }
    expect(await site.list()).toEqual(expect.arrayContaining(["example/hello.txt", "example/example/"]));
    await (await tryCall(page, "deleteFile", 204)).close();
    await tryCall(page, "deleteFolder", 204);
    expect(await site.list()).toEqual(["a.txt", "reports/", "reports/2018/"]);
    expectNoComplaints();
  });

  it("sends what is typed and chosen: commands, forms and types", async () => {
    const { page, site, expectNoComplaints } = await openApiPage(chromium);
    await logInHere(page);
    await page.locator("#access").waitFor();
    const call = await openCall(page, "changeFolderOfRoot");
    await call.place.locator("textarea").fill('{ "commands": [{ "command": "delete", "target": "a.txt" }] }');
    await call.send();
    await eventually(() => site.list()).toEqual(["reports/", "reports/2018/"]);

    // A form as it is makes a folder.
    await call.place.locator(".opblock-section-request-body .content-type").selectOption("multipart/form-data");
    await call.send();
    await eventually(() => site.list()).toEqual(["example/", "reports/", "reports/2018/"]);

    await call.place.locator('tr[data-property-name="action"] select').selectOption("upload-file");
    const files = call.place.locator('tr[data-property-name="upload-file"]');
    await files.locator(".json-schema-form-item-add").click();
    await files
      .locator('input[type="file"]')
      .setInputFiles({ name: "b.txt", mimeType: "text/plain", buffer: Buffer.from("b") });
    await call.send();
    await eventually(() => site.list()).toEqual(["b.txt", "example/", "reports/", "reports/2018/"]);
    await eventually(call.status).toContain("200");

    const listing = await openCall(page, "getFolderOfRoot");
    await listing.place.locator('.response[data-code="200"] .content-type').selectOption("application/zip");
    const request = await listing.send();
    expect(request.headers().accept).toBe("application/zip");
    await eventually(listing.status).toContain("200");
    await eventually(() => listing.place.locator(".live-responses-table").textContent()).toContain("Download file");
    expectNoComplaints(/Could not find component: JsonSchema_string_binary/);
  });

  it("answers 401 without a login", async () => {
    const { page, site, expectNoComplaints } = await openApiPage(chromium);
    const { place } = await tryCall(page, "putFile", 401);
    await eventually(() => place.locator(".live-responses-table").textContent()).toContain('"errors"');
    expect(await site.list()).not.toContain("example/");
    expectNoComplaints(/status of 401/);
  });

  it("offers its login again when a call has ended the session", async () => {
    const { page, expectNoComplaints } = await openApiPage(chromium);
    await logInHere(page);
    await page.locator("#access").waitFor();
    await tryCall(page, "logOut", 204);
    await page.getByRole("status").filter({ hasText: "Your session has ended." }).waitFor();
    expect(await page.locator("#login").isVisible()).toBe(true);
    expectNoComplaints(/status of 401/);
  });

  it("asks for a one-time password if the account needs one", async () => {
    const accounts = [{ username: "alice", password: PASSWORD, totp: { secret: TOTP_SECRET } }];
    const authentication = createAccountsAuthenticator({ accounts, logger: createRecordingLogger() });
    const { page } = await openApiPage(chromium, { authentication });
    expect(await page.locator("#code").isVisible()).toBe(false);
    await logInHere(page);
    await page.getByRole("status").filter({ hasText: "This account also needs a one-time password." }).waitFor();
    await page.getByLabel("One-time password").fill(toOneTimePassword(Date.now()));
    await page.press("#code", "Enter");
    await page.locator("#logout").waitFor();
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
    await page.getByRole("status").filter({ hasText: "The network connection was lost." }).waitFor();
    expect(await page.locator("#login button").isEnabled()).toBe(true);
  });

  it("works by the session that the browser has, too", async () => {
    const site = await openSite({ files: FILES, apiPage: createApiPage() });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.goto(`${site.origin}/__svc__/openapi.html`);
    await page.locator("#login").waitFor();
    await putFile(page, "reports/b.txt", Buffer.from("b"));
    expect(await site.content("reports/b.txt")).toBe("b");
    expectNoComplaints();
  });

  it("has one way to log in, and the fonts and colours of the pages", async () => {
    const { page, expectNoComplaints } = await openApiPage(chromium, { branding: { accent: "#0b7a75" } });
    expect(await page.locator("input[type=password]").count()).toBe(1);
    expect(await page.locator(":is(.btn.authorize, .authorization__btn, .scheme-container):visible").count()).toBe(0);
    await openCall(page, "putFile");
    const styles = await page.evaluate(() => {
      const styleOf = (selector: string) => getComputedStyle(document.querySelector(selector) ?? document.body);
      return {
        fonts: [".opblock-tag", ".opblock-summary-method", ".btn.execute", "table"].map(
          (selector) => styleOf(`#viewer ${selector}`).fontFamily === styleOf("body").fontFamily,
        ),
        accents: [styleOf("#viewer .btn.execute").backgroundColor, styleOf("#viewer .info a").color],
        own: styleOf("#login button").backgroundColor,
      };
    });
    expect(styles.fonts).toEqual([true, true, true, true]);
    expect(styles.accents).toEqual([styles.own, styles.own]);
    expectNoComplaints();
  });

  it("stands below the base path (CONTRACT 2.7)", async () => {
    const { page, site, expectNoComplaints } = await openApiPage(chromium, { basePath: "/files" });
    await logInHere(page);
    await page.locator("#access").waitFor();
    await putFile(page, "reports/2018/x.txt", Buffer.from("x"));
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
    await expectAccessible(page, "login", VIEWER);
    await logInHere(page, "wrong");
    await page.locator("#message.problem").waitFor();
    await expectAccessible(page, "login with a message", VIEWER);
    await logInHere(page);
    await page.locator("#access").waitFor();
    await expectAccessible(page, "logged in", VIEWER);
  });

  it("fits a phone", async () => {
    const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
    const { page } = await openApiPage(chromium, {}, phone);
    await expectAccessible(page, "login", VIEWER);
    for (const name of ["putFile", "getFolder", "changeFolder"]) {
      const { place } = await openCall(page, name);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBe(360);
      expect(await place.locator(".folded-headers").first().locator("table").isVisible(), name).toBe(false);
    }
  });

  it("says that it needs JavaScript", async () => {
    const site = await openSite({ apiPage: createApiPage() });
    const { page } = await chromium.open({ javaScriptEnabled: false });
    await page.goto(`${site.origin}/__svc__/openapi.html`);
    expect(await page.locator("noscript").textContent()).toContain("This page needs JavaScript.");
    expect(await page.locator("#login").isVisible()).toBe(false);
  });
});
