import { createHash } from "node:crypto";
import { mkdtemp, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page, Request } from "playwright-core";
import { expect, it, onTestFinished, vi } from "vitest";
import { expectAccessible } from "./axe.ts";
import { describeInChromium, eventually } from "./chromium.ts";
import { openCuttingProxy } from "./cutting-proxy.ts";
import { logIn, openAccountMenu, openSite, PASSWORD, rowOf, type Site, type SiteOptions, transferOf } from "./site.ts";

const MIB = 1024 ** 2;
/** How long an upload may take on a busy machine. */
const LONG = 90_000;
/** What Chromium says of connections that the test has broken. */
const BROKEN = /net::ERR_|status of 409/;

describeInChromium("uploads that go on", (chromium) => {
  vi.setConfig({ testTimeout: 2 * LONG });

  /** A page of a site behind a proxy that breaks connections, logged in. */
  async function start(options: SiteOptions = {}, context: Parameters<typeof chromium.open>[0] = {}) {
    const proxy = await openCuttingProxy(await openSite(options));
    const { site } = proxy;
    const watched = await chromium.open(context);
    const { page } = watched;
    const requests = record(page);
    await logIn(page, site);
    return { ...watched, site, proxy, requests };
  }

  /** Starts an upload, and leaves the page when the service has some of it. */
  async function breakOff(proxy: Awaited<ReturnType<typeof openCuttingProxy>>, page: Page, path: string) {
    proxy.holdAfter(6 * MIB);
    await page.setInputFiles("#upload-file", path);
    await eventually(async () => (await unfinished(page, proxy.site))[0]?.offset ?? 0).toBeGreaterThan(4 * MIB);
    proxy.holdAfter(Number.POSITIVE_INFINITY);
    await page.reload();
  }

  it("go on by themselves, however often the connection breaks, and never from the beginning", async () => {
    const { page, site, proxy, requests, expectNoComplaints } = await start();
    const path = await makeFile("big.bin", 17 * MIB);
    const values = await watchProgress(page);
    proxy.cutAfter(5 * MIB);
    await page.setInputFiles("#upload-file", path);
    await eventually(() => transferOf(page, "big.bin").getAttribute("data-state"), LONG).toBe("done");
    expect(await hashOf(join(site.folder, "big.bin"))).toBe(await hashOf(path));
    expect(requests[0]).toMatchObject({ method: "PUT", complete: "?0" });
    const offsets = requests.filter(({ method }) => method === "PATCH").map(({ offset }) => offset);
    expect(offsets.length).toBeGreaterThanOrEqual(4);
    expect(offsets).toEqual([...offsets].sort((one, other) => one - other));
    // The progress goes back at interruptions alone, and never behind what the service has.
    const drops = (await values()).filter((value, index, all) => value < (all[index - 1] ?? 0));
    expect(drops.length).toBeLessThan(offsets.length);
    expect(Math.min(1, ...drops)).toBeGreaterThanOrEqual((offsets[1] ?? 0) / (17 * MIB));
    await eventually(() => rowOf(page, "big.bin").count()).toBe(1);
    expect(await stored(page)).toBeNull();
    expectNoComplaints(BROKEN);
  });

  it("go on where they were after a reload, when the file is chosen again", async () => {
    const { page, site, proxy, requests, expectNoComplaints } = await start();
    const path = await makeFile("big.bin", 17 * MIB);
    await breakOff(proxy, page, path);
    const leftOver = page.getByRole("region", { name: "Unfinished uploads" });
    await leftOver.waitFor();
    await eventually(() => leftOver.textContent()).toMatch(/big\.bin(?:2[4-9]|3\d) %/);
    const record = JSON.parse((await stored(page)) ?? "")[0];
    expect(record).toEqual({
      ...{ account: "alice", folder: "/home/", name: "big.bin", size: 17 * MIB, mayReplace: false },
      ...{ modified: expect.any(Number), urls: [expect.stringMatching(/uploads\/[\da-f]{32}$/)] },
      expires: expect.any(Number),
    });
    const other = await makeFile("big.bin", 17 * MIB - 1);
    await choose(page, "Choose the file again: big.bin", other);
    await page.getByText("This is another file").waitFor();
    expect(await page.locator(".transfer[data-state]").count()).toBe(0);

    const before = requests.length;
    await choose(page, "Choose the file again: big.bin", path);
    await eventually(() => transferOf(page, "big.bin").getAttribute("data-state"), LONG).toBe("done");
    expect(await leftOver.count()).toBe(0);
    const [head, patch, ...rest] = requests.slice(before);
    expect(head?.method).toBe("HEAD");
    expect(patch?.offset).toBeGreaterThan(4 * MIB);
    expect(rest).toEqual([]);
    expect(await hashOf(join(site.folder, "big.bin"))).toBe(await hashOf(path));
    expect(await stored(page)).toBeNull();
    expectNoComplaints(BROKEN);
  });

  it("tell where they go on, without a question, also to replace a file", async () => {
    const { page, site, proxy, expectNoComplaints } = await start({ files: { "big.bin": "old" } });
    const path = await makeFile("big.bin", 17 * MIB);
    proxy.holdAfter(6 * MIB);
    await page.setInputFiles("#upload-file", path);
    await page.getByRole("button", { name: "Replace: big.bin" }).click();
    await eventually(async () => (await unfinished(page, site))[0]?.offset ?? 0).toBeGreaterThan(4 * MIB);
    await page.reload();
    const announced = await announcements(page);
    await page.setInputFiles("#upload-file", path);
    await eventually(() => transferOf(page, "big.bin").textContent()).toMatch(/\d+ % · resumed at \d+ %/);
    await eventually(announced).toContainEqual(expect.stringMatching(/^big\.bin: resumed at (?:2[4-9]|3\d) %$/));
    proxy.holdAfter(Number.POSITIVE_INFINITY);
    proxy.cut();
    await eventually(() => transferOf(page, "big.bin").getAttribute("data-state"), LONG).toBe("done");
    expect(await hashOf(join(site.folder, "big.bin"))).toBe(await hashOf(path));
    expectNoComplaints(BROKEN);
  });

  it("are discarded on demand, with all that the service has", async () => {
    const { page, site, proxy, requests, expectNoComplaints } = await start({}, { locale: "de-DE" });
    const path = await makeFile("big.bin", 17 * MIB);
    await breakOff(proxy, page, path);
    await page.getByRole("region", { name: "Nicht fertig hochgeladen" }).waitFor();
    await page.getByRole("button", { name: "Verwerfen: big.bin" }).click();
    await eventually(() => requests.at(-1)?.method).toBe("DELETE");
    await eventually(() => unfinished(page, site)).toEqual([]);
    expect(await page.locator(".left-over").isHidden()).toBe(true);
    expect(await page.locator("#send > summary").evaluate((opener) => opener === document.activeElement)).toBe(true);
    expect(await stored(page)).toBeNull();
    await eventually(() => site.list()).toEqual([]);
    expectNoComplaints(BROKEN);
  });

  it("leave the list when the service knows them no more", async () => {
    const { page, site, proxy, expectNoComplaints } = await start();
    await breakOff(proxy, page, await makeFile("big.bin", 17 * MIB));
    await page.getByRole("region", { name: "Unfinished uploads" }).waitFor();
    site.advance(25 * 3600);
    await logIn(page, site);
    await eventually(() => page.locator(".left-over").isHidden()).toBe(true);
    expect(await stored(page)).toBeNull();
    expectNoComplaints(BROKEN);
  });

  it("go on after the login that had ended in the middle", async () => {
    const { page, context, site, proxy, requests, expectNoComplaints } = await start();
    const path = await makeFile("big.bin", 17 * MIB);
    proxy.holdAfter(6 * MIB);
    await page.setInputFiles("#upload-file", path);
    await eventually(async () => (await unfinished(page, site))[0]?.offset ?? 0).toBeGreaterThan(4 * MIB);
    site.advance(13 * 3600);
    proxy.holdAfter(Number.POSITIVE_INFINITY);
    proxy.cut();
    const link = page.getByRole("link", { name: /log in/i });
    await link.waitFor();
    const opened = context.waitForEvent("page");
    await link.click();
    const login = await opened;
    await login.fill('input[name="username"]', "alice");
    await login.fill('input[name="password"]', PASSWORD);
    await login.press('input[name="password"]', "Enter");
    await login.waitForSelector("main#folder");
    await login.close();
    const before = requests.length;
    await page.getByRole("button", { name: "Retry all" }).click();
    await eventually(() => transferOf(page, "big.bin").getAttribute("data-state"), LONG).toBe("done");
    expect(requests.slice(before).map(({ method }) => method)).toEqual(["HEAD", "PATCH"]);
    expect(requests.at(-1)?.offset).toBeGreaterThan(4 * MIB);
    expect(await hashOf(join(site.folder, "big.bin"))).toBe(await hashOf(path));
    expectNoComplaints(/status of 4(?:01|09)|net::ERR_/);
  });

  it("wait for the network while the browser is offline", async () => {
    const { page, context, site, proxy, expectNoComplaints } = await start();
    const path = await makeFile("big.bin", 17 * MIB);
    proxy.holdAfter(6 * MIB);
    await page.setInputFiles("#upload-file", path);
    await eventually(async () => (await unfinished(page, site))[0]?.offset ?? 0).toBeGreaterThan(4 * MIB);
    await context.setOffline(true);
    proxy.holdAfter(Number.POSITIVE_INFINITY);
    proxy.cut();
    const transfer = transferOf(page, "big.bin");
    await eventually(() => transfer.textContent()).toMatch(/% · Interrupted, trying again/);
    expect(await transfer.getAttribute("data-state")).toBe("active");
    await context.setOffline(false);
    await eventually(() => transfer.getAttribute("data-state"), LONG).toBe("done");
    expect(await hashOf(join(site.folder, "big.bin"))).toBe(await hashOf(path));
    expectNoComplaints(BROKEN);
  });

  it("start from the beginning if the service has lost them", async () => {
    const { page, site, proxy, requests, expectNoComplaints } = await start();
    const path = await makeFile("big.bin", 17 * MIB);
    proxy.holdAfter(6 * MIB);
    await page.setInputFiles("#upload-file", path);
    await eventually(async () => (await unfinished(page, site))[0]?.offset ?? 0).toBeGreaterThan(4 * MIB);
    proxy.holdAfter(Number.POSITIVE_INFINITY);
    await page.evaluate(
      async (url) => {
        await fetch(url, { method: "DELETE" });
      },
      (await unfinished(page, site))[0]?.url ?? "",
    );
    await eventually(() => transferOf(page, "big.bin").getAttribute("data-state"), LONG).toBe("done");
    expect(requests.filter(({ method }) => method === "PUT").length).toBe(2);
    expect(await hashOf(join(site.folder, "big.bin"))).toBe(await hashOf(path));
    expectNoComplaints(/status of 4(?:04|09)|net::ERR_/);
  });

  it("end with a DELETE when they are cancelled", async () => {
    const { page, site, proxy, requests, expectNoComplaints } = await start();
    proxy.holdAfter(6 * MIB);
    await page.setInputFiles("#upload-file", await makeFile("big.bin", 17 * MIB));
    await eventually(() => unfinished(page, site)).toMatchObject([{ offset: expect.any(Number) }]);
    await page.getByRole("button", { name: "Cancel: big.bin" }).click();
    await eventually(() => requests.map(({ method }) => method)).toEqual(["PUT", "PATCH", "DELETE"]);
    await eventually(() => unfinished(page, site)).toEqual([]);
    await eventually(() => site.list()).toEqual([]);
    expect(await stored(page)).toBeNull();
    expectNoComplaints(BROKEN);
  });

  it("are forgotten by the browser at a log-out", async () => {
    const { page, site, proxy, expectNoComplaints } = await start();
    await breakOff(proxy, page, await makeFile("big.bin", 17 * MIB));
    await page.getByRole("region", { name: "Unfinished uploads" }).waitFor();
    await openAccountMenu(page);
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForSelector('input[name="username"]');
    expect(await stored(page)).toBeNull();
    await logIn(page, site);
    expect(await page.locator(".left-over").isHidden()).toBe(true);
    expectNoComplaints(BROKEN);
  });

  it("go in three parts if they are large and alone, which go on as well", async () => {
    const { page, site, proxy, requests, expectNoComplaints } = await start();
    const path = await makeFile("huge.bin", 65 * MIB + 1);
    proxy.holdAfter(8 * MIB);
    await page.setInputFiles("#upload-file", path);
    await eventually(async () => sum(await unfinished(page, site))).toBeGreaterThan(18 * MIB);
    expect(requests.filter(({ concat }) => concat === "partial").length).toBe(3);
    await page.reload();
    await eventually(() => page.locator(".left-over").textContent()).toMatch(/huge\.bin(?:2[7-9]|3\d) %/);
    expect(JSON.parse((await stored(page)) ?? "")[0].urls.length).toBe(3);
    proxy.holdAfter(Number.POSITIVE_INFINITY);
    proxy.cutAfter(9 * MIB);
    const before = requests.length;
    await page.setInputFiles("#upload-file", path);
    await eventually(() => transferOf(page, "huge.bin").getAttribute("data-state"), LONG).toBe("done");
    const made = requests.slice(before);
    expect(made.filter(({ method }) => method === "POST")).toMatchObject([
      { concat: expect.stringMatching(/^final;/) },
    ]);
    for (const { offset } of made.filter(({ method }) => method === "PATCH")) expect(offset).toBeGreaterThan(0);
    expect(await hashOf(join(site.folder, "huge.bin"))).toBe(await hashOf(path));
    await eventually(() => site.list()).toEqual(["huge.bin"]);
    expect(await stored(page)).toBeNull();
    expectNoComplaints(BROKEN);
  });

  it.each([
    ["two at a time", 2, "http/1.1", {}],
    ["over HTTP/2", 1, "h2", {}],
    ["where the service takes only small requests", 1, "h2", { uploads: { maxAppendBytes: 48 * MIB } }],
  ] as const)("go in one part %s", async (_name, count, protocol, options) => {
    const site = await openSite(options);
    const { page, expectNoComplaints } = await chromium.open();
    await page.addInitScript((nextHopProtocol) => {
      performance.getEntriesByType = () => [{ nextHopProtocol }] as unknown as PerformanceEntryList;
    }, protocol);
    const requests = record(page);
    await logIn(page, site);
    const names = Array.from({ length: count }, (_, index) => `${index}.bin`);
    await page.setInputFiles("#upload-file", await Promise.all(names.map((name) => makeFile(name, 64 * MIB, false))));
    await eventually(() => page.locator('.transfer[data-state="done"]').count(), LONG).toBe(count);
    // Over HTTP/1.1 a file that is not alone; at most 48 MiB in each request.
    const expected = "uploads" in options ? ["PATCH", "PATCH", "PUT"] : ["PATCH", "PUT"];
    expect(requests.map(({ method }) => method).sort()).toEqual(
      expected.flatMap((method) => Array(count).fill(method)),
    );
    for (const name of names) expect((await stat(join(site.folder, name))).size).toBe(64 * MIB);
    expectNoComplaints();
  });

  it("are a PUT where the service has no uploads in several requests", async () => {
    const { page, site, requests, expectNoComplaints } = await start({ uploads: false });
    await page.setInputFiles("#upload-file", await makeFile("big.bin", 17 * MIB));
    await eventually(() => transferOf(page, "big.bin").getAttribute("data-state"), LONG).toBe("done");
    expect(requests).toMatchObject([{ method: "PUT", complete: undefined }]);
    expect((await stat(join(site.folder, "big.bin"))).size).toBe(17 * MIB);
    expectNoComplaints();
  });

  it("are listed without a fault that axe finds, on a narrow screen", async () => {
    const name = `${"a very long name ".repeat(8)}.bin`;
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, proxy } = await start({}, { colorScheme, viewport: { width: 320, height: 640 } });
      await breakOff(proxy, page, await makeFile(name, 17 * MIB));
      await eventually(() => page.locator(".left-over .transfer-note").textContent()).toMatch(/%/);
      await expectAccessible(page, "an upload that is left over");
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    }
  });
});

