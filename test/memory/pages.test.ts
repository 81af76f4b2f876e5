import { once } from "node:events";
import { linkSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Command, startCommand } from "../support/command.ts";
import { amount } from "../support/trust.ts";

const MEMBERS = 50_000;
const CLIENTS = 16;
/** The number of pages that are read to their ends after all. */
const READ = amount({ short: 2, long: CLIENTS });
/** The members of a sorted listing, and how many clients ask for it. */
const LISTED = 3000;
const LISTINGS = amount({ short: 100, ci: 300, long: 300 });
/** By the default of `limits.pageBytesPerAccount`. */
const MOST_PAGES = 7;
const MAX_RSS_MEGABYTES = 220;
const auth = "demo:demo";

describe.skipIf(process.platform !== "linux")("memory of the command that shows large folders (needs /proc)", () => {
  let folder: string;
  let service: Command;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fileferry-memory-"));
    await fill("many", MEMBERS);
    await fill("some", LISTED);
  }, 120_000);

  afterAll(() => rm(folder, { recursive: true }));

  beforeEach(async () => {
    service = await startCommand(["serve", folder, "--account", auth, "--port", "0", "--quiet"]);
  }, 120_000);

  afterEach(() => service.stop());

  /** One file under many names: made, and removed, in a tenth of the time of as many files. */
  async function fill(name: string, count: number): Promise<void> {
    const path = (index: number) => join(folder, name, `member-${index}.txt`);
    await mkdir(join(folder, name));
    await writeFile(path(0), "");
    for (let index = 1; index < count; index += 1) linkSync(path(0), path(index));
  }

  async function openFolder(target: string, accept: string): Promise<IncomingMessage> {
    const sent = request(`${service.origin}/home/${target}`, { auth, agent: false, headers: { accept } });
    sent.end();
    const [response] = await once(sent, "response");
    return response;
  }

  const openPage = (): Promise<IncomingMessage> => openFolder("many/", "text/html");

  async function countRows(page: IncomingMessage): Promise<number> {
    let rows = 0;
    let rest = "";
    for await (const chunk of page) {
      const parts = (rest + chunk).split("<tr data-name=");
      rows += parts.length - 1;
      rest = (parts.at(-1) ?? "").slice(-20);
    }
    return rows;
  }

  it(`stays under ${MAX_RSS_MEGABYTES} MB, whoever asks for pages and does not read them`, async () => {
    const pages = await Promise.all(Array.from({ length: CLIENTS }, openPage));
    const shown = pages.filter(({ statusCode }) => statusCode === 200);
    expect(shown.length).toBeGreaterThanOrEqual(MOST_PAGES - 2);
    expect(shown.length).toBeLessThanOrEqual(MOST_PAGES);
    for (const { statusCode, headers } of pages.filter((page) => !shown.includes(page)))
      expect([statusCode, headers["retry-after"]]).toEqual([503, "5"]);
    const read = shown.slice(-READ);
    expect(await Promise.all(read.map(countRows))).toEqual(read.map(() => MEMBERS));
    expect(await service.peakMegabytes()).toBeLessThan(MAX_RSS_MEGABYTES);
    for (const page of shown) page.destroy();
    const again = await openPage();
    expect(again.statusCode).toBe(200);
    again.destroy();
  }, 120_000);

  it(`stays under ${MAX_RSS_MEGABYTES} MB, whoever asks for sorted listings and does not read them`, async () => {
    const parts = await Promise.all(
      Array.from({ length: LISTINGS }, () => openFolder("some/?limit=10000", "application/json")),
    );
    const statuses = parts.map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(await service.peakMegabytes()).toBeLessThan(MAX_RSS_MEGABYTES);
    for (const part of parts) part.destroy();
  }, 120_000);
});
