import type {
  Accepted,
  AccountLookup,
  Authenticator,
  Credentials,
  PasswordAccepted,
  PasswordUpdatability,
  PasswordUpdate,
  PasswordUpdateOutcome,
  Verdict,
} from "../contracts/authenticator.ts";
import type { MethodVerdict } from "../contracts/events/logins.ts";
import type { Logger } from "../contracts/logger.ts";
import { isUnavailable } from "../http/http-error.ts";
import { createAccountLookups } from "./account-lookups.ts";
import { createAccountVersions } from "./account-versions.ts";
import { type ChainKeys, createChainKeys } from "./keys/chain-keys.ts";
import { toKeyId } from "./keys/key-text.ts";
import { createMethodCalls } from "./method-calls.ts";
import { createChainPasswords } from "./passwords/chain-passwords.ts";
import { maxPasswordBytes } from "./passwords/hash.ts";
import { isVerdict, toMethodVerdict } from "./verdicts.ts";

/** The verdict of a chain, with the verdicts of its methods. */
export type ChainVerdict = Verdict & {
  /**
   * The verdicts of the methods that were asked, in order. Empty if the credentials cannot be valid for any account.
   */
  readonly verdicts: readonly MethodVerdict[];
};

/** The authentication methods as one, asked in their order (7.2). */
export interface AuthenticationChain {
  /** The API keys of the accounts. Absent: no method keeps keys. */
  readonly apiKeys: ChainKeys | undefined;
  /**
   * Starts every method once, one after the other. Rejects with the error of the first method that fails; the next call
   * starts again with that method. A method that was not started is started when it is first asked.
   */
  start(): Promise<void>;
  /**
   * Verifies credentials. The verdict is the first one that is not `unknown`; if no method knows the account, it is the
   * last `unknown`. Empty or too long credentials are `rejected`, and no method is asked. If a method fails, the
   * verdict is `rejected` with the reason `failure`; if it fails to start, the reason is `unavailable`. The chain logs
   * both.
   *
   * Rejects with HttpError `unavailable` when a method is too busy.
   */
  authenticate(credentials: Credentials): Promise<ChainVerdict>;
  /**
   * Returns whether an account's version is still current. `version` is one that the chain gave with `accepted` or to
   * `beforeChange`. The chain asks only the method that the version comes from. Returns `undefined` if the chain does
   * not have that method. Rejects with {@link HttpError} `unavailable` when the method fails, and logs the failure.
   */
  isCurrent(username: string, version: string): Promise<boolean | undefined>;
  /**
   * Returns the settings that an account has now: those of the first method that finds it. They are checked: an account
   * whose settings make a login fail is `unknown`, and no later method is asked. `unknown` also means that no method
   * with `lookup` finds the account, or that no account can have the name, about which no method is asked.
   *
   * Returns `undefined` if no method has `lookup`. Rejects with {@link HttpError} `unavailable` when a method fails or
   * returns something else, and logs the failure.
   */
  lookup(username: string): Promise<AccountLookup | undefined>;
  /**
   * Returns whether the account's password can be changed. The first method that knows the account decides. Rejects
   * with {@link HttpError} `unavailable` when a method fails, and logs the failure.
   */
  canUpdatePassword(username: string): Promise<PasswordUpdatability>;
  /**
   * Lets the first method that knows the account change its password. For credentials that cannot be valid the outcome
   * is `wrong-password`, and no method is asked. Rejects like {@link AuthenticationChain.canUpdatePassword}.
   */
  updatePassword(update: PasswordUpdate): Promise<PasswordUpdateOutcome>;
}

/** Options of {@link createAuthenticationChain}. */
export interface AuthenticationChainOptions {
  /** Receives the failures of methods. Default: failures are not logged. */
  readonly logger?: Logger;
}

const maxUsernameBytes = 255;
const maxContentBytes: Readonly<Record<Credentials["type"], number>> = {
  password: maxPasswordBytes,
  "ssh-key": 16 * 1024,
  "ssl-certificate": 64 * 1024,
};

