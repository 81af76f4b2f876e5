import { mkdir, mkdtemp, open, rename, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createQuotaStorage } from "../../src/storage/quota.ts";
import { describeInChromium, eventually } from "./chromium.ts";
import {
  chooseAction,
  dropFiles,
  dropFromDisk,
  logIn,
  openFullSite,
  openSite,
  PASSWORD,
  rowOf,
  type Site,
  transferOf,
} from "./site.ts";

const MIB = 1024 ** 2;

describeInChromium("uploads with JavaScript", (chromium) => {
  it("shows how far 200 MiB are, and cancels them without a trace", async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const path = await makeFile("big.bin", 200 * MIB);
    const session = await page.context().newCDPSession(page);
    const setSpeed = (uploadThroughput: number) =>
      session.send("Network.emulateNetworkConditions", {
        ...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput },
      });
    await setSpeed(30 * MIB);

    await page.setInputFiles("#upload-file", path);
    const transfer = transferOf(page, "big.bin");
    const progress = transfer.locator("progress");
    await eventually(() => progress.evaluate((bar: HTMLProgressElement) => bar.value)).toBeGreaterThan(0.2);
    await eventually(() => transfer.textContent()).toMatch(/[2-9]\d %/);
    const summary = page.locator(".transfers-summary");
    await eventually(() => summary.textContent()).toMatch(/0 of 1 uploaded · [\d.]+ MB\/s, \d+ sec left/);
    expect((await site.list()).length).toBeGreaterThan(0);
    await transfer.getByRole("button", { name: "Cancel: big.bin" }).click();
    await eventually(() => transfer.getAttribute("data-state")).toBe("cancelled");
    await eventually(() => site.list()).toEqual([]);

    await setSpeed(-1);
    await transfer.getByRole("button", { name: "Retry: big.bin" }).click();
    await eventually(() => transfer.getAttribute("data-state"), 60_000).toBe("done");
    await eventually(() => site.list()).toEqual(["big.bin"]);
    await eventually(() => rowOf(page, "big.bin").count()).toBe(1);
    expectNoComplaints();
  });

  it("says how many files it sends, without those that it sends already", async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const session = await page.context().newCDPSession(page);
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: MIB };
    await session.send("Network.emulateNetworkConditions", slow);
    const big = await makeFile("big.bin", 15 * MIB);
    const announced = () => page.locator(".announcer").textContent();
    await page.setInputFiles("#upload-file", big);
    await eventually(announced).toBe("Uploading files: 1");
    await page.setInputFiles("#upload-file", [big, await makeFile("a.bin", 1), await makeFile("b.bin", 1)]);
    await eventually(announced).toBe("Uploading files: 2");
    expect(await page.locator(".transfer").count()).toBe(3);
    await transferOf(page, "big.bin").getByRole("button", { name: "Cancel: big.bin" }).click();
    await eventually(() => site.list()).toEqual(["a.bin", "b.bin"]);
    expectNoComplaints();
  });

  it("takes 20 files in one drop, up to three at a time, without leaving the page", async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await mark(page);
    const most = countAtOnce(site);
    const files = Array.from({ length: 20 }, (_, index) => ({ name: `${index}.txt`, content: `content ${index}` }));
    await dropFiles(page, files);
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("20 of 20 uploaded");
    await eventually(() => page.locator("tr[data-name]").count()).toBe(20);
    expect((await site.list()).length).toBe(20);
    expect(await site.content("19.txt")).toBe("content 19");
    expect(most()).toBeLessThanOrEqual(3);
    expect(most()).toBeGreaterThan(1);
    expect(await isMarked(page)).toBe(true);
    expectNoComplaints();
  });

  it("makes room for what it shows at once: members stay where they are while somebody presses them", async () => {
    const site = await openSite({ files: { "a.txt": "a" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const refreshed = await page.evaluateHandle(() => {
      const seen = { top: -1 };
      addEventListener("members-replaced", () => {
        seen.top = document.querySelector('tr[data-name="a.txt"]')?.getBoundingClientRect().top ?? -1;
      });
      return seen;
    });
    await dropFiles(
      page,
      ["x", "y", "z"].map((name) => ({ name: `${name}.txt`, content: name })),
    );
    await eventually(() => page.locator('.transfer[data-state="done"]').count()).toBe(3);
    await rowOf(page, "z.txt").waitFor();
    const { top } = await refreshed.jsonValue();
    expect(await rowOf(page, "a.txt").evaluate((row) => row.getBoundingClientRect().top)).toBe(top);
    expectNoComplaints();
  });

  it("shows what is used of the quota, also after an upload", async () => {
    const storage = createQuotaStorage(createMemoryStorage());
    const groups = { DEFAULT_GROUP: { quota_bytes: 1000 } };
    const site = await openSite({ storage, quota: storage.quota, groups });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    expect(await page.locator("#quota-bytes").textContent()).toBe("0 bytes of 1 kB used, 1 kB free");
    await dropFiles(page, [{ name: "a.txt", content: "a".repeat(400) }]);
    await eventually(() => page.locator("#quota-bytes").textContent()).toBe("400 bytes of 1 kB used, 600 bytes free");
    expect(await page.locator("meter").evaluate((meter: HTMLMeterElement) => [meter.value, meter.max])).toEqual([
      400, 1000,
    ]);
    expectNoComplaints();
  });

  it("takes a dropped folder with everything in it, empty folders too", async () => {
    const site = await openSite({ files: { "photos/2019/": "" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const folder = await makeTree();
    await dropFromDisk(page, [join(folder, "photos"), join(folder, "single.txt")]);
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("4 of 4 uploaded");
    expect(await site.list()).toEqual(TREE);
    expect(await site.content("photos/2020/a #1?.txt")).toBe("a");
    await eventually(() => rowOf(page, "single.txt").count()).toBe(1);
    expectNoComplaints();
  });

  it("goes on behind a file and a folder that cannot be read, and counts them as failed", async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    // As when they are taken away between the drop and the reading.
    await page.evaluate(() => {
      const { webkitGetAsEntry } = DataTransferItem.prototype;
      DataTransferItem.prototype.webkitGetAsEntry = function () {
        const entry = webkitGetAsEntry.call(this);
        if (entry === null || entry.name === "other.txt") return entry;
        const { name, isDirectory } = entry;
        const fail = (_take: unknown, refuse: (error: unknown) => void) => refuse(new DOMException("gone"));
        const unreadable = { name, isDirectory, file: fail, createReader: () => ({ readEntries: fail }) };
        return unreadable as unknown as FileSystemEntry;
      };
    });
    const folder = await makeTree();
    const other = join(await makeTree(), "single.txt");
    await rename(other, join(folder, "other.txt"));
    await dropFromDisk(page, [join(folder, "photos"), join(folder, "single.txt"), join(folder, "other.txt")]);
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("1 of 3 uploaded · 2 failed");
    for (const name of ["photos", "single.txt"]) {
      expect(await transferOf(page, name).textContent()).toContain("The file or folder cannot be read on this device.");
    }
    expect(await site.list()).toContain("other.txt");
    expectNoComplaints();
  });

  it("takes a folder from those who choose it", async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const chooser = page.waitForEvent("filechooser");
    await page.locator("#send > summary").click();
    await page.getByRole("button", { name: "Choose a folder" }).click();
    await (await chooser).setFiles(join(await makeTree(), "photos"));
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("3 of 3 uploaded");
    expect(await site.list()).toEqual(TREE.filter((path) => !/single|empty|2019/.test(path)));
    expectNoComplaints();
  });

  it("shows names with markup, quotes and emoji as they are", async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const names = [
      "<script>alert(1)<.txt",
      "<img src=x onerror=alert(1)>",
      `"double" and 'single'.txt`,
      "🦭 seal – 100% ünïcödé.txt",
      "שלום.txt",
      "a&amp;b.txt",
      "{name} {count}.txt",
    ];
    await dropFiles(
      page,
      names.map((name) => ({ name, content: name })),
    );
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("7 of 7 uploaded");
    expect(await site.list()).toEqual([...names].sort());
    expect(await page.locator(".transfer-name").allTextContents()).toEqual(names);
    await eventually(() => page.locator("tr[data-name]").count()).toBe(7);
    // The panel lies over the last rows until it is folded.
    await page.getByRole("button", { name: /^Uploads/ }).click();
    for (const name of names) {
      const download = page.waitForEvent("download");
      await chooseAction(page, name, "Download");
      // What no file of a desktop may have in its name, Chromium replaces.
      expect((await download).suggestedFilename()).toBe(name.replace(/["*/:<>?\\|]/g, "_"));
    }
    await page.reload();
    expect(await page.locator("tr[data-name] th a").allTextContents()).toEqual(expect.arrayContaining(names));
    expectNoComplaints();
  });

  it("says why an upload failed, and retries it", async () => {
    const site = await openSite({ files: { "taken/": "" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.route("**/broken.txt", (route) =>
      route.request().method() === "PUT" ? route.abort() : route.fallback(),
    );
    await dropFiles(page, [
      { name: "taken", content: "a file where a folder is" },
      { name: "broken.txt", content: "whole" },
      { name: "fine.txt", content: "fine" },
    ]);
    const broken = transferOf(page, "broken.txt");
    await eventually(() => broken.getAttribute("data-state")).toBe("failed");
    await eventually(() => broken.textContent()).toContain("was interrupted");
    await eventually(() => transferOf(page, "taken").getAttribute("data-state")).toBe("failed");
    expect(await transferOf(page, "taken").locator(".transfer-note").textContent()).toMatch(/folder/i);
    await eventually(() => transferOf(page, "fine.txt").getAttribute("data-state")).toBe("done");

    await page.unroute("**/broken.txt");
    await broken.getByRole("button", { name: /^Retry/ }).click();
    await eventually(() => broken.getAttribute("data-state")).toBe("done");
    expect(await site.content("broken.txt")).toBe("whole");
    expectNoComplaints(/Failed to load resource/);
  });

  it("says why a large file was refused before it was read", async () => {
    const permissions = [["allow-full-control"], ["/locked*", "allow-read", "allow-list"]];
    const site = await openSite({ groups: { DEFAULT_GROUP: { permissions } } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.setInputFiles("#upload-file", await makeFile("locked.bin", 60 * MIB));
    const transfer = transferOf(page, "locked.bin");
    await eventually(() => transfer.getAttribute("data-state")).toBe("failed");
    expect(await transfer.locator(".transfer-note").textContent()).toMatch(/permi|allow/i);
    expectNoComplaints(/Failed to load resource/);
  });

  it("stops when the network is lost, and goes on when told to", async () => {
    const site = await openSite();
    const { page, context, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await context.setOffline(true);
    await dropFiles(
      page,
      Array.from({ length: 10 }, (_, index) => ({ name: `${index}.txt`, content: "x" })),
    );
    await eventually(() => page.locator(".transfers-halt").textContent()).toContain("network");
    expect(await page.locator('.transfer[data-state="waiting"]').count()).toBe(7);
    await context.setOffline(false);
    await page.getByRole("button", { name: "Retry all" }).click();
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("10 of 10 uploaded");
    expect((await site.list()).length).toBe(10);
    expectNoComplaints(/ERR_INTERNET_DISCONNECTED/);
  });

  it("asks before it replaces: what the page shows, and what came meanwhile", async () => {
    const site = await openSite({ files: { "a.txt": "old a", "b.txt": "old b" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await writeFile(join(site.folder, "c.txt"), "old c");
    const announced = await announcements(page);
    await dropFiles(
      page,
      ["a", "b", "c", "d"].map((name) => ({ name: `${name}.txt`, content: `new ${name}` })),
    );
    await eventually(() => page.locator('.transfer[data-state="exists"]').count()).toBe(3);
    await eventually(() => transferOf(page, "d.txt").getAttribute("data-state")).toBe("done");
    await eventually(announced).toContainEqual(expect.stringContaining("A file with this name already exists."));
    expect(await site.content("a.txt")).toBe("old a");
    await transferOf(page, "a.txt").getByRole("button", { name: "Replace: a.txt" }).click();
    await transferOf(page, "c.txt").getByRole("button", { name: "Replace: c.txt" }).click();
    await transferOf(page, "b.txt").getByRole("button", { name: "Skip: b.txt" }).click();
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("3 of 3 uploaded");
    expect(await Promise.all(["a.txt", "b.txt", "c.txt"].map(site.content))).toEqual(["new a", "old b", "new c"]);
    expectNoComplaints(/status of 412/);
  });

  it("leads to a new login when the session has ended, and goes on after it", async () => {
    const site = await openSite();
    const { page, context, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    site.advance(13 * 3600);
    await dropFiles(
      page,
      Array.from({ length: 8 }, (_, index) => ({ name: `${index}.txt`, content: "x" })),
    );
    const link = page.getByRole("link", { name: /log in/i });
    await link.waitFor();
    expect(await page.locator('.transfer[data-state="waiting"]').count()).toBe(5);
    const opened = context.waitForEvent("page");
    await link.click();
    const login = await opened;
    await login.fill('input[name="username"]', "alice");
    await login.fill('input[name="password"]', PASSWORD);
    await login.press('input[name="password"]', "Enter");
    await login.waitForSelector("main#folder");
    await login.close();
    await page.getByRole("button", { name: "Retry all" }).click();
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("8 of 8 uploaded");
    expect((await site.list()).length).toBe(8);
    expectNoComplaints(/status of 401/);
  });

  it("warns before the page is left while files go up, but not for a download", async () => {
    const site = await openFullSite({ files: { "a.txt": "a", "reports/b.txt": "b" } });
    const { page } = await chromium.open();
    await logIn(page, site);
    // Held back until the test is over.
    await page.route("**/slow.txt", () => undefined);
    await dropFiles(page, [{ name: "slow.txt", content: "x" }]);
    await eventually(() => transferOf(page, "slow.txt").getAttribute("data-state")).toBe("active");
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    for (const [name, action] of [
      ["a.txt", "Download"],
      ["reports", "Download as ZIP"],
    ] as const) {
      const download = page.waitForEvent("download");
      await chooseAction(page, name, action);
      await download;
      expect(asked).toEqual([]);
      await page.waitForTimeout(1100);
    }
    await rowOf(page, "a.txt").locator("td.modified a").click({ noWaitAfter: true });
    await eventually(() => asked).toEqual(["beforeunload"]);
    await page.close({ runBeforeUnload: true });
    await eventually(() => asked).toEqual(["beforeunload", "beforeunload"]);
    await transferOf(page, "slow.txt")
      .getByRole("button", { name: /^Cancel/ })
      .click();
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  it("stays quick with thousands of files: few rows, the rest counted", { timeout: 90_000 }, async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.route("**/*.dat", () => undefined);
    const files = Array.from({ length: 5000 }, (_, index) => ({ name: `${index}.dat`, content: "x" }));
    await dropFiles(page, files);
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("0 of 5,000 uploaded");
    // At the same moment: rows are still being added.
    const shown = await page.evaluate(() => ({
      rows: document.querySelectorAll(".transfer").length,
      more: document.querySelector(".transfers-more")?.textContent,
    }));
    expect(shown.rows).toBeLessThanOrEqual(100);
    expect(shown.more).toBe(`And ${(5000 - shown.rows).toLocaleString("en")} more`);
    const before = performance.now();
    await page.getByRole("button", { name: "Cancel all" }).click();
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("Cancelled");
    expect(performance.now() - before).toBeLessThan(6000);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    expectNoComplaints();
  });

  it("takes up again all that were cancelled at once", async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.route("**/*.dat", () => undefined);
    const names = ["a.dat", "b.dat", "c.dat", "d.dat"];
    await dropFiles(
      page,
      names.map((name) => ({ name, content: name })),
    );
    await page.getByRole("button", { name: "Cancel all" }).click();
    const summary = page.locator(".transfers-summary");
    await eventually(() => summary.textContent()).toBe("Cancelled");
    expect(await page.locator(".transfers-bar").isVisible()).toBe(false);
    expect(await site.list()).toEqual([]);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.getByRole("button", { name: "Retry all" }).click();
    await eventually(() => summary.textContent()).toBe("4 of 4 uploaded");
    expect(await page.locator(".transfers-bar").isVisible()).toBe(true);
    expect(await site.list()).toEqual(names);
    expectNoComplaints();
  });

  it.each([
    ["a phone", 360],
    ["the desktop", 1000],
  ])("shows 20 files with all that is in their rows, on %s", async (_where, width) => {
    const long = "a name without an end ".repeat(9);
    const names = Array.from({ length: 20 }, (_, index) => `${index} ${index % 3 === 0 ? long : "short"}.txt`);
    const site = await openSite({ files: Object.fromEntries(names.slice(0, 5).map((name) => [name, "old"])) });
    const { page, expectNoComplaints } = await chromium.open({ viewport: { width, height: 640 } });
    await logIn(page, site);
    await page.route("**/10*.txt", () => undefined);
    await dropFiles(
      page,
      names.map((name) => ({ name, content: "x" })),
    );
    await eventually(() => page.locator('.transfer[data-state="done"]').count()).toBe(14);
    const rows = await page.locator(".transfer").evaluateAll((all) =>
      all.map((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return { top, bottom, hidden: row.scrollHeight - row.clientHeight };
      }),
    );
    expect(rows.map(({ hidden }) => hidden)).toEqual(Array(20).fill(0));
    for (const [index, { top }] of rows.entries())
      expect(top).toBeGreaterThanOrEqual((rows[index - 1]?.bottom ?? 0) - 1);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    expectNoComplaints();
  });

  it("sends files to folders that are there, for an account that may create none", async () => {
    const permissions = [["allow-read", "allow-list", "allow-write"]] as const;
    const groups = { DEFAULT_GROUP: { permissions } };
    const site = await openSite({ files: { "photos/2020/": "" }, groups });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await dropFiles(page, [{ name: "a.txt", content: "a" }], 'tr[data-name="photos"] th a');
    await eventually(() => transferOf(page, "photos/a.txt").getAttribute("data-state")).toBe("done");
    expect(await site.content("photos/a.txt")).toBe("a");

    await dropFromDisk(page, [join(await makeTree(), "photos")]);
    await eventually(() => transferOf(page, "photos/2020/a #1?.txt").getAttribute("data-state")).toBe("done");
    expect(await site.content("photos/2020/a #1?.txt")).toBe("a");
    expect(await page.locator(".notice.problem").textContent()).toContain("The folder empty could not be created");
    expect(await page.locator(".notice.problem").textContent()).not.toContain("2020");
    expectNoComplaints(/status of 4(?:04|22)/);
  });

  it("goes by forms where files cannot be put: the browser's API is served alone", async () => {
    const site = await openSite({ browserAlone: true, files: { "a.txt": "old a", "photos/b.txt": "old b" } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await mark(page);
    const methods = new Set<string>();
    site.server.on("request", ({ method = "" }: IncomingMessage) => methods.add(method));
    await page.setInputFiles("#upload-file", [
      { name: "a.txt", mimeType: "text/html", buffer: Buffer.from("new a") },
      { name: 'c "quoted" 🦭.txt', mimeType: "text/plain", buffer: Buffer.from("c") },
    ]);
    await eventually(() => page.locator('.transfer[data-state="done"]').count()).toBe(1);
    expect(await site.content("a.txt")).toBe("old a");
    await page.getByRole("button", { name: "Replace: a.txt" }).click();
    await eventually(() => page.locator(".transfers-summary").textContent()).toBe("2 of 2 uploaded");
    expect(await site.content("a.txt")).toBe("new a");
    expect(await site.content('c "quoted" 🦭.txt')).toBe("c");

    await dropFromDisk(page, [join(await makeTree(), "photos")]);
    await eventually(() => transferOf(page, "photos/b.txt").getAttribute("data-state")).toBe("exists");
    expect(await site.content("photos/b.txt")).toBe("old b");
    await eventually(() => page.locator('.transfer[data-state="done"]').count()).toBe(4);
    expect(await site.content("photos/2020/a #1?.txt")).toBe("a");
    expect(await isMarked(page)).toBe(true);
    expect([...methods]).not.toContain("PUT");
    expectNoComplaints(/status of 404/);
  });

  it("asks for a new login there, too, and calls nothing done that is not stored", async () => {
    const site = await openSite({ browserAlone: true, files: { "a.txt": "old" } });
    const { page, context, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await dropFiles(page, [{ name: "first.txt", content: "1" }]);
    await eventually(() => transferOf(page, "first.txt").getAttribute("data-state")).toBe("done");
    await context.clearCookies();
    await dropFiles(page, [{ name: "b.txt", content: "2" }]);
    await eventually(() => page.locator(".transfers-halt").textContent()).toContain("Log in again");
    expect(await page.locator('.transfer[data-state="done"], .transfer[data-state="exists"]').count()).toBe(1);
    expect(await site.list()).toEqual(["a.txt", "first.txt"]);

    await logIn(await context.newPage(), site);
    await page
      .getByRole("button", { name: /^Retry/ })
      .first()
      .click();
    await eventually(() => site.list()).toEqual(["a.txt", "b.txt", "first.txt"]);
    expectNoComplaints(/status of 40[14]/);
  });
});

const TREE = [
  "photos/",
  "photos/2019/",
  "photos/2020/",
  "photos/2020/a #1?.txt",
  "photos/2020/ü 🦭.txt",
  "photos/b.txt",
]
  .concat(["photos/empty/", "single.txt"])
  .sort();

/** Folders and files to be uploaded. */
async function makeTree(): Promise<string> {
  const folder = await makeFolder();
  await mkdir(join(folder, "photos/2020"), { recursive: true });
  await mkdir(join(folder, "photos/empty"));
  await writeFile(join(folder, "photos/2020/a #1?.txt"), "a");
  await writeFile(join(folder, "photos/2020/ü 🦭.txt"), "ü");
  await writeFile(join(folder, "photos/b.txt"), "b");
  await writeFile(join(folder, "single.txt"), "single");
  return folder;
}

/** Makes a file of this number of bytes. Returns its path. */
async function makeFile(name: string, size: number): Promise<string> {
  const path = join(await makeFolder(), name);
  const file = await open(path, "w");
  await file.truncate(size);
  await file.close();
  return path;
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-upload-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The largest number of PUT requests that the server had before it at once. */
function countAtOnce({ server }: Site): () => number {
  let now = 0;
  let most = 0;
  server.on("request", ({ method }: IncomingMessage, response) => {
    if (method !== "PUT") return;
    most = Math.max(most, ++now);
    response.on("close", () => now--);
  });
  return () => most;
}

/** Returns the texts that the page announces to screen readers from now on, in order. */
async function announcements(page: Page): Promise<() => Promise<string[]>> {
  const told = await page.locator(".announcer").evaluateHandle((announcer) => {
    const texts: string[] = [];
    new MutationObserver(() => texts.push(announcer.textContent)).observe(announcer, { childList: true });
    return texts;
  });
  return () => told.jsonValue();
}

/** Marks the document. The mark is lost when the page is loaded again. */
async function mark(page: Page): Promise<void> {
  await page.evaluate(() => document.documentElement.setAttribute("data-marked", ""));
}

function isMarked(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.hasAttribute("data-marked"));
}
