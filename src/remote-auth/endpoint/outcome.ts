import type { z } from "zod";
import type { AccountSettings } from "../../contracts/account.ts";
import { hasLoneSurrogate } from "../../platform/text-encoding.ts";
import {
  type AuthenticationRejection,
  authenticationRejectionSchema,
  authenticationSuccessSchema,
  MAX_EXCHANGE_BYTES,
} from "../../schemas/remote-auth.ts";
import { readJson } from "../json-body.ts";

declare const made: unique symbol;

/** A verdict on one set of credentials (7.2), made by {@link AuthenticationOutcomes} alone. */
export interface AuthenticationOutcome {
  readonly [made]: true;
}

/** Makes the three verdicts (7.2). None of them throws: what breaks the interface is logged, and answered 500. */
export interface AuthenticationOutcomes {
  /** The credentials are valid. What the settings leave out comes from the account's group at the service (2.4). */
  readonly accept: (account?: AccountSettings) => AuthenticationOutcome;
  /** Neither the account nor the credentials are known here: the service asks its next method. The message is for its operator. */
  readonly unknown: (message?: string) => AuthenticationOutcome;
  /** The credentials are refused, and no other method is asked (2.5). */
  readonly reject: (reason?: AuthenticationRejection) => AuthenticationOutcome;
}

/** What an outcome is on the wire, or why it cannot be sent. */
export type OutcomeResponse =
  | { readonly status: 204 | 403 }
  | { readonly status: 200 | 401 | 403; readonly type: "json" | "plain"; readonly content: Uint8Array<ArrayBuffer> }
  /** Members by their paths and reasons, never a value. */
  | { readonly problems: readonly string[] };

/** The makers of outcomes of one endpoint, and what their outcomes are on the wire. */
export interface OutcomeRecorder {
  readonly outcomes: AuthenticationOutcomes;
  /** `undefined` for what these makers have not made. */
  toResponse(outcome: unknown): OutcomeResponse | undefined;
}

/** Only what these makers have made counts: an object that looks like an outcome lets nobody in. */
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
    // Of what is no object a map of this kind knows nothing.
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

/** Checks what will be read at the other end, as it is read there: not the value, but its JSON text. */
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
  const reading = readJson(response.content, schema);
  return "problems" in reading ? reading : response;
}

/**
 * JSON leaves out functions, and of an object of a class what is no field of its own, so that a promise or a row with getters is an empty object: such an
 * account would have its group's settings.
 */
function refuseLosses(_key: string, value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol" || !isPlain(value)) throw new TypeError();
  return value;
}

/** Whether it is no object of a class; of whichever realm, as what frameworks and tests hand on. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === null ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "hasOwnProperty"))
  );
}

/** JSON could write a lone surrogate, but no text in UTF-8 has one. */
function refuseSurrogates(key: string, value: unknown): unknown {
  if (hasLoneSurrogate(key) || (typeof value === "string" && hasLoneSurrogate(value))) throw new TypeError();
  return value;
}

function toContent(status: 200 | 401 | 403, type: "json" | "plain", text: string): OutcomeResponse {
  const content = new TextEncoder().encode(text);
  if (content.byteLength > MAX_EXCHANGE_BYTES) return { problems: [`more than ${MAX_EXCHANGE_BYTES} bytes`] };
  return { status, type, content };
}
