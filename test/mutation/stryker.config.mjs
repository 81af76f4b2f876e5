/** What `scripts/mutants.mjs` asks for; Stryker is not run by itself. */
const { MUTANTS_OF: folder = "", MUTANTS_BY: by = "", MUTANTS_REPORT: report = "" } = process.env;

export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  // From the root: there is also src/endpoints/site.
  ignorePatterns: ["/coverage", "/bench", "/site", "/examples", "/dist", "/test/*/node_modules"],
  tempDirName: `coverage/mutants/${folder}-${by}`,
  // A mutant waits more than it works.
  concurrency: 3,
  // A test may wait for a hash while others do.
  timeoutMS: 6_000,
  timeoutFactor: 2,
  reporters: ["json", "progress-append-only"],
  jsonReporter: { fileName: report },
  allowConsoleColors: false,
};
