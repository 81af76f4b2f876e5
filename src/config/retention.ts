import type { RetentionRule } from "../contracts/kept/retention.ts";
import { checkNames, checkOption } from "../contracts/option-error.ts";
import { toPathSegments } from "../contracts/storage-path.ts";

/** Checks the option. @throws OptionError for an option such as `retention[0].path`. */
export function toRetention(rules: readonly RetentionRule[] = []): readonly RetentionRule[] {
  checkOption(Array.isArray(rules), "retention", "a list of rules");
  for (const [index, rule] of rules.entries()) {
    const name = `retention[${index}]`;
    checkOption(typeof rule === "object" && rule !== null, name, "an object with path and seconds");
    checkNames(rule, ["path", "seconds"], `${name}.`);
    checkOption(isFolderPath(rule.path), `${name}.path`, "a canonical path, such as /inbox");
    const isDuration = Number.isSafeInteger(rule.seconds) && rule.seconds > 0;
    checkOption(isDuration, `${name}.seconds`, "a whole number of seconds, at least 1");
  }
  return rules;
}

function isFolderPath(path: unknown): boolean {
  if (typeof path !== "string") return false;
  try {
    toPathSegments(path);
    return true;
  } catch {
    return false;
  }
}
