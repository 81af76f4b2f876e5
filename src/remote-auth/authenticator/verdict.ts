import type { Rejected, Verdict } from "../../contracts/authenticator.ts";
import type { RemoteResponse } from "../../outbound/send-request.ts";
import { authenticationRejectionSchema, authenticationSuccessSchema } from "../../schemas/remote-auth.ts";
import { decodeBody, isJson, readJson } from "../json-body.ts";

/** What the external method tells the operator of each verdict, as its `audit`. No credentials are in it. */
export interface RemoteAudit {
  /** The URL that answered, without its query. Absent when none did, or none was asked. */
  readonly url?: string;
  /** The status of the answer; 0 for a redirect that the platform shows nothing of. */
  readonly status?: number;
  /** Of a JSON 403 (2.5). */
  readonly code?: number;
  /** The plain text of a 403, cut to 1,000 characters. That of a 401, and of a JSON 403, is the verdict's `message`. */
  readonly message?: string;
  /** Of a JSON 403 (2.5). */
  readonly extra?: unknown;
  /** Of a 401 with `WWW-Authenticate`: either any 401 of the endpoint has one, or it refuses the request's own credentials (5.2). */
  readonly challenged?: true;
  /** Each thing that is wrong: with the answer, e.g. `account.foo: unknown key`; or why there is none. Never a value. */
  readonly problems?: readonly string[];
}

const maxMessageLength = 1000;

/** Judges a whole response (7.2): the verdict, with what the operator may know of it. */
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
      // The word of a gateway, or of the endpoint itself, that nobody has judged (RFC 9110 15.6.3 to 15.6.5).
      if (isOutage(response.status)) {
        return {
          ...fail(response, [`responded ${response.status}: the credentials could not be verified`]),
          reason: "unavailable",
        };
      }
      return fail(response, [describeStatus(response.status)]);
  }
}

/** Whether a status says that nobody could judge. */
export function isOutage(status: number): boolean {
  return status >= 502 && status <= 504;
}

type Audited = Verdict & { readonly audit: RemoteAudit };

/** Only a body that is understood whole gives somebody access (CONTRACT 9.1). */
function toAccepted(response: RemoteResponse): Audited {
  const { body, contentType } = response;
  if ("problem" in body) return fail(response, [body.problem]);
  if (body.bytes.byteLength === 0) return { outcome: "accepted", account: {}, audit: auditOf(response) };
  if (!isJson(contentType)) return fail(response, ["the Content-Type is not application/json in UTF-8"]);
  const reading = readJson(body.bytes, authenticationSuccessSchema);
  if ("problems" in reading) return fail(response, reading.problems);
  return { outcome: "accepted", account: reading.value.account ?? {}, audit: auditOf(response) };
}

function toUnknown(response: RemoteResponse): Audited {
  const { text, problem } = readMessage(response);
  // An invalid answer is none, whatever its status (7.2, CONTRACT 9.1).
  if (problem !== undefined) return fail(response, [problem]);
  return { outcome: "unknown", ...(text !== undefined && { message: text }), audit: auditOf(response) };
}

/** Whatever its body is, a 403 rejects; the message of a valid JSON one alone may be shown to users (7.2, CONTRACT 9.4). */
function toRejected(response: RemoteResponse): Audited {
  const rejected = { outcome: "rejected", reason: "credentials" } as const;
  const { body, contentType } = response;
  if ("problem" in body || body.bytes.byteLength === 0 || !isJson(contentType)) {
    const { text, problem } = readMessage(response);
    const told = {
      ...(text !== undefined && { message: text }),
      ...(problem !== undefined && { problems: [problem] }),
    };
    return { ...rejected, audit: { ...auditOf(response), ...told } };
  }
  const reading = readJson(body.bytes, authenticationRejectionSchema);
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

/** The text of a 401 or 403 for people's eyes, or what is wrong with it. */
function readMessage({ body }: RemoteResponse): { readonly text?: string | undefined; readonly problem?: string } {
  if ("problem" in body) return { problem: body.problem };
  const decoded = decodeBody(body.bytes);
  if (decoded === undefined) return { problem: "the body is not in UTF-8, or begins with a byte order mark" };
  return { text: toShortText(decoded) };
}

/** A text without the white space around it, cut to its bound; `undefined` when nothing is left. */
function toShortText(text: string): string | undefined {
  // A pair of surrogates that the bound would cut in two is left out; JSON may bring one alone, which is no text.
  const short = text
    .trim()
    .slice(0, maxMessageLength)
    .replace(/[\ud800-\udbff]$/, "")
    .replace(/\p{Surrogate}/gu, "\ufffd");
  return short === "" ? undefined : short;
}
