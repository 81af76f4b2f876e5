import type { PasswordHasher } from "../auth/passwords/hash.ts";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkNames, checkOption, isWholeNumber } from "../contracts/option-error.ts";
import { hasMethods, isObject, isStore } from "./checks.ts";

/** The option `links`. */
export interface LinkOptions {
  /**
   * 32 characters or more, or a list of such texts. The first one seals new links, and all of them open links. To
   * replace a secret, put the new one in front, and remove the old one when its links are over. The removal ends them.
   * Services that serve different files need different secrets.
   */
  readonly secret: string | readonly string[];
  /**
   * Where links are kept. Processes that serve the same files need one store together. A store with `replace`, such as
   * that of `fileferry/stores/redis`, counts uses exactly. Default: none. A link then keeps everything in its URL: it
   * cannot be listed, withdrawn or limited in its uses.
   */
  readonly store?: KeyValueStore;
  /**
   * Hashes the passwords of links. Default: one in JavaScript, which blocks. On Node, that of
   * `createNodePasswordHasher` does not; share one with the accounts.
   */
  readonly passwordHasher?: PasswordHasher;
  /** How long a link lasts unless its owner says otherwise, in seconds. Default: 604,800 (a week). */
  readonly defaultSeconds?: number;
  /** How long a link may last, in seconds. Default: 31,536,000 (a year). */
  readonly maxSeconds?: number;
  /** How many links an account may have at the same time, from 1 to 10,000. It needs a store. Default: 1,000. */
  readonly maxPerAccount?: number;
}

/** The option `links` with its defaults. */
export interface LinkConfig {
  /** At least one. */
  readonly secrets: readonly string[];
  /** Absent: links are kept nowhere. */
  readonly store: KeyValueStore | undefined;
  /** Absent: the service creates one. */
  readonly passwordHasher: PasswordHasher | undefined;
  readonly defaultSeconds: number;
  readonly maxSeconds: number;
  readonly maxPerAccount: number;
}

const NAMES = ["secret", "store", "passwordHasher", "defaultSeconds", "maxSeconds", "maxPerAccount"];
const MIN_SECRET_CHARACTERS = 32;

/** Checks the option. @throws OptionError for an option such as `links.secret`. */
export function toLinks(links: LinkOptions | undefined): LinkConfig | undefined {
  if (links === undefined) return undefined;
  checkOption(isObject(links), "links", "an object");
  checkNames(links, NAMES, "links.");
  const { secret, store, passwordHasher, maxSeconds = 31_536_000, maxPerAccount = 1000 } = links;
  const secrets: readonly string[] = Array.isArray(secret) ? [...secret] : [secret];
  const areSecrets = secrets.length > 0 && secrets.every(isSecret);
  checkOption(areSecrets, "links.secret", `a text of at least ${MIN_SECRET_CHARACTERS} characters, or a list of such`);
  checkOption(isStore(store), "links.store", "a key-value store");
  checkOption(isWholeNumber(maxSeconds, 1), "links.maxSeconds", "a whole number of seconds");
  const { defaultSeconds = Math.min(604_800, maxSeconds) } = links;
  const isDefault = isWholeNumber(defaultSeconds, 1, maxSeconds);
  checkOption(isDefault, "links.defaultSeconds", "a whole number of seconds, at most links.maxSeconds");
  const isCount = isWholeNumber(maxPerAccount, 1, 10_000);
  checkOption(isCount, "links.maxPerAccount", "a whole number from 1 to 10,000");
  const isHasher = passwordHasher === undefined || hasMethods(passwordHasher, ["hash", "verify"]);
  checkOption(isHasher, "links.passwordHasher", "a password hasher");
  return { secrets, store, passwordHasher, defaultSeconds, maxSeconds, maxPerAccount };
}

function isSecret(text: unknown): boolean {
  return typeof text === "string" && [...text].length >= MIN_SECRET_CHARACTERS;
}
