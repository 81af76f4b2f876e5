import { defineConfig } from "tsup";
import { createEsbuildAssets } from "./build/assets.ts";
import { createEsbuildNotices } from "./build/notices.ts";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    "api-page": "src/api-page.ts",
    bun: "src/bun.ts",
    deno: "src/deno.ts",
    node: "src/node.ts",
    workers: "src/workers.ts",
    storage: "src/storage.ts",
    "storage/disk": "src/storage/disk.ts",
    "storage/memory": "src/storage/memory.ts",
    "storage/s3": "src/storage/s3.ts",
    "storage/r2": "src/storage/r2.ts",
    "stores/cloudflare-kv": "src/stores/cloudflare-kv.ts",
    "stores/memory": "src/stores/memory.ts",
    "stores/sqlite": "src/stores/sqlite.ts",
    "testing/index": "src/testing/index.ts",
    "cli/main": "src/cli/main.ts",
  },
  format: "esm",
  target: "es2022",
  platform: "neutral",
  external: [/^node:/],
  // Deno and workerd know the modules of Node by this prefix only.
  removeNodeProtocol: false,
  esbuildPlugins: [createEsbuildAssets(), createEsbuildNotices()],
  splitting: true,
  clean: true,
  sourcemap: false,
  dts: { compilerOptions: { ignoreDeprecations: "6.0" } },
});