/** A request of an upload. */
interface Recorded {
  readonly method: string;
  readonly complete: string | undefined;
  readonly concat: string | undefined;
  readonly offset: number;
}

/** The requests of uploads that a page sends from now on, in their order. */
function record(page: Page): Recorded[] {
  const recorded: Recorded[] = [];
  page.on("request", (request: Request) => {
    const headers = request.headers();
    const isUpload = request.url().includes("__svc__/uploads/") && request.method() !== "GET";
    if (!isUpload && request.method() !== "PUT" && headers["upload-concat"] === undefined) return;
    recorded.push({
      method: request.method(),
      complete: headers["upload-complete"],
      concat: headers["upload-concat"],
      offset: Number(headers["upload-offset"] ?? -1),
    });
  });
  return recorded;
}

interface Unfinished {
  readonly url: string;
  readonly offset: number;
}

/** What the service has of unfinished uploads. It is asked past the proxy and the browser's network. */
async function unfinished(page: Page, site: Site): Promise<Unfinished[]> {
  const response = await page.request.get(`${site.home}__svc__/uploads/`);
  return ((await response.json()) as { uploads: Unfinished[] }).uploads;
}

function sum(uploads: readonly Unfinished[]): number {
  return uploads.reduce((total, { offset }) => total + offset, 0);
}

