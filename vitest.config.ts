import { defineConfig } from "vitest/config";
import { createClosingLineReporter } from "./test/support/closing-line-reporter.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    reporters: ["default", createClosingLineReporter()],
  },
});
