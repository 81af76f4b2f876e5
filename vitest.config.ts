import { defineConfig } from "vitest/config";
import { createViteAssets } from "./build/assets.ts";
import { createClosingLineReporter } from "./test/support/closing-line-reporter.ts";

const source = new URL("./src/", import.meta.url).pathname;

export default defineConfig({
  plugins: [createViteAssets()],
  resolve: {
    // Examples name the package as its users do; here it is the source, as `paths` in tsconfig.json says too.
    alias: [
      { find: /^fileferry$/, replacement: `${source}index.ts` },
      { find: /^fileferry\/testing$/, replacement: `${source}testing/index.ts` },
      { find: /^fileferry\/(.+)$/, replacement: `${source}$1.ts` },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/secrets-setup.ts", "test/support/wire-setup.ts"],
    globalSetup: ["test/support/s3-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Most of them wait for somebody else, such as a browser or a server: by default two cores would have one.
    maxWorkers: 2,
    reporters: ["default", createClosingLineReporter()],
  },
});
