import { fillText } from "../platform/fill-text.ts";
import { ERRORS, type ErrorCode } from "./errors/table.ts";
import { type Failure, HttpError, isUnavailable } from "./http-error.ts";

export { ERRORS, type ErrorCode };

/** The values of a text's placeholders, by their names. */
export type ErrorValues = Readonly<Record<string, string | number>>;

/** The code of a response about several errors with different codes. */
export const SEVERAL_ERRORS = "several";

/** The code of a response about one or more errors. */
export function toCommonCode(errors: readonly Pick<HttpError, "code">[]): string {
  const [code, ...others] = new Set(errors.map((error) => error.code));
  return code === undefined || others.length > 0 ? SEVERAL_ERRORS : code;
}

/** What an error has besides its code. */
export interface ErrorDetails extends ErrorOptions {
  /** They fill the placeholders of the text. */
  readonly values?: ErrorValues;
  /** Header fields of the response. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes an error of the table. */
export function createError(code: ErrorCode, { values = {}, headers, ...options }: ErrorDetails = {}): HttpError {
  const [failure, text] = ERRORS[code];
  return new HttpError(failure, fillText(text, values), headers, { ...options, code, values });
}

/** Makes an error of the table that asks the client to send the request again after a second. */
export function createRetryError(code: ErrorCode, cause?: unknown): HttpError {
  return createError(code, { headers: { "Retry-After": "1" }, cause });
}

/**
 * Runs work. @throws what the work throws if `isPassedOn` accepts it, by default an HttpError `unavailable`; else
 * {@link createRetryError} of the code.
 */
export async function orRetryError<T>(
  code: ErrorCode,
  work: () => Promise<T>,
  isPassedOn: (cause: unknown) => boolean = isUnavailable,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw isPassedOn(cause) ? cause : createRetryError(code, cause);
  }
}

/**
 * Makes the error of a refusal by a function of the host, in the host's own words. If the function has thrown an error
 * with a code of its own, the code stays. The failure does not: a 401, for example, would be wrong for this request.
 * Only the failures of `kept` stay, with the header fields of their errors.
 */
export function toHostRefusal(
  refusal: ErrorCode,
  message: string,
  cause?: HttpError,
  kept: readonly Failure[] = [],
): HttpError {
  if (cause !== undefined && kept.includes(cause.failure)) {
    const { failure, headers, code, values } = cause;
    return new HttpError(failure, message, headers, { code, values, cause });
  }
  const isOwnCode = cause !== undefined && cause.code !== cause.failure;
  const { code, values } = isOwnCode ? cause : { code: refusal };
  return new HttpError(ERRORS[refusal][0], message, {}, { code, values, cause });
}