/** What the browser remembers. */
function stored(page: Page): Promise<string | null> {
  return page.evaluate(() => localStorage.getItem("fileferry-uploads"));
}

/** Presses a button that opens a chooser, and chooses a file. */
async function choose(page: Page, name: string, path: string): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name }).click();
  await (await chooser).setFiles(path);
}

/** All values that the progress bar of the only upload has had. */
async function watchProgress(page: Page): Promise<() => Promise<number[]>> {
  const seen = await page.evaluateHandle(() => {
    const values: number[] = [];
    const { set } = Object.getOwnPropertyDescriptor(HTMLProgressElement.prototype, "value") ?? {};
    Object.defineProperty(HTMLProgressElement.prototype, "value", {
      set(this: HTMLProgressElement, value: number) {
        if (this.classList.contains("transfer-bar")) values.push(value);
        set?.call(this, value);
      },
    });
    return values;
  });
  return () => seen.jsonValue();
}

/** Returns the texts that the page announces to screen readers from now on. */
async function announcements(page: Page): Promise<() => Promise<string[]>> {
  const told = await page.locator(".announcer").evaluateHandle((announcer) => {
    const texts: string[] = [];
    new MutationObserver(() => texts.push(announcer.textContent)).observe(announcer, { childList: true });
    return texts;
  });
  return () => told.jsonValue();
}

/** Makes a file whose bytes differ from one place to another, or are zeros; its path. */
async function makeFile(name: string, size: number, isVaried = true): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-resume-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  if (isVaried) await writeFile(path, Buffer.alloc(size, `${createHash("sha512").update(name).digest("hex")}x`));
  else {
    const file = await open(path, "w");
    await file.truncate(size);
    await file.close();
  }
  return path;
}

async function hashOf(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}
