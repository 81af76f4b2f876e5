// How soon a folder's page is there in Chromium, and how it answers to its user: npm run bench -- --pages
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { createCatalog } from "./lib/catalog.mjs";
import { makeFixtures } from "./lib/fixtures.mjs";
import { startServer } from "./lib/processes.mjs";
import { median, toNumber, toPlainTable } from "./lib/report.mjs";
import { createGrowthWorkloads, toServedFolder } from "./workloads.mjs";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";
const ARGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-gpu"];
const SIZES = { full: [100, 5000, 100_000], quick: [100, 1000] };
const LIMIT_MS = 120_000;

/** Columns of the results, as the page of documentation has them. */
export const PAGE_COLUMNS = {
  firstPaint: "first paint, ms",
  usable: "usable, ms",
  ready: "ready, ms",
  filter: "filter, ms",
  selectAll: "select all, ms",
  shift: "layout shift",
  heap: "heap of the script, MB",
};

/** @returns rows: medians by the number of members. Times are from the start of the navigation. */
export async function measurePages({ dist, folder, isQuick, rounds }) {
  if (!existsSync(EXECUTABLE)) throw new Error(`There is no ${EXECUTABLE}.`);
  const sizes = isQuick ? SIZES.quick : SIZES.full;
  const [server] = createCatalog(dist);
  const template = createGrowthWorkloads(false).members[0];
  const workloads = sizes.map((size) => toWorkload(template, size));
  makeFixtures(folder, workloads);
  const rows = [];
  for (const [index, workload] of workloads.entries()) {
    const measured = [];
    for (let round = 0; round < rounds; round += 1) measured.push(await measureOne(server, workload, folder));
    const fields = Object.keys(measured[0]);
    const medians = fields.map((field) => [field, median(measured.map((one) => one[field]))]);
    rows.push({ size: sizes[index], ...Object.fromEntries(medians) });
  }
  const head = ["members", ...Object.values(PAGE_COLUMNS)];
  process.stdout.write(`\n${toPlainTable([head, ...rows.map(toPageCells)])}`);
  return rows;
}

export function toPageCells({ size, ...figures }) {
  return [size.toLocaleString("en"), ...Object.keys(PAGE_COLUMNS).map((field) => toNumber(figures[field]))];
}

function toWorkload(template, size) {
  const folder = `members-${size}`;
  return { ...template, size, fixture: { ...template.fixture, folder, count: size } };
}

/** One visit with an empty cache, in a browser of its own. */
async function measureOne(server, workload, root) {
  const running = await startServer(server, toServedFolder(root, workload));
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ARGS });
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    page.setDefaultTimeout(LIMIT_MS);
    const origin = `http://${running.host}:${running.port}`;
    await context.request.post(`${origin}/__svc__/login`, {
      headers: { Origin: origin },
      form: { username: "bench", password: "bench" },
      maxRedirects: 0,
    });
    await page.addInitScript(watch);
    await page.goto(`${origin}/home/${workload.fixture.folder}/`, { timeout: LIMIT_MS });
    await page.waitForFunction(() => globalThis.seen.ready > 0, undefined, { timeout: LIMIT_MS });
    const loaded = await page.evaluate(() => globalThis.seen);
    const filter = await page.evaluate(timeFilter);
    const selectAll = await page.evaluate(timeSelectAll);
    const session = await context.newCDPSession(page);
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    return { ...loaded, filter, selectAll, heap: usedSize / 1e6 };
  } finally {
    await browser.close();
    await running.stop();
  }
}

/**
 * Runs in the page before everything else: notes the first paint, shifts, the first frame in which rows and controls
 * work, and when the page has nothing to do.
 */
function watch() {
  const seen = { firstPaint: 0, usable: 0, ready: 0, shift: 0 };
  globalThis.seen = seen;
  const observe = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  observe("paint", ({ name, startTime }) => {
    if (name === "first-contentful-paint") seen.firstPaint = startTime;
  });
  observe("layout-shift", ({ value }) => {
    seen.shift += value;
  });
  // The script makes this button when it takes over the rows.
  const look = () => {
    if (document.querySelector(".selected .clear") === null) return requestAnimationFrame(look);
    setTimeout(() => {
      seen.usable = performance.now();
    });
  };
  requestAnimationFrame(look);
  addEventListener("load", () =>
    requestIdleCallback(() => {
      seen.ready = performance.now();
    }),
  );
}

/** How long it takes until what a user types in the filter is on the screen. */
function timeFilter() {
  const field = document.querySelector("#filter");
  if (field === null) return 0;
  const start = performance.now();
  field.value = "99";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  return new Promise((resolve) => {
    requestAnimationFrame(() =>
      setTimeout(() => {
        const passed = performance.now() - start;
        field.value = "";
        field.dispatchEvent(new Event("input", { bubbles: true }));
        resolve(passed);
      }),
    );
  });
}

/** How long it takes until all members are shown as selected. */
function timeSelectAll() {
  const start = performance.now();
  document.querySelector("#select-all").click();
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
  });
}
