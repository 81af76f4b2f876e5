import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkOption } from "../contracts/option-error.ts";
import { isCount, isObject, isStore } from "./checks.ts";

/** The option `digests`. */
export interface DigestOptions {
  /**
   * Where digests of files are remembered. Processes that serve the same files may share one; services with other files
   * must not. Default: the memory of this process.
   */
  readonly store?: KeyValueStore;
  /**
   * The size of the largest file that is read to compute its digest, in bytes; 0 for none. Default: 67,108,864 (64
   * MiB).
   */
  readonly computeBytes?: number;
}

/** The option `digests` with its defaults. */
export interface DigestConfig {
  /** Absent: the memory of this process. */
  readonly store: KeyValueStore | undefined;
  readonly computeBytes: number;
}

const DEFAULT_COMPUTE_BYTES = 64 * 1024 * 1024;

/** Checks the option. @throws OptionError for an option such as `digests.computeBytes`. */
export function toDigests(digests: DigestOptions | undefined): DigestConfig | undefined {
  if (digests === undefined) return undefined;
  checkOption(isObject(digests), "digests", "an object");
  const { store, computeBytes = DEFAULT_COMPUTE_BYTES } = digests;
  checkOption(isStore(store), "digests.store", "a key-value store");
  const isSize = computeBytes === 0 || isCount(computeBytes);
  checkOption(isSize, "digests.computeBytes", "a whole number of bytes, or 0");
  return { store, computeBytes };
}
