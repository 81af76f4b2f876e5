import type { ErrorCode } from "../http/errors.ts";
import type { FolderCommandOutcome } from "./results.ts";

/** What is known of a failure. */
export interface FileferryErrorDetails extends ErrorOptions {
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly retryAfter?: number | undefined;
  readonly outcomes?: readonly FolderCommandOutcome[];
}

/** A request that failed, with the service's text as message. */
export class FileferryError extends Error {
  override readonly name = "FileferryError";
  /** The `Error-Code` of the response. Absent if the response is not the service's own, or if there was none. */
  readonly code: ErrorCode | (string & {}) | undefined;
  /** The status of the response. Absent if there was none, or content was not readable; `cause` then has the reason. */
  readonly status: number | undefined;
  /** After how many seconds the service wants the request to be repeated, if it said so. */
  readonly retryAfter: number | undefined;
  /** The result of each target of a folder's commands; empty for other requests. */
  readonly outcomes: readonly FolderCommandOutcome[];

  constructor(message: string, { code, status, retryAfter, outcomes = [], ...options }: FileferryErrorDetails = {}) {
    super(message, options);
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
    this.outcomes = outcomes;
  }
}

/** Makes the error of a response whose status is a failure. */
export async function toResponseError(response: Response): Promise<FileferryError> {
  const { status, headers } = response;
  const items = parseErrors(await response.text().catch(() => ""));
  const messages = items.map(({ target, message }) =>
    target === undefined ? message : message && `${target}: ${message}`,
  );
  return new FileferryError(messages.filter(Boolean).join(" ") || `The service responded with status ${status}.`, {
    code: headers.get("Error-Code") ?? undefined,
    status,
    retryAfter: parseRetryAfterSeconds(headers.get("Retry-After")),
    outcomes: items.filter((item): item is FolderCommandOutcome => item.target !== undefined),
  });
}

/** Throws the reason of an aborted signal, otherwise an error for a request that ended without a usable response. */
export function throwFailure(cause: unknown, signal: AbortSignal | null | undefined): never {
  signal?.throwIfAborted();
  throw cause instanceof FileferryError ? cause : new FileferryError("There is no response of the service.", { cause });
}

/** An item of a failure's body; with a target if commands ran. */
interface ErrorItem {
  readonly target?: string;
  readonly message: string | null;
}

/** Parses the body of a failure. A body that is not the service's has no items. */
function parseErrors(body: string): readonly ErrorItem[] {
  try {
    const { errors } = JSON.parse(body);
    return Array.isArray(errors) ? errors.filter((item) => item?.message !== undefined) : [];
  } catch {
    return [];
  }
}

/** Proxies may send a date instead of seconds. */
function parseRetryAfterSeconds(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
