import type {
  Accepted,
  Authenticator,
  Credentials,
  PasswordUpdatability,
  PasswordUpdate,
  PasswordUpdateOutcome,
  Verdict,
} from "../contracts/authenticator.ts";
import type { MethodVerdict } from "../contracts/events/logins.ts";
import type { Logger } from "../contracts/logger.ts";
import { HttpError, isHttpError } from "../http/http-error.ts";
import { createAccountVersions } from "./account-versions.ts";
import { maxPasswordBytes } from "./passwords/hash.ts";

/** A verdict, and how the chain came to it. */
export type ChainVerdict = Verdict & {
  /** The methods that were asked, in order. Empty where credentials cannot be anybody's. */
  readonly verdicts: readonly MethodVerdict[];
};

/** The methods of authentication as one, asked in their order (7.2). */
export interface AuthenticationChain {
  /**
   * Starts every method, one after the other, each once. Rejects as the first method that fails; the next call goes on with that one. A
   * method that was not started is when it is first asked.
   */
  start(): Promise<void>;
  /**
   * Judges credentials: the first `accepted` or `rejected` is the verdict; the last `unknown`, when no method knows the account.
   * Empty or over-long credentials are rejected unasked. A method that fails counts as `rejected` for the reason `failure`, one that
   * nobody started and whose start fails for the reason `unavailable`; both are reported to the log.
   *
   * Rejects with HttpError `unavailable` when a method is too busy to judge.
   */
  authenticate(credentials: Credentials): Promise<ChainVerdict>;
  /**
   * Whether a version of an account that the chain has given, with an `accepted` or to `beforeChange`, still stands: the method that it is of is asked, and
   * no other. `undefined` where that method is not there, or not any more. Rejects as it does.
   */
  isCurrent(username: string, version: string): Promise<boolean | undefined>;
  /**
   * Whether a method can change an account's password: the first one that knows the account decides. Rejects with {@link HttpError}
   * `unavailable` when a method fails, which is reported to the log.
   */
  canUpdatePassword(username: string): Promise<PasswordUpdatability>;
  /**
   * Changes a password by the first method that knows the account. Implausible credentials are a `wrong-password` unasked. Rejects as
   * {@link AuthenticationChain.canUpdatePassword}.
   */
  updatePassword(update: PasswordUpdate): Promise<PasswordUpdateOutcome>;
}

/** What the chain reports to. */
export interface AuthenticationChainOptions {
  /** Gets the failures of methods. Default: nobody. */
  readonly logger?: Logger;
}

const maxUsernameBytes = 255;
const maxContentBytes: Readonly<Record<Credentials["type"], number>> = {
  password: maxPasswordBytes,
  "ssh-key": 16 * 1024,
  "ssl-certificate": 64 * 1024,
};

