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
  | "precondition-failed"
  | "range-not-satisfiable"
  | "too-large"
  | "unsupported-media-type"
  | "unprocessable"
  | "no-space"
  | "unavailable"
  | "internal";

/** Whether a thrown value is an {@link HttpError}. It also recognizes those of another copy of this package. */
export function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && error.name === "HttpError" && "failure" in error;
}

/** A failure of a request. The client sees the message, so it must not hold secrets or paths of the storage. */
export class HttpError extends Error {
  readonly failure: Failure;
  /** Header fields of the response, in addition to those that it has anyway. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    failure: Failure,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "HttpError";
    this.failure = failure;
    this.headers = headers;
  }
}
