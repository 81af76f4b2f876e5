/**
 * What can go wrong with a request, in every API variant. Each variant maps a failure to its own status
 * (`request/errors.ts`).
 */
export type Failure =
  | "malformed"
  | "unauthorized"
  | "denied"
  | "not-found"
  | "method-not-allowed"
  | "method-not-implemented"
  | "already-exists"
  | "parent-missing"
  | "wrong-kind"
  | "conflict"
  | "locked"
  | "offset-mismatch"
  | "gone"
  | "checksum-mismatch"
  | "precondition-failed"
  | "range-not-satisfiable"
  | "too-large"
  | "unsupported-media-type"
  | "unprocessable"
  | "no-space"
  | "bad-gateway"
  | "unavailable"
  | "internal";

/** Whether a thrown value is an {@link HttpError}. It also recognizes those of another copy of this package. */
export function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && error.name === "HttpError" && "failure" in error;
}

/** Options of {@link HttpError}. */
export interface HttpErrorOptions extends ErrorOptions {
  /** Lower-case letters, digits and hyphens, for the header `Error-Code`. Default: the failure. */
  readonly code?: string;
  /** Values for the placeholders of the code's text in other languages (`languages.<tag>.failures`). Default: none. */
  readonly values?: Readonly<Record<string, string | number>> | undefined;
}

/** What a code looks like. */
export const ERROR_CODE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/**
 * A failure of a request. The client sees the message, so it must not hold secrets or paths of the storage.
 * @throws TypeError if the code is not one.
 */
export class HttpError extends Error {
  readonly failure: Failure;
  /** Identifies the error for programs: the response has it in the header `Error-Code`. */
  readonly code: string;
  readonly values: HttpErrorOptions["values"];
  /** Header fields of the response, in addition to those that it has anyway. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    failure: Failure,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    { code = failure, values, ...options }: HttpErrorOptions = {},
  ) {
    super(message, options);
    if (!ERROR_CODE.test(code)) throw new TypeError("code must consist of lower-case letters, digits and hyphens");
    this.name = "HttpError";
    this.failure = failure;
    this.code = code;
    this.values = values;
    this.headers = headers;
  }
}

/** Whether a value is the error of something that is not available at the moment. */
export function isUnavailable(value: unknown): value is HttpError {
  return isHttpError(value) && value.failure === "unavailable";
}
