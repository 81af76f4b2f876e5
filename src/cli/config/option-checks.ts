import type { z } from "zod";
import type { FileServiceOptions } from "../../config/options.ts";
import { toServiceConfig } from "../../config/service-config.ts";
import { createMemoryStorage } from "../../storage/memory.ts";

/**
 * A check of a value by what is made of it: its rules stand in one place only. `make` throws a `TypeError` as `The option <name> must be
 * <what>.`; behind its first `depth` parts the name is that of a member of the value.
 */
export function byMaker<T>(make: (value: T) => void, depth = 0) {
  return (value: T, context: z.RefinementCtx<T>): void => {
    try {
      make(value);
    } catch (error) {
      const { message } = error as Error;
      const [, option = "", reason = message] = /^The option (\S+) (.*)\.$/s.exec(message) ?? [];
      const path = isObject(value) ? toPath(option).slice(depth) : [];
      context.addIssue({ code: "custom", message: reason, path });
    }
  };
}

/** A check of one option of the service, and its members, by the service's own rule for it. */
export function byService<T>(toOptions: (value: T) => Partial<FileServiceOptions>) {
  const authentication = { name: "nobody", authenticate: async () => ({ outcome: "unknown" }) as const };
  return byMaker<T>((value) => {
    toServiceConfig({ storage: createMemoryStorage(), authentication, ...toOptions(value) });
  }, 1);
}

/** `url[1]` as its parts. */
function toPath(option: string): (string | number)[] {
  return option
    .split(/[.[\]]/)
    .filter((part) => part !== "")
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
