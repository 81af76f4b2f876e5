import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { findAsset, PASSWORDS_NAME, SCRIPT_NAME, VIEWER_NAME } from "../../src/views/assets.ts";
import { builtFolder, ensureBuilt } from "../support/built.ts";
import { toWorkerBundle } from "../support/workers/worker-bundle.ts";

const WORKER = `
export { createAccountsAuthenticator, createFileService } from "./index.js";
export { createR2Storage } from "./storage/r2.js";
export { toWorkerHandler } from "./workers.js";
`;

const PAGE = `
import { createClient } from "./client.js";
const client = createClient({ baseUrl: "", credentials: "cookie" });
document.querySelector("input").onchange = ({ target }) => client.put("/" + target.files[0].name, target.files[0]);
`;

const HOOKS = `
import { createClient } from "./client.js";
import { useFolder, useUploads } from "./react.js";
export { createClient, useFolder, useUploads };
`;

beforeAll(() => ensureBuilt(), 300_000);

describe("what an application bundles, minified and compressed", () => {
  it.each([
    ["the service, R2 and the handler of Workers", WORKER, 405_200],
    ["all of fileferry", `export * from "./index.js";`, 403_000],
    ["the client", `export * from "./client.js";`, 5_650],
    ["a page that uploads by the client", PAGE, 5_700],
    ["the hooks for React with the client, without React", HOOKS, 7_050],
    ["a storage in memory", `export * from "./storage/memory.js";`, 5_200],
  ])("%s has no more bytes than it should", async (_name, contents, limit) => {
    const { outputFiles } = await build({
      ...toWorkerBundle(contents),
      minify: true,
      outfile: "bundle.js",
      // Two megabytes that are loaded with the page of the API; React, which the page has.
      external: ["./parts/swagger-ui.js", "react"],
    });
    const compressed = await promisify(gzip)(outputFiles[0]?.contents ?? "");
    expect(compressed.byteLength).toBeLessThan(limit);
    expect(compressed.byteLength).toBeGreaterThan(0.9 * limit);
  });
});

describe("the scripts of the pages", () => {
  it.each([
    ["what every visit needs", SCRIPT_NAME, 22_800],
    ["what the viewer needs", VIEWER_NAME, 3_500],
    ["what a password needs", PASSWORDS_NAME, 700],
  ])("%s has no more bytes than it should, as it travels", async (_part, name, limit) => {
    const script = await promisify(gzip)(findAsset(name)?.text ?? "");
    expect(script.byteLength).toBeLessThan(limit);
    expect(script.byteLength).toBeGreaterThan(0.85 * limit);
  });
});

describe("what the command loads to serve what a configuration file describes", () => {
  it("has no more bytes than it should", async () => {
    const folder = join(builtFolder, "cli");
    const names = await readdir(folder);
    const nameOf = (begin: string): string => names.find((name) => name.startsWith(begin)) ?? begin;
    const loaded = new Map<string, string>();

    async function load(name: string): Promise<void> {
      if (loaded.has(name)) return;
      const text = await readFile(join(folder, name), "utf8");
      loaded.set(name, text);
      for (const [, imported = ""] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) await load(imported);
    }

    for (const name of ["main.js", nameOf("program-"), nameOf("file-")]) await load(name);
    const total = [...loaded.values()].join("");
    expect(loaded.size).toBeGreaterThan(5);
    // Each chunk takes time to be found and linked.
    expect(loaded.size).toBeLessThan(32);
    expect(total.length).toBeLessThan(1_850_000);
    expect(total.length).toBeGreaterThan(1_200_000);
    // As an import it makes the list of Node's root certificates, in 0.2 MB.
    expect(total).not.toContain('from"node:tls"');
    // V8 takes two bytes for each character of a module that has one beyond ASCII.
    expect(total).toMatch(/^[\0-\x7f]*$/);
  });
});
