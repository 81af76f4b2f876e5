import { type AtomicKeyValueStore, checkAtomicStore } from "../contracts/atomic-store.ts";
import { checkOption, isWholeNumber } from "../contracts/option-error.ts";
import { isObject } from "./checks.ts";

/** The option `webdav`. */
export interface WebdavOptions {
  /**
   * Where locks are kept. Processes that serve the same files need one store together, that of
   * `fileferry/stores/sqlite`, `fileferry/stores/redis` or `fileferry/stores/durable-object`. Default: the memory of
   * this process.
   */
  readonly lockStore?: AtomicKeyValueStore;
  /**
   * The longest time that a lock is granted for, in seconds, from 60 to 604,800. Clients may refresh it. Default: 3600.
   */
  readonly maxLockSeconds?: number;
  /** The number of locks that one account may have at the same time, from 1 to 10,000. Default: 1000. */
  readonly locksPerAccount?: number;
  /** Whether a PROPFIND of `Depth: infinity` is answered, which lists everything below a folder. Default: false. */
  readonly infiniteDepth?: boolean;
}

/** The option `webdav` with its defaults. */
export interface WebdavConfig extends Required<Omit<WebdavOptions, "lockStore">> {
  /** Absent: the memory of this process. */
  readonly lockStore?: AtomicKeyValueStore;
}

/** Checks the option. @throws OptionError for an option such as `webdav.infiniteDepth`. */
export function toWebdav(webdav: WebdavOptions | undefined): WebdavConfig | undefined {
  if (webdav === undefined) return undefined;
  checkOption(isObject(webdav), "webdav", "an object");
  const { lockStore, maxLockSeconds = 3600, locksPerAccount = 1000, infiniteDepth = false } = webdav;
  checkOption(typeof infiniteDepth === "boolean", "webdav.infiniteDepth", "true or false");
  checkAtomicStore(lockStore, "webdav.lockStore");
  checkOption(isWholeNumber(maxLockSeconds, 60, 604_800), "webdav.maxLockSeconds", "a whole number from 60 to 604,800");
  checkOption(isWholeNumber(locksPerAccount, 1, 10_000), "webdav.locksPerAccount", "a whole number from 1 to 10,000");
  return { infiniteDepth, maxLockSeconds, locksPerAccount, ...(lockStore && { lockStore }) };
}
