import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkOption } from "../contracts/option-error.ts";
import { isObject, isPositive, isStore } from "./checks.ts";

/** The option `idempotency`. */
export interface IdempotencyOptions {
  /**
   * Where responses are kept, encrypted. Processes that serve the same files need one store together; of those with
   * `replace`, such as that of `fileferry/stores/redis`, one process runs a request exactly once.
   */
  readonly store: KeyValueStore;
  /** How long a response is kept, in seconds. Default: 86,400 (a day). */
  readonly seconds?: number;
}

/** The option `idempotency` with its defaults. */
export type IdempotencyConfig = Required<IdempotencyOptions>;

/** Checks the option. @throws OptionError for an option such as `idempotency.seconds`. */
export function toIdempotency(idempotency: IdempotencyOptions | undefined): IdempotencyConfig | undefined {
  if (idempotency === undefined) return undefined;
  checkOption(isObject(idempotency), "idempotency", "an object");
  const { store, seconds = 86_400 } = idempotency;
  checkOption(store !== undefined && isStore(store), "idempotency.store", "a key-value store");
  checkOption(isPositive(seconds), "idempotency.seconds", "a positive number");
  return { store, seconds };
}
