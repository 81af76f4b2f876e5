import { checkOption } from "../contracts/option-error.ts";
import type { DecideUpload, UploadGuard } from "../contracts/upload.ts";
import { hasMethods } from "./checks.ts";

const EXPECTED = "a function, or an object with decide, receive, abandon and timeoutSeconds, or a list of these";

/** Checks the option `beforeCommit`, and returns its guards; none without it. @throws OptionError */
export function toUploadGuards(
  option: DecideUpload | UploadGuard | readonly (DecideUpload | UploadGuard)[] | undefined = [],
): readonly UploadGuard[] {
  const guards: readonly (DecideUpload | UploadGuard)[] = Array.isArray(option) ? [...option] : [option];
  return guards.map((guard) => {
    const whole = typeof guard === "function" ? { decide: guard } : guard;
    checkOption(isGuard(whole), "beforeCommit", EXPECTED);
    return whole;
  });
}

function isGuard(guard: UploadGuard): boolean {
  const { receive, abandon, timeoutSeconds = 1 } = guard ?? {};
  const areFunctions = [receive, abandon].every((one) => one === undefined || typeof one === "function");
  const isTimeout = typeof timeoutSeconds === "number" && timeoutSeconds > 0;
  return hasMethods(guard, ["decide"]) && areFunctions && isTimeout;
}
