import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished, vi } from "vitest";
import type { NewLink } from "../../src/contracts/links.ts";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { quickHasher } from "../support/quick-hasher.ts";
import { expectAccessible } from "./axe.ts";
import { describeInChromium, eventually } from "./chromium.ts";
import { openCuttingProxy } from "./cutting-proxy.ts";
import {
  dropFiles,
  dropFromDisk,
  logIn,
  makeFolder,
  openSite,
  rowOf,
  type Site,
  type SiteOptions,
  transferOf,
  untilRefreshed,
} from "./site.ts";

const MIB = 1024 ** 2;
const LONG = 90_000;
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
/** What Chromium says of connections that the test has broken. */
const BROKEN = /net::ERR_|status of 409/;
const FILES = { "inbox/a.txt": "a", "inbox/sub/b.txt": "b", "private.txt": "private" };

async function openLinkSite(options: SiteOptions = {}): Promise<Site> {
  const store = createMemoryKeyValueStore();
  const links = { secret: "a secret of the tests, 32 characters or more", passwordHasher: quickHasher, store };
  return openSite({ files: FILES, links, ...options });
}

/** Makes a link; returns the URL of its page. */
async function makeLink({ origin, links }: Site, wanted: Partial<NewLink>): Promise<string> {
  return origin + (await links.create({ username: "alice", path: "/inbox", ...wanted })).urlPath;
}

async function makeFile(name: string, size: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-links-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  await writeFile(path, randomBytes(size));
  return path;
}

async function hashOf(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}

const DROP = { permissions: ["allow-write"], askName: true } as const;

