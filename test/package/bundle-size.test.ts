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
    ["the service, R2 and the handler of Workers", WORKER, 254_000],
    ["all of fileferry", `export * from "./index.js";`, 262_000],
    ["the client", `export * from "./client.js";`, 3_300],
    ["a page that uploads by the client", PAGE, 3_300],
    ["the hooks for React with the client, without React", HOOKS, 4_800],
    ["a storage in memory", `export * from "./storage/memory.js";`, 3_700],
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
