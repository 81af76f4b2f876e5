import { execFileSync } from "node:child_process";
import type { TestContext } from "vitest";

/** What runs a command without root's right to pass over permissions; nothing for those who have no such right. */
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