describeInChromium("links", (chromium) => {
  vi.setConfig({ testTimeout: 2 * LONG });

  it("fill a drop folder from a phone, over a connection that breaks: its owner sees the files, and nobody else", async () => {
    const proxy = await openCuttingProxy(await openLinkSite());
    const { site } = proxy;
    const url = await makeLink(site, DROP);
    const { page, expectNoComplaints } = await chromium.open(PHONE);
    await page.goto(url);
    expect(await page.locator("h1").textContent()).toBe("inbox");
    expect(await page.locator("body").textContent()).not.toMatch(/alice|a\.txt/);
    const big = await makeFile("a.bin", 17 * MIB);
    proxy.cutAfter(5 * MIB);
    // Chosen before a name is entered: nothing is sent, and nothing is lost.
    await page.setInputFiles("#upload-file", big);
    await page.getByText("Enter your name, then the files are sent.").waitFor();
    expect(await page.locator("#transfers").isHidden()).toBe(true);
    await page.getByLabel("Your name").fill("Ann Müller");
    await page.getByLabel("Your name").press("Tab");
    const kept = await page.waitForFunction(() => localStorage.getItem("fileferry-uploads"));
    expect(await kept.jsonValue()).toMatch(/"folder":"\.\/".*"urls":\["\.\/__svc__\/uploads\/[\da-f]{32}"\]/);
    await eventually(() => transferOf(page, "a.bin").getAttribute("data-state"), LONG).toBe("done");
    await page.setInputFiles("#upload-file", await makeFile("a.txt", 100));
    await eventually(() => transferOf(page, "a.txt").getAttribute("data-state")).toBe("done");
    await page.setInputFiles("#upload-file", await makeFile("a.txt", 200));
    await eventually(() => page.locator('.transfer[data-state="done"]').count()).toBe(3);
    expect(await page.evaluate(() => localStorage.getItem("fileferry-uploads"))).toBeNull();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    const sent = ["inbox/Ann Müller - a (2).txt", "inbox/Ann Müller - a.bin", "inbox/Ann Müller - a.txt"];
    expect((await site.list()).filter((path) => path.includes("Ann"))).toEqual(sent);
    expect(await hashOf(join(site.folder, "inbox/Ann Müller - a.bin"))).toBe(await hashOf(big));
    expectNoComplaints(BROKEN);

    await page.reload();
    expect(await page.locator("main").textContent()).not.toMatch(/a\.bin|a\.txt/);
    const guess = await page.request.get(`${url}Ann%20M%C3%BCller%20-%20a.bin`);
    expect(guess.status()).toBe(403);
    const { page: owners } = await chromium.open();
    await logIn(owners, site);
    await owners.goto(`${site.home}inbox/`);
    await rowOf(owners, "Ann Müller - a.bin").waitFor();
    expect(await owners.locator("tr[data-kind=file]").count()).toBe(4);
  });

  it("take folders where they may make them, by drag and drop", async () => {
    const site = await openLinkSite();
    const { page, expectNoComplaints } = await chromium.open();
    await page.goto(await makeLink(site, { permissions: ["allow-write", "allow-create-folder"] }));
    const folder = await mkdtemp(join(tmpdir(), "fileferry-links-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await mkdir(join(folder, "sub", "deep"), { recursive: true });
    await writeFile(join(folder, "sub", "b.txt"), "mine");
    await writeFile(join(folder, "sub", "deep", "c.txt"), "deep");
    await dropFromDisk(page, [join(folder, "sub")]);
    await eventually(() => page.locator('.transfer[data-state="done"]').count()).toBe(2);
    expect(await site.content("inbox/sub/b.txt")).toBe("b");
    expect(await site.content("inbox/sub/b (2).txt")).toBe("mine");
    expect(await site.content("inbox/sub/deep/c.txt")).toBe("deep");
    expectNoComplaints();
  });

  it.each([
    ["a drop folder", "/inbox", ["allow-write", "allow-create-folder"]],
    ["a folder", "/inbox", ["allow-list", "allow-read", "allow-write", "allow-create-folder"]],
    ["a file", "/inbox/a.txt", ["allow-read", "allow-write", "allow-delete-file"]],
  ] as const)("have one filled button on the page of %s", async (_case, path, permissions) => {
    const site = await openLinkSite();
    const url = await makeLink(site, { path, permissions });
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await chromium.open({ javaScriptEnabled });
      await page.goto(url);
      await page.locator("h1").waitFor();
      const filled = page.locator(":is(button, .button).primary:visible");
      expect(await filled.count()).toBe(1);
    }
  });

  it("work without a script: a drop folder, a folder, and a file", async () => {
    const site = await openLinkSite();
    const { page, expectNoComplaints } = await chromium.open({ ...PHONE, javaScriptEnabled: false });
    await page.goto(await makeLink(site, DROP));
    await page.fill("#sender", "Bob");
    await page.setInputFiles("#upload-file", [await makeFile("a.txt", 10), await makeFile("new.txt", 20)]);
    await page.locator("#upload button").click();
    await page.getByRole("status").waitFor();
    expect(await page.getByRole("status").locator("li").allTextContents()).toEqual(["a.txt", "new.txt"]);
    expect((await site.list()).filter((path) => path.includes("Bob"))).toEqual([
      "inbox/Bob - a.txt",
      "inbox/Bob - new.txt",
    ]);

    await page.goto(await makeLink(site, {}));
    const archive = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download all" }).click();
    expect((await archive).suggestedFilename()).toBe("inbox.zip");
    await rowOf(page, "sub").locator("th a").click();
    await page.getByRole("link", { name: "inbox", exact: true }).click();
    await rowOf(page, "a.txt").waitFor();

    await page.goto(await makeLink(site, { path: "/inbox/a.txt", password: "open sesame" }));
    await page.getByLabel("Password", { exact: true }).fill("wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Password", { exact: true }).fill("open sesame");
    await page.getByRole("button", { name: "Open" }).click();
    const file = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download" }).click();
    expect(await readFile((await (await file).path()) ?? "", "utf8")).toBe("a");
    expectNoComplaints(/status of 401/);
  });

  it("have the actions of a folder's page, without leaving it", async () => {
    const site = await openLinkSite();
    const { page, expectNoComplaints } = await chromium.open();
    const permissions = [
      "allow-read",
      "allow-list",
      "allow-write",
      "allow-create-folder",
      "allow-delete-file",
    ] as const;
    await page.goto(await makeLink(site, { permissions }));
    // The end of the link is in the reader's zone.
    await eventually(() => page.locator(".link-line time").textContent()).not.toContain("UTC");
    expect(await page.locator(".link-line time").getAttribute("title")).toMatch(/UTC$/);
    await dropFiles(page, [{ name: "new.txt", content: "new" }]);
    await rowOf(page, "new.txt").waitFor();
    await makeFolder(page, "made");
    await rowOf(page, "made").waitFor();
    await rowOf(page, "a.txt").locator("input").check();
    await page.locator('button[value="copy-members"]').click();
    await page.getByRole("dialog").getByRole("button", { name: "made" }).click();
    await page.getByRole("dialog").getByText("There are no folders in it.").waitFor();
    await untilRefreshed(page, () => page.getByRole("dialog").getByRole("button", { name: "Copy" }).click());
    await page.getByText("Copied: 1").waitFor();
    await page.locator('button[value="delete-members"]').click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    expect((await site.list()).filter((path) => path.startsWith("inbox/"))).toEqual([
      ...["inbox/", "inbox/made/", "inbox/made/a.txt", "inbox/new.txt", "inbox/sub/", "inbox/sub/b.txt"],
    ]);
    expectNoComplaints();
  });

  it.each([
    ["light", "en-GB", true],
    ["dark", "de-DE", true],
    ["light", "de-DE", false],
    ["dark", "en-GB", false],
  ] as const)(
    "axe finds nothing on their pages, %s, %s, with the script: %s",
    async (colorScheme, locale, hasScript) => {
      const site = await openLinkSite();
      const { page, expectNoComplaints } = await chromium.open({ ...PHONE, colorScheme, locale });
      // axe itself needs scripts: without that of the page, it has the markup that browsers without scripts have.
      if (!hasScript) await page.route("**/*.js", (route) => route.abort());
      const writing = ["allow-read", "allow-list", "allow-write", "allow-delete-file"] as const;
      const pages = {
        folder: await makeLink(site, { permissions: writing, maxFileBytes: 1_000_000 }),
        "folder below": `${await makeLink(site, {})}sub/`,
        file: await makeLink(site, { path: "/inbox/a.txt", permissions: writing, askName: true }),
        "drop folder": await makeLink(site, { ...DROP, maxFileBytes: 1_000_000 }),
        password: await makeLink(site, { password: "open sesame" }),
        error: `${await makeLink(site, {})}never`,
      };
      for (const [name, url] of Object.entries(pages)) {
        await page.goto(url);
        await check(page, name);
      }
      await page.goto(pages["drop folder"]);
      await page.fill("#sender", "Ann");
      await page.setInputFiles("#upload-file", await makeFile(`${"long ".repeat(40)}.txt`, 10));
      if (!hasScript) await page.locator("#upload button").click();
      await (hasScript ? page.locator('.transfer[data-state="done"]') : page.getByRole("status")).waitFor();
      await check(page, "drop folder with what was sent");
      await page.goto(pages.password);
      await page.fill("#password", "wrong");
      await page.press("#password", "Enter");
      await page.getByRole("alert").waitFor();
      await check(page, "password with a message");
      expectNoComplaints(/status of 40[14]|net::ERR_FAILED/);
    },
  );
});

async function check(page: Page, name: string): Promise<void> {
  await expectAccessible(page, name);
  expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBe(360);
}
