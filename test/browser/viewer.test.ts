import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { expectAccessible } from "./axe.ts";
import { describeInWholeChromium, eventually } from "./chromium.ts";
import { PDF, recordVideo, toPng, toWav } from "./media.ts";
import { chooseAction, closeViewer, logIn, openSite, rowOf } from "./site.ts";

const FILES = {
  "a.png": toPng(1200, 900),
  "b.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30"/></svg>',
  "c.wav": toWav(60),
  "d.txt": "First line\n<b>bold</b>\n",
  "e.pdf": PDF,
  "f.zip": "x",
  "g.png": "<script>ran()</script>",
  "reports/": "",
};

const link = (page: Page, name: string) => rowOf(page, name).locator("th a");
const title = async (page: Page) => (await page.locator(".viewer-title > *").allTextContents()).join(", ");

describeInWholeChromium("the viewer", (chromium) => {
  it("shows the files of a folder one after the other by the keyboard alone, and gives the focus back", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(new URL(request.url()).pathname));
    await logIn(page, site);
    expect(requests.filter((path) => path.includes("viewer-"))).toEqual([]);
    await link(page, "a.png").press("Enter");
    await eventually(() => title(page)).toBe("a.png, 1 of 6");
    await eventually(() => page.locator(".viewer img").evaluate((image) => image.clientWidth)).toBeGreaterThan(300);
    await expectAccessible(page, "image");
    await page.keyboard.press("ArrowRight");
    await eventually(() => title(page)).toBe("b.svg, 2 of 6");
    await eventually(() => page.locator(".viewer img").evaluate((image) => image.clientWidth)).toBe(40);
    await page.keyboard.press("ArrowRight");
    await eventually(() => title(page)).toBe("c.wav, 3 of 6");
    await eventually(() => page.locator("audio").evaluate((audio) => (audio as HTMLAudioElement).duration)).toBe(60);
    await expectAccessible(page, "audio");
    await page.keyboard.press("ArrowRight");
    await page.getByText("<b>bold</b>").waitFor();
    await expectAccessible(page, "text");
    await page.keyboard.press("ArrowRight");
    expect(await page.getByRole("link", { name: "Open in a new tab" }).getAttribute("href")).toMatch(/e\.pdf\?inline$/);
    await expectAccessible(page, "PDF");
    await page.keyboard.press("ArrowRight");
    await page.getByText("This file cannot be shown here. You can download it.").waitFor();
    await eventually(() => title(page)).toBe("g.png, 6 of 6");
    await eventually(() => page.locator(".viewer output:visible").allTextContents()).not.toContain("0%");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page.getByText("<b>bold</b>").waitFor();
    await page.keyboard.press("Escape");
    await eventually(() => page.locator("dialog").count()).toBe(0);
    await eventually(() => link(page, "d.txt").evaluate((target) => target === document.activeElement)).toBe(true);
    expectNoComplaints();
  });

  it.each([
    ["a.png", "the session has ended", 401, /^Your session has ended\. Log in again/],
    ["c.wav", "the session has ended", 401, /^Your session has ended\. Log in again/],
    ["d.txt", "the session has ended", 401, /^Your session has ended\. Log in again/],
    ["a.png", "the file is not there any more", 404, /does not exist|not found|no file/i],
    ["c.wav", "the service does not respond", 0, /^The network connection was lost\.$/],
  ])("says of %s why it is not shown when %s", async (name, _reason, status, message) => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    if (status === 401) site.advance(13 * 3600);
    if (status === 404) await rm(join(site.folder, name));
    if (status === 0) await page.route(`**/${name}?inline`, (route) => route.abort());
    await link(page, name).press("Enter");
    const alert = page.locator(".viewer").getByRole("alert");
    await eventually(() => alert.textContent()).toMatch(message);
    expect(await alert.getByRole("link").count()).toBe(status === 401 ? 1 : 0);
    expectNoComplaints(/status of 40[14]|net::ERR/);
  });

  it("does not blame the network when its script is not there, and takes that back", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const url = await page.evaluate(() => {
      const { dataset } = document.querySelector("main") as HTMLElement;
      const present = dataset.viewer ?? "";
      dataset.viewer = present.replace(/viewer-.{4}/, "viewer-0000");
      return present;
    });
    await link(page, "d.txt").press("Enter");
    const alert = page.getByRole("alert");
    await eventually(() => alert.allTextContents()).toEqual(["This file cannot be shown here. You can download it."]);
    await page.evaluate((present) => {
      const main = document.querySelector("main");
      if (main !== null) main.dataset.viewer = present;
    }, url);
    await link(page, "d.txt").press("Enter");
    await page.getByText("<b>bold</b>").waitFor();
    await eventually(() => page.locator(".notice.problem:visible").count()).toBe(0);
    expectNoComplaints(/status of 404/);
  });

  it("opens once for two clicks, and closes when the user goes back", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await link(page, "d.txt").dblclick();
    await page.getByText("<b>bold</b>").waitFor();
    await link(page, "d.txt").dispatchEvent("click");
    await page.keyboard.press("ArrowRight");
    expect(await page.locator("dialog").count()).toBe(1);
    await page.goBack();
    await eventually(() => page.locator("dialog").count()).toBe(0);
    expect(page.url()).toBe(site.home);
    await link(page, "d.txt").click();
    await page.getByText("<b>bold</b>").waitFor();
    await closeViewer(page);
    await rowOf(page, "reports").locator("th a").click();
    await page.waitForURL(`${site.home}reports/`);
    await page.goBack();
    await rowOf(page, "d.txt").waitFor();
    expectNoComplaints();
  });

  it("plays a video, and jumps in it by ranges", async () => {
    const site = await openSite({ files: { "z.txt": "x" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const statuses: number[] = [];
    page.on("response", (answer) => {
      if (answer.url().endsWith("a.webm?inline")) statuses.push(answer.status());
    });
    await writeFile(join(site.folder, "a.webm"), await recordVideo(page));
    await page.reload();
    await link(page, "a.webm").click();
    const video = page.locator(".viewer video");
    await eventually(() => video.evaluate((shown) => (shown as HTMLVideoElement).videoWidth)).toBe(64);
    await video.evaluate((shown) => (shown as HTMLVideoElement).play());
    await eventually(() => video.evaluate((shown) => (shown as HTMLVideoElement).currentTime)).toBeGreaterThan(0.2);
    expect(new Set(statuses)).toEqual(new Set([206]));
    await expectAccessible(page, "video");
    // Arrows move the time of a video that has the focus.
    await video.focus();
    await page.keyboard.press("ArrowRight");
    await eventually(() => title(page)).toBe("a.webm, 1 of 2");
    expectNoComplaints();
  });

  it("zooms images, whose arrows move them then", async () => {
    const site = await openSite({ files: { "a.png": toPng(1200, 900), "b.png": toPng(30, 20) } });
    const { page, expectNoComplaints } = await chromium.open({ viewport: { width: 600, height: 500 } });
    await logIn(page, site);
    await link(page, "a.png").click();
    const width = () => page.locator(".viewer img").evaluate((image) => image.clientWidth);
    const scrolled = () => page.locator(".viewer-stage").evaluate((stage) => stage.scrollLeft);
    await eventually(width).toBeGreaterThan(200);
    await eventually(() => page.locator(".viewer output").textContent()).toMatch(/[1-9]/);
    const fitted = await width();
    expect(fitted).toBeLessThan(600);
    await page.getByRole("button", { name: "Actual size" }).click();
    expect(await width()).toBe(1200);
    await eventually(() => page.locator(".viewer output").textContent()).toBe("100%");
    await expectAccessible(page, "zoomed");
    const middle = await scrolled();
    expect(middle).toBeGreaterThan(200);
    await page.locator(".viewer-stage").focus();
    await page.keyboard.press("ArrowRight");
    await eventually(scrolled).toBeGreaterThan(middle);
    await eventually(() => title(page)).toBe("a.png, 1 of 2");
    await page.keyboard.press("+");
    expect(await width()).toBe(1800);
    await page.keyboard.press("-");
    await page.keyboard.press("-");
    expect(await width()).toBe(800);
    await page.keyboard.press("0");
    expect(await width()).toBe(fitted);
    await page.keyboard.press("+");
    expect(await width()).toBeGreaterThan(fitted);
    await page.getByRole("button", { name: "Fit to the window" }).click();
    expect(await width()).toBe(fitted);
    await page.getByRole("button", { name: "Next" }).click();
    await eventually(() => title(page)).toBe("b.png, 2 of 2");
    // The button that has come to the end gives the keys back.
    await page.keyboard.press("ArrowLeft");
    await eventually(() => title(page)).toBe("a.png, 1 of 2");
    expectNoComplaints();
  });

  it.each(["light", "dark"] as const)(
    "is in German on a phone, and needs no sideways scrolling, %s",
    async (colorScheme) => {
      const name = `${"Ein langer Name ".repeat(9)}.png`;
      const site = await openSite({ files: { [name]: toPng(1200, 900), "z.txt": "x".repeat(2000) } });
      for (const width of [320, 390]) {
        const phone = { viewport: { width, height: 700 }, isMobile: true, hasTouch: true };
        const { page, expectNoComplaints } = await chromium.open({ locale: "de-DE", colorScheme, ...phone });
        await logIn(page, site);
        await link(page, name).tap();
        await eventually(() => title(page)).toContain("1 von 2");
        await page.getByRole("button", { name: "Vergrößern" }).waitFor();
        await expectAccessible(page, "image");
        for (const button of await page.locator(".viewer").getByRole("button").all()) {
          const box = await button.boundingBox();
          expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(width);
          expect(box?.y).toBeLessThan(700);
        }
        await page.getByRole("button", { name: "Weiter" }).tap();
        await page.getByText("xxx").waitFor();
        expect(await page.locator(".viewer-stage").evaluate((stage) => stage.scrollWidth)).toBeLessThanOrEqual(width);
        await page.getByRole("button", { name: "Schließen" }).tap();
        await page.locator("dialog").waitFor({ state: "detached" });
        expectNoComplaints();
      }
    },
  );

  it("reads the first 256 KiB of a text, and tells of what it cannot read", async () => {
    const site = await openSite({
      files: {
        "a.log": "é".repeat(200_000),
        "b.txt": "",
        "c.txt": "nul\0",
        "d.txt": Buffer.from("caf\xe9", "latin1"),
        "e.txt": "gone",
      },
    });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const sizes: number[] = [];
    page.on("response", (answer) => {
      if (answer.url().includes(".log")) sizes.push(Number(answer.headers()["content-length"]));
    });
    await link(page, "a.log").click();
    await page.getByText("Only the first 262 kB are shown.").waitFor();
    expect(await page.locator("pre").evaluate((text) => text.textContent?.length)).toBe(131_072);
    expect(sizes).toEqual([262_144]);
    await page.keyboard.press("ArrowRight");
    await page.getByText("This file is empty.").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByText("This file cannot be shown here.").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByText("café").waitFor();
    await page.route("**/e.txt?inline", (route) => route.fulfill({ status: 404, body: "{}" }));
    await page.keyboard.press("ArrowRight");
    await page.getByText("The server rejected the request (status 404).").waitFor();
    expectNoComplaints(/status of (?:404|416)/);
  });

  it("follows what the filter shows, and is next to the download in the menu of a row", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const saving = page.waitForEvent("download");
    await chooseAction(page, "d.txt", "Download");
    expect(await readFile(await (await saving).path(), "utf8")).toBe(FILES["d.txt"]);
    await page.getByRole("searchbox", { name: "Filter" }).fill("png");
    await chooseAction(page, "g.png", "Open");
    await eventually(() => title(page)).toBe("g.png, 2 of 2");
    const viewed = page.waitForEvent("download");
    await page.getByRole("dialog").getByRole("link", { name: "Download" }).click();
    expect((await viewed).suggestedFilename()).toBe("g.png");
    await closeViewer(page);
    await page.getByRole("searchbox", { name: "Filter" }).fill("zip");
    const other = page.waitForEvent("download");
    await link(page, "f.zip").click();
    expect((await other).suggestedFilename()).toBe("f.zip");
    expectNoComplaints();
  });

  it("opens a PDF in a tab of its own", async () => {
    const site = await openSite({ files: FILES });
    const { page, context, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const opening = context.waitForEvent("page");
    await link(page, "e.pdf").click();
    await eventually(async () => (await opening).url()).toBe(`${site.home}e.pdf?inline`);
    await eventually(() => page.locator("dialog").count()).toBe(0);
    expectNoComplaints();
  });

  it("is a link to a page of its own without a script", async () => {
    const site = await openSite({ files: FILES });
    const { page, context } = await chromium.open({ javaScriptEnabled: false });
    await logIn(page, site);
    await page.goto(`${site.home}?member=b.svg`);
    expect(await page.locator(".properties a").allTextContents()).toEqual(["Download"]);
    await page.goto(`${site.home}?member=d.txt`);
    const opening = context.waitForEvent("page");
    await page.locator(".properties a", { hasText: "Open" }).click();
    await (await opening).getByText("<b>bold</b>").waitFor();
  });

  it("is there below a link, unless each download counts", async () => {
    const links = { secret: "a secret of the tests, 32 characters or more", store: createMemoryKeyValueStore() };
    const site = await openSite({ files: { "in/a.png": toPng(30, 20), "in/b.txt": "text" }, links });
    const open = async (maxUses?: number) => {
      const made = await site.links.create({ username: "alice", path: "/in", ...(maxUses && { maxUses }) });
      const { page, expectNoComplaints } = await chromium.open();
      await page.goto(site.origin + made.urlPath);
      return { page, expectNoComplaints };
    };
    const { page, expectNoComplaints } = await open();
    await link(page, "a.png").click();
    await eventually(() => page.locator(".viewer img").evaluate((image) => image.clientWidth)).toBe(30);
    await page.keyboard.press("ArrowRight");
    await page.locator("pre", { hasText: "text" }).waitFor();
    expectNoComplaints();
    const counted = await open(2);
    const saving = counted.page.waitForEvent("download");
    await link(counted.page, "b.txt").click();
    expect((await saving).suggestedFilename()).toBe("b.txt");
    const file = await site.links.create({ username: "alice", path: "/in/b.txt" });
    await page.goto(site.origin + file.urlPath);
    expect(await page.getByRole("link", { name: "Open" }).getAttribute("href")).toBe("./b.txt?inline");
    await expectAccessible(page, "link to a file");
  });
});
