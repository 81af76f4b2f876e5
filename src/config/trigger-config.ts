import type { Trigger } from "../contracts/trigger.ts";
import type { FileServiceOptions } from "./options.ts";

/** The triggers of a service by their names. */
export type Triggers = ReadonlyMap<string, Trigger>;

/**
 * Checks the option `triggers`.
 * @throws TypeError naming the option that is wrong.
 */
export function toTriggers({ triggers = {} }: FileServiceOptions): Triggers {
  return new Map(Object.entries(triggers));
}
