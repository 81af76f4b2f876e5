const CODE = "ERR_BODY_CONSUMED";

/** What a reader gets of a body that somebody else, mostly a body parser in front of the service, has read already: all of it or its beginning. */
export function createConsumedBodyError(): Error {
  const message = "The request's body was read before it reached the service: mount the service before body parsers";
  return Object.assign(new Error(message), { code: CODE });
}

/** Whether a thrown value is such an error, also one from another copy of this package. */
export function isConsumedBodyError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === CODE;
}

/**
 * Whether a request's body is another's already: read, being read, or left out although the header fields announce one. Without this what is missing could
 * pass for an empty file.
 */
export function isConsumed({ body, bodyUsed, headers }: Request): boolean {
  if (body !== null) return bodyUsed || body.locked === true;
  return headers.has("transfer-encoding") || Number(headers.get("content-length")) > 0;
}
