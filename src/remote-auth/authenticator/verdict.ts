import type { Rejected, Verdict } from "../../contracts/authenticator.ts";
import type { RemoteResponse } from "../../outbound/send-request.ts";
import { authenticationRejectionSchema, authenticationSuccessSchema } from "../../schemas/remote-auth.ts";
import { decodeBody, isJson, parseJsonBody } from "../json-body.ts";

/** What the external method reports to the operator about each verdict, as its `audit`. It holds no credentials. */
export interface RemoteAudit {
  /** The URL that responded, without its query. Absent if none responded, or none was asked. */
  readonly url?: string;
  /** The status of the response; 0 for a redirect whose status the platform hides. */
  readonly status?: number;
  /** The `code` of a JSON 403 (2.5). */
  readonly code?: number;
  /**
   * The plain text of a 403, cut to 1,000 characters. The text of a 401 or of a JSON 403 is the verdict's `message`
   * instead.
   */
  readonly message?: string;
  /** The `extra` of a JSON 403 (2.5). */
  readonly extra?: unknown;
  /**
   * The 401 had a `WWW-Authenticate`: the endpoint sends one with every 401, or it refuses the request's own
   * credentials (5.2).
   */
  readonly challenged?: true;
  /** What is wrong with the response, such as `account.foo: unknown key`, or why there is none. Never a value. */
  readonly problems?: readonly string[];
}

const maxMessageLength = 1000;

/** The verdict of a complete response (7.2), with the audit for the operator. */
export function toVerdict(response: RemoteResponse): Verdict & { readonly audit: RemoteAudit } {
  switch (response.status) {
    case 204:
      return { outcome: "accepted", account: {}, audit: auditOf(response) };
    case 200:
      return toAccepted(response);
    case 401:
      return toUnknown(response);
    case 403:
      return toRejected(response);
    default:
      // A gateway, or the endpoint itself, says that the credentials were not verified (RFC 9110 15.6.3 to 15.6.5).
      if (isOutage(response.status)) {
        return {
          ...fail(response, [`responded ${response.status}: the credentials could not be verified`]),
          reason: "unavailable",
        };
      }
      return fail(response, [describeStatus(response.status)]);
  }
}

/** Whether a status says that the credentials were not verified. */
export function isOutage(status: number): boolean {
  return status >= 502 && status <= 504;
}

type Audited = Verdict & { readonly audit: RemoteAudit };

/** Only a body that is completely understood accepts a login (CONTRACT 9.1). */
function toAccepted(response: RemoteResponse): Audited {
  const { body, contentType } = response;
  if ("problem" in body) return fail(response, [body.problem]);
  if (body.bytes.byteLength === 0) return { outcome: "accepted", account: {}, audit: auditOf(response) };
  if (!isJson(contentType)) return fail(response, ["the Content-Type is not application/json in UTF-8"]);
  const reading = parseJsonBody(body.bytes, authenticationSuccessSchema);
  if ("problems" in reading) return fail(response, reading.problems);
  return { outcome: "accepted", account: reading.value.account ?? {}, audit: auditOf(response) };
}

function toUnknown(response: RemoteResponse): Audited {
  const { text, problem } = readMessage(response);
  // An invalid response is no verdict, with any status (7.2, CONTRACT 9.1).
  if (problem !== undefined) return fail(response, [problem]);
  return { outcome: "unknown", ...(text !== undefined && { message: text }), audit: auditOf(response) };
}

/** A 403 rejects with any body. Users may only see the message of a valid JSON body (7.2, CONTRACT 9.4). */
function toRejected(response: RemoteResponse): Audited {
  const rejected = { outcome: "rejected", reason: "credentials" } as const;
  const { body, contentType } = response;
  if ("problem" in body || body.bytes.byteLength === 0 || !isJson(contentType)) {
    const { text, problem } = readMessage(response);
    const found = {
      ...(text !== undefined && { message: text }),
      ...(problem !== undefined && { problems: [problem] }),
    };
    return { ...rejected, audit: { ...auditOf(response), ...found } };
  }
  const reading = parseJsonBody(body.bytes, authenticationRejectionSchema);
  if ("problems" in reading) return { ...rejected, audit: { ...auditOf(response), problems: reading.problems } };
  const { code, extra, public_response: publicResponse } = reading.value;
  const message = toShortText(reading.value.message ?? "");
  const audit = { ...auditOf(response), ...(code !== undefined && { code }), ...(extra !== undefined && { extra }) };
  return {
    ...rejected,
    ...(message !== undefined && { message }),
    ...(publicResponse !== undefined && { publicResponse }),
    audit,
  };
}

function fail(response: RemoteResponse, problems: readonly string[]): Rejected & { readonly audit: RemoteAudit } {
  return { outcome: "rejected", reason: "failure", audit: { ...auditOf(response), problems } };
}

function auditOf({ url, status, challenged }: RemoteResponse): RemoteAudit {
  return { url: url.shown, status, ...(status === 401 && challenged && { challenged }) };
}

function describeStatus(status: number): string {
  if (status === 0 || (status >= 300 && status < 400))
    return "the response is a redirect, and redirects are not followed";
  return `the status ${status} is not part of the interface`;
}

/** The text of a 401 or 403 for the operator, or what is wrong with it. */
function readMessage({ body }: RemoteResponse): { readonly text?: string | undefined; readonly problem?: string } {
  if ("problem" in body) return { problem: body.problem };
  const decoded = decodeBody(body.bytes);
  if (decoded === undefined) return { problem: "the body is not in UTF-8, or begins with a byte order mark" };
  return { text: toShortText(decoded) };
}

/** A text without the white space around it, cut to its maximum length; `undefined` if nothing is left. */
function toShortText(text: string): string | undefined {
  // The cut may split a pair of surrogates, whose first half is removed. JSON may also hold a lone surrogate, which is
  // replaced.
  const short = text
    .trim()
    .slice(0, maxMessageLength)
    .replace(/[\ud800-\udbff]$/, "")
    .replace(/\p{Surrogate}/gu, "\ufffd");
  return short === "" ? undefined : short;
}
