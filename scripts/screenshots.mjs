// Makes the pictures in docs/images from the built command: npm run screenshots
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, open, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const project = fileURLToPath(new URL("..", import.meta.url));
const images = join(project, "docs/images");
const MIB = 1024 ** 2;

/** What is in the folder: sizes by path. */
const SHOWN = {
  "Contracts/": 0,
  "Invoices/": 0,
  "Photos/": 0,
  "Annual report 2025.pdf": 4_812_345,
  "Budget.xlsx": 88_211,
  "Interview.mp4": 212 * MIB,
  "עברית.txt": 1_204,
};

/** What goes up: sizes by name. */
const UPLOADED = { "Site plan.pdf": 2 * MIB, "Recording.wav": 60 * MIB, "Drone.mov": 90 * MIB, "Scans.zip": 30 * MIB };

const DESKTOP = { viewport: { width: 960, height: 720 }, deviceScaleFactor: 1.5 };
const PHONE = { viewport: { width: 390, height: 760 }, deviceScaleFactor: 1.5, isMobile: true, hasTouch: true };

async function fill(folder, sizes) {
  let day = Date.UTC(2026, 2, 2, 9, 30);
  for (const [path, size] of Object.entries(sizes)) {
    const target = join(folder, path);
    await mkdir(path.endsWith("/") ? target : dirname(target), { recursive: true });
    if (!path.endsWith("/")) {
      const file = await open(target, "w");
      await file.truncate(size);
      await file.close();
    }
    day += 37.3 * 3_600_000;
    await utimes(target, day / 1000, day / 1000);
  }
}

async function serve(folder) {
  const args = [join(project, "dist/cli/main.js"), "serve", folder, "--account", "alice:secret", "--port", "0"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^Listening on (\S+)$/.exec(line) ?? [];
    if (url !== undefined) return { child, url };
  }
  throw new Error("The command has not started.");
}

/** Lets files go up, until some are there and the others under way. */
async function startUploads(page, uploads) {
  const session = await page.context().newCDPSession(page);
  const speed = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 6 * MIB };
  await session.send("Network.emulateNetworkConditions", speed);
  await page.setInputFiles("#upload-file", uploads);
  await page.waitForSelector('.transfer[data-state="done"]');
  await page.waitForFunction(() => document.querySelector(".transfers-summary")?.textContent?.includes("left"));
  await page.waitForTimeout(3000);
}

/** Leaves nothing behind for the next picture. */
async function endUploads(page) {
  await page.getByRole("button", { name: "Cancel all" }).click();
  await page.waitForSelector('.transfer[data-state="active"]', { state: "detached" });
}

async function take(browser, url, folder, uploads, colorScheme) {
  const suffix = colorScheme === "dark" ? "-dark" : "";
  async function shoot(page, name, top = "body") {
    await page.evaluate((selector) => {
      document.activeElement?.blur();
      const { y } = document.querySelector(selector).getBoundingClientRect();
      scrollBy(0, y - 16);
    }, top);
    await page.screenshot({ path: join(images, `${name}${suffix}.png`) });
  }
  const settings = { colorScheme, locale: "en-GB" };
  const context = await browser.newContext({ ...DESKTOP, ...settings });
  const page = await context.newPage();
  await page.goto(`${url}home/`);
  await shoot(page, "login");
  await page.fill('input[name="username"]', "alice");
  await page.fill('input[name="password"]', "secret");
  await page.press('input[name="password"]', "Enter");
  await page.waitForSelector("main#folder");
  for (const name of ["Annual report 2025.pdf", "Budget.xlsx"]) await page.check(`tr[data-name="${name}"] input`);
  await page.mouse.move(0, 0);
  await shoot(page, "folder");

  const phone = await browser.newContext({ ...PHONE, ...settings, storageState: await context.storageState() });
  const small = await phone.newPage();
  await small.goto(`${url}home/`);
  await shoot(small, "phone");
  await startUploads(small, uploads);
  await shoot(small, "phone-upload", "#transfers");
  await endUploads(small);
  await phone.close();
  for (const path of uploads) await rm(join(folder, basename(path)), { force: true });

  await page.reload();
  await startUploads(page, uploads);
  await shoot(page, "upload");
  await endUploads(page);
  await context.close();
}

const place = await mkdtemp(join(tmpdir(), "fileferry-screenshots-"));
await mkdir(images, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update"],
});
try {
  const source = join(place, "source");
  await fill(source, UPLOADED);
  const uploads = Object.keys(UPLOADED).map((name) => join(source, name));
  for (const colorScheme of ["light", "dark"]) {
    const folder = join(place, colorScheme);
    await fill(folder, SHOWN);
    const { child, url } = await serve(folder);
    await take(browser, url, folder, uploads, colorScheme);
    child.kill();
  }
} finally {
  await browser.close();
  await rm(place, { recursive: true, force: true });
}
