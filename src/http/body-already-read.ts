const CODE = "ERR_BODY_CONSUMED";

/**
 * Creates the error for a body that other code has already read, completely or in part. Usually this is a body parser
 * in front of the service.
 */
export function createBodyReadError(): Error {
  const message = "The request's body was read before it reached the service: mount the service before body parsers";
  return Object.assign(new Error(message), { code: CODE });
}

/** Whether a thrown value is such an error. It also recognizes those of another copy of this package. */
export function isBodyReadError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === CODE;
}

/**
 * Whether other code has read the request's body, is reading it, or has dropped it although the header fields announce
 * one. Without this check the missing content could be stored as an empty file.
 */
export function isBodyRead({ body, bodyUsed, headers }: Request): boolean {
  if (body !== null) return bodyUsed || body.locked === true;
  return headers.has("transfer-encoding") || Number(headers.get("content-length")) > 0;
}
