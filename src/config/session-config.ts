import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkOption, isWholeNumber } from "../contracts/option-error.ts";
import { isObject, isPositive, isStore } from "./checks.ts";
import type { FileServiceOptions } from "./options.ts";
import type { ServiceCookies } from "./session-cookie.ts";

/** The sessions of a service. */
export interface SessionConfig extends ServiceCookies {
  /** Absent: the caller creates a store in memory. */
  readonly store: KeyValueStore | undefined;
  readonly idleSeconds: number;
  readonly maxSeconds: number;
  /** 0: no limit. */
  readonly maxPerAccount: number;
  readonly announce: boolean;
}

/** Checks the option `session`. Its cookie is checked by `toCookies`. @throws OptionError */
export function toSessionConfig({ session = {} }: FileServiceOptions): Omit<SessionConfig, keyof ServiceCookies> {
  checkOption(isObject(session), "session", "an object");
  const { store, idleSeconds = 1800, maxSeconds = 43_200, maxPerAccount = 100, announce = true } = session;
  checkOption(isPositive(idleSeconds), "session.idleSeconds", "a positive number");
  checkOption(isPositive(maxSeconds), "session.maxSeconds", "a positive number");
  checkOption(isWholeNumber(maxPerAccount, 0, 1000), "session.maxPerAccount", "a whole number from 0 to 1000");
  checkOption(typeof announce === "boolean", "session.announce", "a boolean");
  checkOption(isStore(store), "session.store", "a key-value store");
  return { store, idleSeconds, maxSeconds, maxPerAccount, announce };
}
