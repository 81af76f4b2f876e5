/**
 * What can go wrong with a request, whatever the API variant. Each variant maps it to a status of its own
 * (`endpoints/errors`).
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

/** Whether a thrown value is an {@link HttpError}, also one from another copy of this package. */
export function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && error.name === "HttpError" && "failure" in error;
}

/** A failure whose message is a fixed text of ours, fit for the client. */
export class HttpError extends Error {
  readonly failure: Failure;
  /** Header fields that the answer carries beside its own. */
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
