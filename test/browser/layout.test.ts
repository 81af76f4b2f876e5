import type { ServerResponse } from "node:http";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { createApiPage } from "../../src/api-page.ts";
import { describeInChromium, eventually } from "./chromium.ts";
import { dropFiles, logIn, openFullSite, openSite, rowOf, transferOf } from "./site.ts";

const NARROW = { viewport: { width: 320, height: 640 } };
const MANY = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`file ${10_000 + index}.txt`, ""]));

describeInChromium("the layout of pages", (chromium) => {
  it("keeps the bar of a selection in sight at the end of a long folder", async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`file ${index}.txt`, ""]));
    const site = await openSite({ files });
    const { page, expectNoComplaints } = await chromium.open({ viewport: { width: 1280, height: 800 } });
    await logIn(page, site);
    await page.locator("tbody input").first().check();
    for (const end of [0, 1_000_000]) {
      await page.evaluate((top) => scrollTo(0, top), end);
      const { top, bottom } = await page.locator("#members .selected").evaluate((bar) => {
        const { top, bottom } = bar.getBoundingClientRect();
        return { top, bottom: innerHeight - bottom };
      });
      expect(Math.min(top, bottom)).toBeGreaterThanOrEqual(0);
    }
    expect(await page.getByRole("button", { name: "Delete", exact: true }).isVisible()).toBe(true);
    expectNoComplaints();
  });

  it("has no speed and no remaining time for an upload that takes less than a second", async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const seen = await page.evaluateHandle(() => {
      const texts = new Set<string>();
      const read = () => texts.add(document.querySelector(".transfers-summary")?.textContent ?? "");
      new MutationObserver(read).observe(document.body, { childList: true, subtree: true, characterData: true });
      return texts;
    });
    await dropFiles(page, [{ name: "a.txt", content: "a".repeat(100_000) }]);
    await eventually(() => transferOf(page, "a.txt").getAttribute("data-state")).toBe("done");
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("1 of 1 uploaded");
    expect(await seen.evaluate((texts) => [...texts].filter((text) => /\/s|left/.test(text)))).toEqual([]);
    expectNoComplaints();
  });

  it.each([
    ["a folder to read", {}],
    ["a drop folder", { permissions: ["allow-write", "allow-create-folder"], askName: true }],
    [
      "a folder with all rights",
      { permissions: ["allow-list", "allow-read", "allow-write", "allow-create-folder", "allow-delete-file"] },
    ],
    ["a folder with a password", { password: "a password of the link" }],
    ["a file", { path: "/inbox/a.txt" }],
  ] as const)(
    "has no scroll bar across at 320 px for visitors of %s, also with each menu open",
    async (_case, link) => {
      const site = await openFullSite({ files: { "inbox/a.txt": "a", [`inbox/${"long name ".repeat(9)}.txt`]: "b" } });
      const { page, expectNoComplaints } = await chromium.open(NARROW);
      const { urlPath } = await site.links.create({ username: "alice", path: "/inbox", ...link });
      await page.goto(site.origin + urlPath);
      await page.locator("h1").waitFor();
      await expectNarrow(page);
      expectNoComplaints(/status of 401/);
    },
  );

  it("has no scroll bar across at 320 px on the page of the API and in a folder, also with each menu open", async () => {
    const site = await openSite({ files: { "a.txt": "a" }, hasTrash: true, apiPage: createApiPage() });
    const { page, expectNoComplaints } = await chromium.open(NARROW);
    await page.goto(`${site.origin}/__svc__/openapi.html`);
    await page.locator("#login").waitFor();
    await expectNarrow(page);
    await logIn(page, site);
    await page.locator("#select-all").check();
    await expectNarrow(page);
    expectNoComplaints();
  });

  it("shows the first of 5,000 rows before the others arrive, which move nothing", { timeout: 120_000 }, async () => {
    const site = await openSite({ files: MANY });
    const { page, expectNoComplaints } = await chromium.open({ viewport: { width: 1280, height: 800 } });
    await logIn(page, site);
    const release = holdRest(site.server, 200_000);
    await page.addInitScript(() => {
      const shifts: number[] = [];
      Object.assign(globalThis, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
      }).observe({ type: "layout-shift", buffered: true });
    });
    await page.goto(site.home, { waitUntil: "commit" });
    const first = rowOf(page, "file 10000.txt").locator("th a");
    await first.waitFor();
    // What is there stays clickable while the rest is held back.
    await first.click({ trial: true });
    expect(await page.evaluate(() => document.readyState)).toBe("loading");
    expect(await page.locator("tbody tr").count()).toBeLessThan(5000);
    const download = page.waitForEvent("download");
    await first.evaluate((link: HTMLAnchorElement) => link.setAttribute("download", ""));
    await first.click();
    expect((await download).suggestedFilename()).toBe("file 10000.txt");
    release();
    await page.waitForLoadState("load");
    await eventually(() => page.locator("tbody tr").count()).toBe(5000);
    await eventually(() => page.locator("#members .selected").isHidden()).toBe(true);
    const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: number[] }).shifts);
    expect(shifts.reduce((sum, value) => sum + value, 0)).toBeLessThan(0.01);
    expectNoComplaints();
  });
});

/** Opens each menu of a page in turn. */
async function expectNarrow(page: Page): Promise<void> {
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  expect(await width()).toBeLessThanOrEqual(320);
  const menus = page.locator("details.menu:not([data-flat]) > summary:visible");
  for (const menu of await menus.all()) {
    await menu.click();
    expect(await width(), (await menu.textContent()) ?? "").toBeLessThanOrEqual(320);
    await menu.click();
  }
  const more = page.locator("td.more a");
  if ((await more.count()) > 0) {
    await more.first().click();
    await page.getByRole("menu").waitFor();
    expect(await width()).toBeLessThanOrEqual(320);
    await page.keyboard.press("Escape");
  }
}

/** Holds back what the next response to a folder has after some bytes, until the returned function is called. */
function holdRest(
  server: { prependListener: (type: "request", listener: Hold) => unknown },
  bytes: number,
): () => void {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  server.prependListener("request", ({ url }, response) => {
    if (url !== "/home/") return;
    let sent = 0;
    const write = response.write.bind(response) as (...about: unknown[]) => boolean;
    const end = response.end.bind(response) as (...about: unknown[]) => ServerResponse;
    const after = (act: () => void): void => void released.then(act);
    response.write = ((...about: unknown[]) => {
      const isHeld = sent > bytes;
      sent += (about[0] as Uint8Array).length;
      if (!isHeld) return write(...about);
      after(() => write(...about));
      return true;
    }) as typeof response.write;
    response.end = ((...about: unknown[]) => {
      after(() => end(...about));
      return response;
    }) as typeof response.end;
  });
  return () => release();
}

type Hold = (request: { readonly url?: string | undefined }, response: ServerResponse) => void;
