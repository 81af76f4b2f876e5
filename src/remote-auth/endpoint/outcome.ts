import type { z } from "zod";
import type { AccountSettings } from "../../contracts/account.ts";
import { hasLoneSurrogate } from "../../platform/text-encoding.ts";
import {
  type AuthenticationRejection,
  authenticationRejectionSchema,
  authenticationSuccessSchema,
  MAX_MESSAGE_BYTES,
} from "../../schemas/remote-auth.ts";
import { parseJsonBody } from "../json-body.ts";

declare const made: unique symbol;

/** A verdict on one set of credentials (7.2). Only {@link AuthenticationOutcomes} can create it. */
export interface AuthenticationOutcome {
  readonly [made]: true;
}

/**
 * Creates the three verdicts (7.2). None of the functions throws: for an invalid argument the endpoint logs the problem
 * and responds with 500.
 */
export interface AuthenticationOutcomes {
  /** The credentials are valid. Missing settings come from the account's group at the service (2.4). */
  readonly accept: (account?: AccountSettings) => AuthenticationOutcome;
  /**
   * The endpoint knows neither the account nor the credentials: the service asks its next method. The message is for
   * the service's operator.
   */
  readonly unknown: (message?: string) => AuthenticationOutcome;
  /** The credentials are refused, and the service asks no other method (2.5). */
  readonly reject: (reason?: AuthenticationRejection) => AuthenticationOutcome;
}

/** The response for a verdict, or why it cannot be sent. */
export type OutcomeResponse =
  | { readonly status: 204 | 403 }
  | { readonly status: 200 | 401 | 403; readonly type: "json" | "plain"; readonly content: Uint8Array<ArrayBuffer> }
  /** The paths of members and reasons, never values. */
  | { readonly problems: readonly string[] };

/** The functions that create the verdicts of one endpoint, and the responses of these verdicts. */
export interface OutcomeRecorder {
  readonly outcomes: AuthenticationOutcomes;
  /** Returns `undefined` for a value that these functions did not create. */
  toResponse(outcome: unknown): OutcomeResponse | undefined;
}

/**
 * Creates the functions. Only verdicts that they created count: an object that looks like a verdict is refused.
 */
export function createOutcomeRecorder(): OutcomeRecorder {
  const answers = new WeakMap<object, OutcomeResponse>();

  function make(response: OutcomeResponse): AuthenticationOutcome {
    const outcome = Object.freeze({}) as AuthenticationOutcome;
    answers.set(outcome, response);
    return outcome;
  }

  return {
    outcomes: {
      accept: (account) => make(account === undefined ? { status: 204 } : toAccepted(account)),
      unknown: (message) => make(toUnknown(message)),
      reject: (reason) => make(reason === undefined ? { status: 403 } : toRejected(reason)),
    },
    // A WeakMap has no entry for a value that is not an object.
    toResponse: (outcome) => answers.get(outcome as object),
  };
}

function toAccepted(account: AccountSettings): OutcomeResponse {
  return toJsonResponse(200, { account }, authenticationSuccessSchema);
}

function toUnknown(message: unknown = ""): OutcomeResponse {
  if (typeof message !== "string") return { problems: ["message"] };
  return toContent(401, "plain", message);
}

function toRejected(reason: AuthenticationRejection): OutcomeResponse {
  return toJsonResponse(403, reason, authenticationRejectionSchema);
}

/** Checks the JSON text instead of the value, because the service reads the text. */
function toJsonResponse(status: 200 | 403, value: unknown, schema: z.ZodType): OutcomeResponse {
  let text: string;
  try {
    text = JSON.stringify(value, refuseLosses);
    JSON.parse(text, refuseSurrogates);
  } catch {
    return { problems: ["cannot be written as JSON in UTF-8: use only plain objects, lists and values"] };
  }
  if (status === 403 && text === "{}") return { status };
  const response = toContent(status, "json", text);
  if (!("content" in response)) return response;
  const reading = parseJsonBody(response.content, schema);
  return "problems" in reading ? reading : response;
}

/**
 * JSON drops functions, and keeps only the own fields of an instance of a class. A promise, or a row with getters,
 * would become an empty object: such an account would get its group's settings.
 */
function refuseLosses(_key: string, value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol" || !isPlain(value)) throw new TypeError();
  return value;
}

/**
 * Whether a value is not an instance of a class. Plain objects of other realms count as plain: frameworks and tests
 * pass them.
 */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === null ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "hasOwnProperty"))
  );
}

/** JSON could write a lone surrogate as an escape, but no text in UTF-8 has one. */
function refuseSurrogates(key: string, value: unknown): unknown {
  if (hasLoneSurrogate(key) || (typeof value === "string" && hasLoneSurrogate(value))) throw new TypeError();
  return value;
}

function toContent(status: 200 | 401 | 403, type: "json" | "plain", text: string): OutcomeResponse {
  const content = new TextEncoder().encode(text);
  if (content.byteLength > MAX_MESSAGE_BYTES) return { problems: [`more than ${MAX_MESSAGE_BYTES} bytes`] };
  return { status, type, content };
}
