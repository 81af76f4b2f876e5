import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";

/** Chromium as people have it. */
const WHOLE = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** The same engine alone: it takes half the processor's time, and displays no PDF files. */
const ENGINE = "/usr/bin/chromium-headless-shell";
const EXECUTABLE = process.env.CHROMIUM === undefined && existsSync(ENGINE) ? ENGINE : WHOLE;
/** Busy machines take long. */
const PATIENCE_MS = 45_000;

/** As `describe`, in a Chromium of its own; where the machine has none, the name says why it is skipped. */
export function describeInChromium(
  name: string,
  body: (chromium: Chromium) => void,
  { executablePath = EXECUTABLE }: { executablePath?: string } = {},
): void {
  const isThere = existsSync(executablePath);
  describe.skipIf(!isThere)(isThere ? name : `${name} (skipped: there is no ${executablePath})`, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await chromium.launch({ ...LAUNCH, executablePath });
    });
    afterAll(() => browser?.close());
    body({ open: (options) => openPage(browser, options) });
  });
}

/** For tests of what the engine alone does not have. */
export function describeInWholeChromium(name: string, body: (chromium: Chromium) => void): void {
  describeInChromium(name, body, { executablePath: WHOLE });
}

const LAUNCH = {
  executablePath: EXECUTABLE,
  args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-gpu"],
};

export function launchChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ ...LAUNCH, args: [...LAUNCH.args, ...args] });
}

/** As `expect.poll`, with the patience that a busy machine asks for; for large files it is longer. */
export function eventually<T>(read: () => Promise<T> | T, timeout = PATIENCE_MS): ReturnType<typeof expect.poll<T>> {
  return expect.poll(read, { timeout });
}

/** The browser of a file's tests. */
export interface Chromium {
  /** Opens a page with nothing stored. */
  open(options?: BrowserContextOptions): Promise<WatchedPage>;
}

/** A page, and what it complains about. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the console, uncaught errors, and what the Content-Security-Policy held back. */
  readonly complaints: string[];
  /** Fails for any complaint but those that the test has provoked. */
  expectNoComplaints(expected?: RegExp): void;
}

async function openPage(browser: Browser | undefined, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  if (browser === undefined) throw new Error("The browser has not started.");
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on("console", (message) => {
    const type = message.type();
    if (type === "error" || type === "warning") complaints.push(`${type}: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("crash", () => complaints.push("crashed"));
  if (options.javaScriptEnabled !== false) {
    await page.exposeFunction("reportViolation", (violation: string) => complaints.push(`policy: ${violation}`));
    await page.addInitScript(() => {
      addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) => {
        const { reportViolation } = globalThis as unknown as { reportViolation(text: string): void };
        reportViolation(`${violatedDirective} ${blockedURI} ${sample}`);
      });
    });
  }
  return {
    page,
    context,
    complaints,
    expectNoComplaints(expected) {
      expect(complaints.filter((complaint) => expected === undefined || !expected.test(complaint))).toEqual([]);
    },
  };
}
