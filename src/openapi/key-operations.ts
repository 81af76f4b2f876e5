import { redirect, TRACE, UNSUPPORTED_CONTENT } from "./operation-parts.ts";
import type { OperationSpec } from "./operation-types.ts";

/** The operations of the API keys of an account. */
export const KEY_OPERATIONS = {
  listKeys: {
    summary: "List the API keys of the account",
    description: "Newest first, also those that have expired.",
    tag: "Login",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [{ status: 200, description: "The API keys.", content: ["keyList", "page"] }],
    failures: ["not-found"],
    lacks: ["malformed"],
  },
  createKey: {
    summary: "Make an API key",
    description:
      "Only this response has the key itself. Send it as `Authorization: Bearer` or as the password of HTTP Basic. An API key cannot make one.",
    tag: "Login",
    parameters: ["contentEncoding", "acceptLanguage", ...TRACE],
    body: "key",
    responses: [{ status: 201, description: "The API key.", content: ["key", "page"] }, UNSUPPORTED_CONTENT],
    failures: ["not-found", "too-large", "unsupported-media-type", "unprocessable"],
  },
  revokeKeyByForm: {
    summary: "Revoke an API key by a form",
    tag: "Login",
    parameters: ["contentEncoding", "acceptLanguage", ...TRACE],
    body: "revocation",
    responses: [redirect(303, "The form succeeded: redirect to the list of API keys."), UNSUPPORTED_CONTENT],
    failures: ["not-found", "too-large", "unsupported-media-type", "unprocessable"],
  },
  revokeKey: {
    summary: "Revoke an API key",
    tag: "Login",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [{ status: 204, description: "The API key was revoked." }],
    failures: ["not-found", "unprocessable"],
  },
} as const satisfies Readonly<Record<string, OperationSpec>>;
