import { isQuotaError } from "../contracts/quota.ts";
import { isStorageError, type StorageErrorCode } from "../contracts/storage-adapter.ts";
import { createError, type ErrorCode } from "../http/errors.ts";
import { type Failure, type HttpError, isHttpError } from "../http/http-error.ts";
import type { Variant } from "../http/negotiate.ts";
import { isLocationError } from "../storage/mount.ts";

/** The three status tables (CONTRACT 1): the status of each failure, in the order json, webdav, html. */
const STATUSES: Readonly<Record<Failure, readonly [json: number, webdav: number, html: number]>> = {
  malformed: [400, 400, 400],
  unauthorized: [401, 401, 401],
  denied: [403, 403, 403],
  "not-found": [404, 404, 404],
  "method-not-allowed": [405, 405, 405],
  "method-not-implemented": [501, 501, 501],
  "already-exists": [422, 405, 400],
  "parent-missing": [422, 409, 400],
  "wrong-kind": [422, 409, 400],
  conflict: [409, 409, 409],
  locked: [423, 423, 423],
  "offset-mismatch": [409, 409, 409],
  gone: [410, 410, 410],
  // A status of tus, which the IANA registry does not have.
  "checksum-mismatch": [460, 460, 460],
  "precondition-failed": [412, 412, 412],
  "range-not-satisfiable": [416, 416, 416],
  "too-large": [413, 413, 413],
  "unsupported-media-type": [415, 415, 415],
  unprocessable: [422, 422, 422],
  "no-space": [507, 507, 507],
  "bad-gateway": [502, 502, 502],
  unavailable: [503, 503, 503],
  internal: [500, 500, 500],
};

const COLUMNS: Readonly<Record<Variant, 0 | 1 | 2>> = { json: 0, webdav: 1, html: 2 };

/** The status of a failure in a variant. */
export function toStatus(failure: Failure, variant: Variant): number {
  return STATUSES[failure][COLUMNS[variant]];
}

/** What clients see of a storage error: fixed texts, never the storage's own (SECURITY 14). */
const STORAGE_ERRORS: Readonly<Record<StorageErrorCode, ErrorCode>> = {
  "not-found": "not-found",
  "already-exists": "already-exists",
  "parent-missing": "parent-missing",
  "not-a-folder": "not-a-folder",
  "not-a-file": "not-a-file",
  "precondition-failed": "precondition-failed",
  "bad-name": "name-unsupported",
  incomplete: "length-mismatch",
  denied: "storage-denied",
  "no-space": "storage-full",
  "too-large": "storage-too-large",
  unavailable: "storage-unavailable",
  unsupported: "storage-unsupported",
  "offset-mismatch": "upload-offset-mismatch",
  locked: "upload-in-use",
  gone: "upload-gone",
};

/** Failures whose cause is reported to the operator, because the client cannot fix them. */
const OPERATORS_FAILURES: readonly Failure[] = ["denied", "unavailable", "internal"];

/** How far the causes of an error are followed: hosts may make errors that are their own cause. */
const MAX_CAUSES = 8;

/** Logs an error for the operator. `id` is the one in the response to the client. */
export type ReportError = (error: unknown, id?: string) => void;

/** Maps anything thrown to an `HttpError`. The same error always maps to the same result and is logged once. */
export type FailureOf = (error: unknown) => HttpError;

/**
 * Makes the mapping of errors for one request. An abort by the client is no defect and is not logged. Only an error
 * reads the request's signal, because runtimes make it when it is first read.
 */
export function createFailureOf(request: Pick<Request, "signal">, report: ReportError): FailureOf {
  let known: Map<unknown, HttpError> | undefined;

  return function failureOf(error) {
    const { signal } = request;
    if (signal.aborted && isCausedBy(error, signal.reason)) return createError("client-disconnected", { cause: error });
    known ??= new Map();
    const failure = known.get(error) ?? reportAsHttpError(error, report);
    known.set(error, failure);
    return failure;
  };
}

/** Whether an error is a reason, or has it among its causes: runtimes and hooks wrap the reason of an abort. */
function isCausedBy(error: unknown, reason: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    if (cause === reason) return true;
    if (!(cause instanceof Error)) return false;
    cause = cause.cause;
  }
  return false;
}

/**
 * Maps anything thrown to an `HttpError`, and reports to the operator what clients cannot fix. An unknown error becomes
 * `internal` without details, with an ID that the log has too.
 */
export function reportAsHttpError(error: unknown, report: ReportError): HttpError {
  if (isHttpError(error)) {
    if (error.cause !== undefined && OPERATORS_FAILURES.includes(error.failure)) report(error.cause);
    return error;
  }
  if (isStorageError(error) && Object.hasOwn(STORAGE_ERRORS, error.code)) {
    const isUnavailable = error.code === "unavailable";
    if (isUnavailable || (error.code === "denied" && !isLocationError(error))) report(error);
    const headers = isUnavailable || error.code === "locked" ? { "Retry-After": "1" } : {};
    const code = isQuotaError(error) ? "quota-used-up" : STORAGE_ERRORS[error.code];
    return createError(code, { headers, cause: error });
  }
  const id = crypto.randomUUID();
  report(error, id);
  return createError("internal", { values: { id }, cause: error });
}
