import type { Logger } from "../contracts/logger.ts";

/** Wraps a logger so that it never throws: a failed log line must not fail the work that it reports. */
export function toSafeLogger(logger: Logger): Logger {
  function toSafe(level: keyof Logger): Logger[typeof level] {
    return (details, message) => {
      try {
        logger[level](details, message);
      } catch {
        // There is no other place to report this.
      }
    };
  }

  return { info: toSafe("info"), warn: toSafe("warn"), error: toSafe("error") };
}
