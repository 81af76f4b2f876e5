import type { Reporter, TestModule, TestSuite } from "vitest/node";

/**
 * Ends a run with one plain line for programs that read the log: `12 passed, 0 failed`, and `, 3 skipped` if some were.
 * A file, suite or hook that fails counts as a failed test, so no failed run looks green. Before that line, each test
 * that passed only at a repetition has a line of its own.
 */
export function createClosingLineReporter(): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const tests = modules.flatMap((module) => [...module.children.allTests()]);
      const count = (state: string) => tests.filter((test) => test.result().state === state).length;
      const broken = modules.flatMap((module) => [module, ...module.children.allSuites()]).filter(isBroken).length;
      const failed = count("failed") + broken + unhandledErrors.length;
      const skipped = count("skipped") + count("pending");
      for (const test of tests.filter((test) => test.diagnostic()?.flaky)) {
        process.stdout.write(`\nNot at the first try: ${test.module.relativeModuleId} > ${test.fullName}\n`);
      }
      process.stdout.write(
        `\n${count("passed")} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
      );
    },
  };
}

/** Whether something other than the tests in it failed. */
function isBroken(part: TestModule | TestSuite): boolean {
  return part.errors().length > 0;
}
