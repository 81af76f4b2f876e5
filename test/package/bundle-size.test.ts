import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../support/built.ts";
import { toWorkerBundle } from "../support/worker-bundle.ts";

const WORKER = `
export { createAccountsAuthenticator, createFileService } from "./index.js";
export { createR2Storage } from "./storage/r2.js";
export { toWorkerHandler } from "./workers.js";
`;

beforeAll(() => ensureBuilt(), 300_000);

describe("what an application bundles, minified and compressed", () => {
  it.each([
    ["the service, R2 and the handler of Workers", WORKER, 218_000],
    ["all of fileferry", `export * from "./index.js";`, 230_000],
    ["a storage in memory", `export * from "./storage/memory.js";`, 2_700],
  ])("%s has no more bytes than it should", async (_name, contents, limit) => {
    const { outputFiles } = await build({
      ...toWorkerBundle(contents),
      minify: true,
      outfile: "bundle.js",
      // Two megabytes that are loaded with the page of the API.
      external: ["./parts/swagger-ui.js"],
    });
    const compressed = await promisify(gzip)(outputFiles[0]?.contents ?? "");
    expect(compressed.byteLength).toBeLessThan(limit);
    expect(compressed.byteLength).toBeGreaterThan(0.9 * limit);
  });
});