/** Makes one method of several. Without any it knows nobody. */
export function createAuthenticationChain(
  authenticators: readonly Authenticator[],
  { logger }: AuthenticationChainOptions = {},
): AuthenticationChain {
  const methods = [...authenticators];
  const versions = createAccountVersions(methods, logger);
  const started = new Map<Authenticator, Promise<void>>();

  async function start(): Promise<void> {
    for (const method of methods) await startMethod(method);
  }

  /** Callers at the same time share one start. */
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
      // A name that no method knows costs the work of them all; so must a wrong password for one that an early method knows.
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
      logger?.error(details, "An authentication method does not start; the login is rejected.");
      return { outcome: "rejected", reason: "unavailable", audit: { problems: [toMessage(error)] } };
    }
    try {
      const verdict = await method.authenticate(credentials);
      if (!isVerdict(verdict)) throw new TypeError("The method gave no verdict.");
      return verdict.outcome === "accepted" ? withTag(method, verdict) : verdict;
    } catch (error) {
      if (isHttpError(error) && error.failure === "unavailable") throw error;
      const details = { method: method.name, username: credentials.username, error };
      logger?.error(details, "An authentication method failed; the login is rejected.");
      return { outcome: "rejected", reason: "failure" };
    }
  }

  function withTag(method: Authenticator, { version: given, ...verdict }: Accepted): Accepted {
    const version = versions.tag(method, given);
    return version === undefined ? verdict : { ...verdict, version };
  }

  async function isCurrent(username: string, version: string): Promise<boolean | undefined> {
    const own = versions.read(version);
    if (own === undefined) return undefined;
    await startMethod(own.method);
    return (await own.method.isCurrent?.(username, own.version)) === true;
  }

  async function canUpdatePassword(username: string): Promise<PasswordUpdatability> {
    for (const method of methods) {
      const outcome = await mapStoreErrors(method, username, () => askUpdatability(method, username));
      if (outcome !== "unknown") return outcome;
    }
    return "unknown";
  }

  async function updatePassword(update: PasswordUpdate): Promise<PasswordUpdateOutcome> {
    const { username, currentPassword: content } = update;
    if (!isPlausible({ type: "password", username, content })) return { outcome: "wrong-password" };
    for (const method of methods) {
      const outcome = await mapStoreErrors(method, username, () => askUpdate(method, withTags(method, update)));
      if (outcome.outcome !== "unknown") return outcome;
    }
    return { outcome: "unknown" };
  }

  function withTags(method: Authenticator, update: PasswordUpdate): PasswordUpdate {
    const { beforeChange } = update;
    if (beforeChange === undefined) return update;
    return { ...update, beforeChange: (version) => beforeChange(versions.tag(method, version)) };
  }

  /** A method that fails leaves a password as it was; another one may not be that of the account. */
  async function mapStoreErrors<T>(method: Authenticator, username: string, work: () => Promise<T>): Promise<T> {
    try {
      await startMethod(method);
      return await work();
    } catch (error) {
      if (isHttpError(error) && error.failure === "unavailable") throw error;
      logger?.error(
        { method: method.name, username, error },
        "An authentication method failed; no password was changed.",
      );
      throw new HttpError("unavailable", "Passwords cannot be changed at the moment.", { "Retry-After": "1" });
    }
  }

  return { start, authenticate, isCurrent, canUpdatePassword, updatePassword };
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function startOnce(method: Authenticator): Promise<void> {
  await method.start?.();
}

function toMethodVerdict({ name: method }: Authenticator, verdict: Verdict): MethodVerdict {
  const { outcome, audit } = verdict;
  const message = verdict.outcome === "accepted" ? undefined : verdict.message;
  return {
    method,
    outcome,
    ...(verdict.outcome === "rejected" && { reason: verdict.reason ?? "credentials" }),
    ...(message !== undefined && { message }),
    ...(audit !== undefined && { audit }),
  };
}

async function askUpdatability(method: Authenticator, username: string): Promise<PasswordUpdatability> {
  if (method.canUpdatePassword !== undefined) return method.canUpdatePassword(username);
  return method.updatePassword === undefined ? "unknown" : "updatable";
}

async function askUpdate(method: Authenticator, update: PasswordUpdate): Promise<PasswordUpdateOutcome> {
  const updatability = await askUpdatability(method, update.username);
  if (updatability !== "updatable") return { outcome: updatability };
  return (await method.updatePassword?.(update)) ?? { outcome: "not-updatable" };
}

/** Whether credentials may be anybody's. A user name with control characters is nobody's (RFC 7617 2, RFC 8265 3). */
export function isPlausible({ type, username, content }: Pick<Credentials, "type" | "username" | "content">): boolean {
  return isWithin(username, maxUsernameBytes) && !/\p{Cc}/u.test(username) && isWithin(content, maxContentBytes[type]);
}

/** Whether a text has 1 to `maxBytes` bytes as UTF-8; the first comparison spares encoding endless ones. */
function isWithin(text: string, maxBytes: number): boolean {
  return text !== "" && text.length <= maxBytes && new TextEncoder().encode(text).length <= maxBytes;
}

/** Methods may be written without types: what is not clearly a verdict must not open a door. */
function isVerdict(value: Verdict | undefined): boolean {
  if (value?.outcome === "accepted") return typeof value.account === "object" && value.account !== null;
  return value?.outcome === "unknown" || value?.outcome === "rejected";
}
