import { checkOption } from "../contracts/option-error.ts";
import { CHARACTER_CLASSES, type PasswordPolicy } from "../contracts/password-policy.ts";
import { isCount, isObject } from "./checks.ts";

/** Checks the option `passwordPolicy`. @throws OptionError */
export function checkPasswordPolicy(policy: PasswordPolicy): void {
  checkOption(isObject(policy), "passwordPolicy", "an object");
  const {
    minLength = 12,
    maxLength = 1024,
    requireClasses = [],
    allowUserName = false,
    estimate,
    minEstimate = 0,
  } = policy;
  checkOption(isCount(minLength) && minLength <= 1024, "passwordPolicy.minLength", "a whole number from 1 to 1024");
  checkOption(
    isCount(maxLength) && maxLength >= minLength,
    "passwordPolicy.maxLength",
    "a whole number from minLength on",
  );
  const areClasses = Array.isArray(requireClasses) && requireClasses.every((name) => CHARACTER_CLASSES.includes(name));
  checkOption(areClasses, "passwordPolicy.requireClasses", `a list of ${CHARACTER_CLASSES.join(", ")}`);
  checkOption(typeof allowUserName === "boolean", "passwordPolicy.allowUserName", "a boolean");
  checkOption(estimate === undefined || typeof estimate === "function", "passwordPolicy.estimate", "a function");
  checkOption(Number.isFinite(minEstimate), "passwordPolicy.minEstimate", "a number");
}