/** Creates a chain of methods. A chain without methods knows no account. */
export function createAuthenticationChain(
  authenticators: readonly Authenticator[],
  { logger }: AuthenticationChainOptions = {},
): AuthenticationChain {
  const methods = [...authenticators];
  const versions = createAccountVersions(methods, logger);
  const started = new Map<Authenticator, Promise<void>>();
  const callMethod = createMethodCalls(startMethod, logger);
  const lookups = createAccountLookups({ methods, callMethod, logger });
  const apiKeys = createChainKeys({ methods, callMethod, logger });
  const passwords = createChainPasswords({ methods, versions, callMethod });

  async function start(): Promise<void> {
    for (const method of methods) await startMethod(method);
  }

  /** Concurrent callers share one start. */
  function startMethod(method: Authenticator): Promise<void> {
    const known = started.get(method);
    if (known !== undefined) return known;
    const starting = startOnce(method).catch((error: unknown) => {
      started.delete(method);
      throw error;
    });
    started.set(method, starting);
    return starting;
  }

  async function authenticate(credentials: Credentials): Promise<ChainVerdict> {
    const verdicts: MethodVerdict[] = [];
    if (!isPlausible(credentials)) return { outcome: "rejected", verdicts };
    let verdict: Verdict = { outcome: "unknown" };
    for (const [index, method] of methods.entries()) {
      verdict = await ask(method, credentials);
      verdicts.push(toMethodVerdict(method, verdict));
      // A timing attack: for an unknown name every method does its work. A wrong password for a name that an early
      // method knows must take as long.
      if (verdict.outcome === "rejected") await equalizeTiming(methods.slice(index + 1), credentials);
      if (verdict.outcome !== "unknown") break;
    }
    return { ...verdict, verdicts };
  }

  async function equalizeTiming(others: readonly Authenticator[], credentials: Credentials): Promise<void> {
    for (const method of others) await method.equalizeTiming?.(credentials).catch(() => undefined);
  }

  async function ask(method: Authenticator, credentials: Credentials): Promise<Verdict> {
    try {
      await startMethod(method);
    } catch (error) {
      const details = { method: method.name, username: credentials.username, error };
      logger?.error(details, "An authentication method failed to start; the login is rejected.");
      return { outcome: "rejected", reason: "unavailable", audit: { problems: [toMessage(error)] } };
    }
    try {
      const verdict = await method.authenticate(credentials);
      if (!isVerdict(verdict)) throw new TypeError("The method returned no verdict.");
      const isRight = verdict.outcome === "accepted" || verdict.outcome === "second-factor";
      return isRight ? withTag(method, verdict) : verdict;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const details = { method: method.name, username: credentials.username, error };
      logger?.error(details, "An authentication method failed; the login is rejected.");
      return { outcome: "rejected", reason: "failure" };
    }
  }

  function withTag(
    method: Authenticator,
    { version: given, ...verdict }: Accepted | PasswordAccepted,
  ): Accepted | PasswordAccepted {
    const version = versions.tag(method, given);
    return version === undefined ? verdict : { ...verdict, version };
  }

  async function isCurrent(username: string, version: string): Promise<boolean | undefined> {
    const tagged = versions.read(version);
    if (tagged === undefined) return undefined;
    const { method, version: own } = tagged;
    const failure = { code: "account-lookup-unavailable", consequence: "a login was not confirmed", username } as const;
    return callMethod(method, failure, async () => (await method.isCurrent?.(username, own)) === true);
  }

  async function lookup(username: string): Promise<AccountLookup | undefined> {
    if (!lookups.isPossible) return undefined;
    return isPlausibleName(username) ? lookups.find(username) : { outcome: "unknown" };
  }

  async function updatePassword(update: PasswordUpdate): Promise<PasswordUpdateOutcome> {
    const { username, currentPassword: content } = update;
    if (!isPlausible({ type: "password", username, content })) return { outcome: "wrong-password" };
    return passwords.update(update);
  }

  return {
    apiKeys,
    start,
    authenticate,
    isCurrent,
    lookup,
    canUpdatePassword: passwords.canUpdate,
    updatePassword,
  };
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function startOnce(method: Authenticator): Promise<void> {
  await method.start?.();
}

/**
 * Returns whether any account could have these credentials. A user name with control characters is invalid (RFC 7617 2,
 * RFC 8265 3).
 */
export function isPlausible({ type, username, content }: Pick<Credentials, "type" | "username" | "content">): boolean {
  return isPlausibleName(username) && isWithin(content, maxContentBytes[type]);
}

/**
 * Whether a value can be the name of an account: text of 1 to 255 bytes without control characters. No method gets an
 * API key that a user has typed in place of a name, as it is a secret.
 */
export function isPlausibleName(username: unknown): username is string {
  if (typeof username !== "string" || !isWithin(username, maxUsernameBytes)) return false;
  return !/\p{Cc}/u.test(username) && toKeyId(username.trim()) === undefined;
}

/**
 * Returns whether a text has 1 to `maxBytes` bytes as UTF-8. A UTF-16 code unit is one to three bytes: most texts need
 * not be encoded.
 */
function isWithin(text: string, maxBytes: number): boolean {
  if (text === "" || text.length > maxBytes) return false;
  return 3 * text.length <= maxBytes || new TextEncoder().encode(text).length <= maxBytes;
}
