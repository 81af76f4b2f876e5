import type { Logger } from "../contracts/logger.ts";

/** A logger that never throws: a log that fails must not fail what it is about. */
export function toSafeLogger(logger: Logger): Logger {
  function tell(level: keyof Logger): Logger[typeof level] {
    return (details, message) => {
      try {
        logger[level](details, message);
      } catch {
        // There is nobody left to tell.
      }
    };
  }

  return { info: tell("info"), warn: tell("warn"), error: tell("error") };
}
