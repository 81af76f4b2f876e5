import { execFileSync } from "node:child_process";
import type { TestContext } from "vitest";

/** The command that runs another one without root's right to ignore permissions. Empty for users without that right. */
export function toUnprivileged(skip: TestContext["skip"]): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  const by = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"];
  try {
    execFileSync("setpriv", [...by.slice(1), "true"], { stdio: "ignore" });
  } catch {
    skip("root's rights cannot be given up here");
  }
  return by;
}
