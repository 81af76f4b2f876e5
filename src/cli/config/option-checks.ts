import type { z } from "zod";
import type { FileServiceOptions } from "../../config/options.ts";
import { toServiceConfig } from "../../config/service-config.ts";
import { OptionError } from "../../contracts/option-error.ts";
import { createMemoryStorage } from "../../storage/memory.ts";

/**
 * Checks a value by creating what it configures, so that each rule exists only once. `create` throws an {@link
 * OptionError}. The name of its option, without the first `depth` parts, is the path of the wrong member in the value.
 */
export function checkByFactory<T>(create: (value: T) => void, depth = 0) {
  return (value: T, context: z.RefinementCtx<T>): void => {
    try {
      create(value);
    } catch (error) {
      if (!(error instanceof OptionError)) throw error;
      const path = isObject(value) ? toPath(error.option).slice(depth) : [];
      context.addIssue({ code: "custom", message: `must be ${error.expected}`, path });
    }
  };
}

/** Checks one option of the service, and its members, by the rule of the service. */
export function checkByService<T>(toOptions: (value: T) => Partial<FileServiceOptions>, depth = 1) {
  const authentication = { name: "nobody", authenticate: async () => ({ outcome: "unknown" }) as const };
  return checkByFactory<T>((value) => {
    toServiceConfig({ storage: createMemoryStorage(), authentication, ...toOptions(value) });
  }, depth);
}

/** Splits the name of an option into its parts, as `url[1]` into `url` and 1. */
function toPath(option: string): (string | number)[] {
  return option
    .split(/[.[\]]/)
    .filter((part) => part !== "")
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
