import { defineConfig } from "vitest/config";
import { createViteAssets } from "./build/assets.ts";
import { createClosingLineReporter } from "./test/support/runner/closing-line-reporter.ts";
import { ProjectSequencer } from "./test/support/runner/project-sequencer.ts";

const source = new URL("./src/", import.meta.url).pathname;

/** Unit, in-process and package tests. */
const QUICK = [
  "test/{bridges,client,unit,spec,package,security}/**/*.test.ts",
  "test/openapi/!(drift).test.ts",
  "test/conformance/{authenticators,stores}.test.ts",
];
/**
 * Tests in which calls of the system fail: they replace functions that a module takes when it is loaded. And one that
 * measures what it reaches of modules, from when it loads them on.
 */
const FAULTS = "test/{faults/{accounts-errno,disk/*},fuzz/fuzz}.test.ts";
/** Tests that need Chromium, Redis, an S3 server, nginx, strace, fail2ban, archivers, packages or another runtime. */
const INSTALLED = [
  "test/archive/*.test.ts",
  "test/bridges/buckets.test.ts",
  "test/browser/**/*.test.ts",
  "test/cli/{azure,fail2ban/filter,links-in-redis,s3}.test.ts",
  "test/conformance/{link-stores,presigned-s3,r2,redis-store,s3-servers,shared-stores,storage-azure,storage-s3,uploads-r2,uploads-s3}.test.ts",
  "test/faults/{quota-processes,s3-faults,traced-errno}.test.ts",
  "test/memory/{large-archives,s3}.test.ts",
  "test/runtimes/{clamd,client,client-example,cluster,example-commands,nginx,nginx-uploads,packed-package,slow-disk,workers}.test.ts",
  "test/runtimes/uploads/two-processes-{r2,s3}.test.ts",
  "test/runtimes/{applications/*,frameworks/*,offload/*,webdav/*,wire/{bun,deno,node-newest,workerd,workerd-r2}}.test.ts",
  "test/spec/login/shared-store.test.ts",
];

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
    setupFiles: ["test/support/secrets/setup.ts", "test/support/wire-setup.ts"],
    // On a busy machine tests in a browser take several times as long as on a quiet one.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    pool: "forks",
    // Most tests wait for something else, such as a browser or a server: by default two cores would have one worker.
    maxWorkers: 3,
    // The tests make many objects that live for a moment. A larger young generation has them collected less often.
    execArgv: ["--max-semi-space-size=64"],
    // Hundreds of tests have passwords in plain text, which the service warns about.
    silent: "passed-only",
    reporters: ["default", createClosingLineReporter()],
    sequence: { sequencer: ProjectSequencer },
    projects: [
      // `npm test`. Its tests are a part of the next project, so it is there only when it is asked for: a worker that
      // changes the project loads all modules once more. But for `faults`, all files of a worker share its modules.
      ...(process.argv.includes("quick")
        ? [{ extends: true as const, test: { name: "quick", include: QUICK, exclude: INSTALLED, isolate: false } }]
        : []),
      // `npm run check` runs these and the next ones.
      {
        extends: true,
        test: {
          name: "local",
          include: ["test/**/*.test.ts"],
          exclude: [...INSTALLED, FAULTS, "**/node_modules/**"],
          isolate: false,
        },
      },
      { extends: true, test: { name: "faults", include: [FAULTS], exclude: INSTALLED } },
      // `.ci/run` adds what needs programs or packages that `npm ci` does not install.
      {
        extends: true,
        test: { name: "installed", include: INSTALLED, isolate: false, globalSetup: ["test/support/s3/setup.ts"] },
      },
    ],
  },
});
