import type { Authenticator } from "../contracts/authenticator.ts";
import type { Logger } from "../contracts/logger.ts";
import { createRetryError, type ErrorCode } from "../http/errors.ts";
import { isUnavailable } from "../http/http-error.ts";

/** What the client and the log get if a method fails. */
export interface MethodFailure {
  readonly code: Extract<ErrorCode, `${string}-unavailable`>;
  /** What did not happen, as the end of a sentence for the log: `no password was changed`. */
  readonly consequence: string;
  /** The account that the call was about, for the log. */
  readonly username?: string;
}

/**
 * Lets a method work, after its start. If the method fails, the failure is logged and the call rejects with the
 * HttpError of `failure`. The caller asks no later method: the account may be the failing one's own. An HttpError
 * `unavailable` of the method itself is passed on.
 */
export type CallMethod = <T>(method: Authenticator, failure: MethodFailure, work: () => Promise<T>) => Promise<T>;

/** Creates the calls of a chain. `startMethod` starts a method that was not started. */
export function createMethodCalls(
  startMethod: (method: Authenticator) => Promise<void>,
  logger: Logger | undefined,
): CallMethod {
  return async function callMethod(method, { code, consequence, ...details }, work) {
    try {
      await startMethod(method);
      return await work();
    } catch (error) {
      if (isUnavailable(error)) throw error;
      logger?.error({ method: method.name, ...details, error }, `An authentication method failed; ${consequence}.`);
      throw createRetryError(code);
    }
  };
}
