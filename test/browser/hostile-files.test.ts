import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInWholeChromium } from "./chromium.ts";
import { closeViewer, logIn, openSite, rowOf } from "./site.ts";

/** What a script would do: it changes the title, which the tests read, and calls home. */
const CODE = "document.title='RAN';try{parent.document.title='RAN'}catch{};fetch('/home/?ran')";
const HTML = `<!doctype html><title>x</title><script>${CODE}</script><img src=x onerror="${CODE}">`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" onload="${CODE}"><script>${CODE}</script><image href="/home/?ran"/><foreignObject width="40" height="30"><body xmlns="http://www.w3.org/1999/xhtml"><iframe src="javascript:${CODE}"></iframe></body></foreignObject></svg>`;
/** An image of one pixel whose first bytes begin a script, too. */
const GIF_SCRIPT = `GIF89a/*\0\0\0\0*/=1;${CODE}`;
const PDF_HTML = `%PDF-1.4\n${HTML}`;

const FILES = {
  "html.png": HTML,
  "html.jpg": HTML,
  "html.txt": HTML,
  "html.html": HTML,
  "html.mp4": HTML,
  "html.mp3": HTML,
  "html.webp": HTML,
  "polyglot.gif": GIF_SCRIPT,
  "polyglot.pdf": PDF_HTML,
  "script.js": CODE,
  "script.txt": CODE,
  "sheet.css": "body { display: none }",
  "evil.svg": SVG,
  "svg.png": SVG,
  "svg.xml": SVG,
  "page.xhtml": `<html xmlns="http://www.w3.org/1999/xhtml"><script>${CODE}</script></html>`,
};

describeInWholeChromium("hostile files", (chromium) => {
  /** Fails if a script of a file has run: it would have set a title, or asked for a URL. */
  async function expectNothingRan(pages: readonly Page[], requests: readonly string[], what: string): Promise<void> {
    for (const page of pages) expect(await page.title(), what).not.toBe("RAN");
    expect(
      requests.filter((url) => url.includes("?ran")),
      what,
    ).toEqual([]);
  }

  it("have names with a direction of their own, that begin at their icon", async () => {
    const names = ["\u202egpj.exe", "\u2067right.txt", "שלום.txt", "plain.txt"];
    const site = await openSite({ files: Object.fromEntries(names.map((name) => [name, "x"])) });
    const { page } = await chromium.open();
    await logIn(page, site);
    for (const name of names) {
      const link = rowOf(page, name).locator("th a");
      expect(await link.evaluate((one) => getComputedStyle(one).unicodeBidi)).toBe("plaintext");
      const distance = await link.evaluate((one) => {
        const text = document.createRange();
        text.selectNodeContents(one);
        return text.getBoundingClientRect().left - one.getBoundingClientRect().left;
      });
      expect(Math.round(distance), name).toBe(32);
    }
  });

  it("run nothing when they are opened as pages, with a session", async () => {
    const site = await openSite({ files: FILES });
    const { page, context } = await chromium.open();
    const requests: string[] = [];
    context.on("request", (request) => requests.push(request.url()));
    await logIn(page, site);
    for (const name of Object.keys(FILES)) {
      for (const query of ["?inline", ""]) {
        const tab = await context.newPage();
        const isSaved = await tab.goto(`${site.home}${name}${query}`).then(
          () => false,
          (error: Error) => error.message.includes("Download is starting") || error.message.includes("ERR_ABORTED"),
        );
        // What is not for display is saved, as every SVG, and has no page that a script could run in.
        expect([name, query, isSaved]).toEqual([name, query, query === "" || name === "evil.svg"]);
        await tab.waitForTimeout(100);
        await expectNothingRan([tab], requests, name + query);
        await tab.close();
      }
    }
  });

  it("run nothing when a page of the service embeds them", async () => {
    const site = await openSite({ files: FILES });
    const { page, context } = await chromium.open();
    const requests: string[] = [];
    context.on("request", (request) => requests.push(request.url()));
    await logIn(page, site);
    const before = await page.title();
    await page.evaluate(async (names) => {
      const settled = names.flatMap((name) =>
        ["img", "video", "audio", "script", "link", "iframe", "object", "embed"].map((tag) => {
          const made = document.createElement(tag);
          const isLink = tag === "link";
          if (isLink) made.setAttribute("rel", "stylesheet");
          made.setAttribute(isLink ? "href" : tag === "object" ? "data" : "src", `./${name}?inline`);
          const ended = new Promise((resolve) => {
            for (const type of ["load", "error", "loadeddata"]) made.addEventListener(type, resolve);
            setTimeout(resolve, 1500);
          });
          document.body.append(made);
          return ended;
        }),
      );
      await Promise.all(settled);
      for (const name of names) {
        const script = document.createElement("script");
        script.type = "module";
        script.src = `./${name}?inline`;
        document.body.append(script);
      }
      await Promise.all(names.map((name) => navigator.serviceWorker.register(`./${name}?inline`).catch(() => 0)));
      for (const name of names) new Worker(`./${name}?inline`).onerror = (event) => event.preventDefault();
    }, Object.keys(FILES));
    await page.waitForTimeout(500);
    expect(await page.title()).toBe(before);
    expect(await page.evaluate(() => navigator.serviceWorker.getRegistrations().then(({ length }) => length))).toBe(0);
    expect(await page.locator("body").evaluate((body) => getComputedStyle(body).display)).not.toBe("none");
    await expectNothingRan([page], requests, "embedded");
  });

  it("run nothing in the viewer, which shows an SVG as an image and markup as text", async () => {
    const site = await openSite({ files: FILES });
    const { page, context } = await chromium.open();
    const requests: string[] = [];
    context.on("request", (request) => requests.push(request.url()));
    await logIn(page, site);
    const before = await page.title();
    await rowOf(page, "evil.svg").locator("th a").click();
    await page.waitForFunction(() => document.querySelector<HTMLImageElement>(".viewer img")?.naturalWidth === 40);
    await closeViewer(page);
    await rowOf(page, "html.html").locator("th a").click();
    await page.locator("pre", { hasText: "<script>" }).waitFor();
    const count = Object.keys(FILES).length;
    for (let step = 0; step < count; step += 1) {
      await page.keyboard.press("ArrowRight");
      await page.waitForTimeout(100);
    }
    expect(await page.title()).toBe(before);
    await expectNothingRan([page], requests, "viewer");
  });

  it("are in no frame, not even of another page of the same host", async () => {
    const site = await openSite({ files: { "a.pdf": PDF_HTML, "a.txt": "text" } });
    const { page, complaints } = await chromium.open();
    await logIn(page, site);
    await page.route("**/outside", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: '<iframe src="/home/a.txt?inline"></iframe><iframe src="/home/a.pdf?inline"></iframe>',
      }),
    );
    await page.goto(`${site.origin}/outside`);
    await page.waitForTimeout(500);
    const framed = complaints.filter((text) => text.includes("frame-ancestors"));
    expect(framed.length).toBeGreaterThanOrEqual(1);
    expect(page.frames().map((frame) => frame.url())).not.toContain(`${site.home}a.txt?inline`);
  });
});
