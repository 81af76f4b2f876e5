import type { Authenticator, Credentials, Verdict } from "../contracts/authenticator.ts";
import type { Logger } from "../contracts/logger.ts";
import { isHttpError } from "../http/http-error.ts";
import { maxPasswordBytes } from "./password-hash.ts";

/** The methods of authentication as one, asked in their order (7.2). */
export interface AuthenticationChain {
  /**
   * Starts every method, one after the other, each once. Callers at the same time share one start. Rejects as the
   * first method that fails; the next call goes on with that one.
   */
  start(): Promise<void>;
  /**
   * Judges credentials: the first `accepted` or `rejected` is the verdict; the last `unknown`, when no method knows the account.
   * Empty or over-long credentials are rejected unasked. A method that fails counts as `rejected` and is
   * reported to the log. Starts the chain where nobody did.
   *
   * Rejects as {@link AuthenticationChain.start}, and with HttpError `unavailable` when a method is too busy to judge.
   */
  authenticate(credentials: Credentials): Promise<Verdict>;
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
  const started = new Set<Authenticator>();
  let starting: Promise<void> | undefined;

  function start(): Promise<void> {
    starting ??= startMethods().catch((error: unknown) => {
      starting = undefined;
      throw error;
    });
    return starting;
  }

  async function startMethods(): Promise<void> {
    for (const method of methods) {
      if (started.has(method)) continue;
      await method.start?.();
      started.add(method);
    }
  }

  async function authenticate(credentials: Credentials): Promise<Verdict> {
    await start();
    if (!isPlausible(credentials)) return { outcome: "rejected" };
    let verdict: Verdict = { outcome: "unknown" };
    for (const method of methods) {
      verdict = await ask(method, credentials);
      if (verdict.outcome !== "unknown") break;
    }
    return verdict;
  }

  async function ask(method: Authenticator, credentials: Credentials): Promise<Verdict> {
    try {
      const verdict = await method.authenticate(credentials);
      if (!isVerdict(verdict)) throw new TypeError("The method gave no verdict.");
      return verdict;
    } catch (error) {
      if (isHttpError(error) && error.failure === "unavailable") throw error;
      const details = { method: method.name, username: credentials.username, error };
      logger?.error(details, "An authentication method failed; the login is rejected.");
      return { outcome: "rejected" };
    }
  }

  return { start, authenticate };
}

/** Whether credentials may be anybody's. A user name with control characters is nobody's (RFC 7617 2, RFC 8265 3). */
function isPlausible({ type, username, content }: Credentials): boolean {
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
