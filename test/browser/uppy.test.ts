import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { build } from "esbuild";
import { beforeAll, expect, it } from "vitest";
import { listen } from "../runtimes/node/raw-client.ts";
import { projectFolder } from "../support/built.ts";
import { FILE_BYTES, openBrokenLink } from "../support/links/broken-link.ts";
import { describeInChromium } from "./chromium.ts";
import { openSite, PASSWORD } from "./site.ts";

const packages = join(projectFolder, "test/runtimes/node_modules");
const isInstalled = process.env.CI !== undefined || existsSync(join(packages, "@uppy/tus"));

/** The application of a page. */
const PROGRAM = `
import Uppy from "@uppy/core";
import Tus from "@uppy/tus";

globalThis.uploadByUppy = async (options) => {
  const progress = [];
  const uppy = new Uppy().use(Tus, options);
  uppy.on("upload-progress", (file, { bytesUploaded }) => progress.push(bytesUploaded));
  for (const file of document.querySelector("input").files) uppy.addFile({ name: file.name, type: file.type, data: file });
  const { successful, failed } = await uppy.upload();
  return { urls: successful.map(({ uploadURL }) => uploadURL), errors: failed.map(({ error }) => error), progress };
};
`;

/** What the page has. */
type WithUppy = typeof globalThis & {
  uploadByUppy(options: object): Promise<{
    readonly urls: readonly string[];
    readonly errors: readonly unknown[];
    readonly progress: readonly number[];
  }>;
};

/** Ways in which Uppy uploads. */
const WAYS: readonly (readonly [string, object])[] = [
  ["in one request as long as it lasts", {}],
  ["in parts", { chunkSize: Math.ceil(FILE_BYTES / 10) }],
  ["in three parts at the same time, which are joined", { parallelUploads: 3 }],
];

describeInChromium("Uppy with @uppy/tus in a page of another origin", (chromium) => {
  let program: string;

  beforeAll(async () => {
    if (!isInstalled) return;
    const { outputFiles } = await build({
      stdin: { contents: PROGRAM, resolveDir: join(projectFolder, "test/runtimes") },
      ...{ bundle: true, write: false, format: "iife", target: "es2022", logLevel: "silent" },
    });
    program = outputFiles[0]?.text ?? "";
  });

  /** Opens a page of an application, and the service behind a link that is cut, which knows the page's origin. */
  async function open() {
    const page = createServer((_request, response) => {
      response.setHeader("Content-Type", "text/html").end("<!doctype html><title>Uppy</title><input type=file>");
    });
    const origin = `http://127.0.0.1:${await listen(page)}`;
    const site = await openSite({ cors: { origins: [origin] } });
    const login = await fetch(`${site.origin}/__svc__/login`, {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/json" },
      body: JSON.stringify({ username: "alice", password: PASSWORD }),
    });
    const { results } = (await login.json()) as { readonly results: readonly { readonly session: string }[] };
    const session = results[0]?.session;
    const port = Number(new URL(site.origin).port);
    const link = await openBrokenLink({ next: () => port, root: site.folder });
    const watched = await chromium.open();
    await watched.page.goto(origin);
    await watched.page.evaluate(program);
    return { ...watched, site, link, session };
  }

  it.for(WAYS)("uploads %s over a link that is cut", async ([way, options], { skip }) => {
    skip(!isInstalled, "npm ci --prefix test/runtimes --ignore-scripts installs it");
    const { page, link, session, site } = await open();
    await page.setInputFiles("input", link.file);
    const result = await page.evaluate((given) => (globalThis as WithUppy).uploadByUppy(given), {
      endpoint: `${link.proxy.origin}/home/`,
      headers: { Authorization: `session ${session}` },
      retryDelays: [0, 100, 200, 400],
      ...options,
    });
    expect(result).toMatchObject({ errors: [] });
    expect(result.urls).toEqual([expect.stringMatching(/\/home\/__svc__\/uploads\/[0-9a-f]{32}$/)]);
    expect(result.progress.at(-1)).toBe(FILE_BYTES);
    await link.expectArrived("content.bin", `Uppy in Chromium ${way}`);
    expect((await site.list()).filter((name) => !name.startsWith(".fileferry-"))).toEqual(["content.bin"]);
  });
});
