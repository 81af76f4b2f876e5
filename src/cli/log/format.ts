import { maskLinkTokens } from "../../sharing/link-tokens.ts";
import { escapeText } from "./terminal.ts";

/** The format of log lines: text for people, JSON for log collectors, that of web servers, or a text with variables. */
export type LogFormat = "text" | "json" | "combined" | `${string}$${string}`;

/** A request whose connection or response is complete. */
export interface LoggedRequest {
  readonly time: Date;
  /** The address of the client, also behind a proxy. */
  readonly address: string;
  /** The account that the request was identified as. */
  readonly account?: string | undefined;
  readonly id: string;
  /** The identifier of the trace that the request belongs to (W3C Trace Context). */
  readonly trace?: string | undefined;
  readonly method: string;
  /** The path as the client sent it, without query, tokens of links, and the scheme and host of an absolute target. */
  readonly path: string;
  readonly protocol: string;
  /** Absent if the connection broke before the response. */
  readonly status?: number;
  /** The bytes of the response, including its headers. */
  readonly bytes: number;
  /** The bytes of the response's content. */
  readonly sent: number;
  /** The bytes of the request's content that have arrived. */
  readonly received: number;
  readonly milliseconds: number;
  /** Whether the connection broke before the response was complete. */
  readonly aborted: boolean;
  /** Returns a header of the request; `undefined` if it has none. */
  header(name: string): string | undefined;
}

const NAMED: readonly string[] = ["text", "json", "combined"];

/** That of Apache and nginx, with what they leave out at the end. */
const COMBINED =
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" ' +
  "$request_id $bytes_received $request_time";

const VARIABLE = /\$(?:\{(\w*)\}|(\w*))/g;
/** Headers that may hold a secret: no format shows them. */
const SECRET =
  /auth|cookie|session|token|secret|passw|credential|signature|assertion|jwt|oidc|[cx]srf|(?:api|access|private)_?key/;
/** Headers that are URLs: their query is left out, as that of the path. */
const URLS: readonly string[] = ["http_referer", "http_destination"];
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

type Show = (request: LoggedRequest) => string | number | undefined;

const VARIABLES: Readonly<Record<string, Show>> = {
  remote_addr: ({ address }) => address,
  remote_user: ({ account }) => account,
  request: ({ method, path, protocol }) => `${method} ${path} ${protocol}`,
  request_method: ({ method }) => method,
  request_uri: ({ path }) => path,
  request_id: ({ id }) => id,
  trace_id: ({ trace }) => trace,
  request_time: ({ milliseconds }) => (milliseconds / 1000).toFixed(3),
  server_protocol: ({ protocol }) => protocol,
  status: ({ status }) => status,
  bytes_sent: ({ bytes }) => bytes,
  body_bytes_sent: ({ sent }) => sent,
  bytes_received: ({ received }) => received,
  time_iso8601: ({ time }) => time.toISOString(),
  time_local: ({ time }) => toLocalTime(time),
};

/** Values that stand without quotes in common formats: a blank in one would look like the next value. */
const ONE_WORD: readonly string[] = ["remote_addr", "remote_user", "request_id"];

/** Why a text is no format, in words for the user; `undefined` if it is one. */
export function findFormatProblem(text: string): string | undefined {
  if (NAMED.includes(text)) return undefined;
  if (!text.includes("$")) return "must be text, json, combined, or a text with variables such as $remote_addr";
  if (/\p{Cc}/u.test(text)) return "must be one line";
  for (const name of namesOf(text)) {
    const [, header] = /^http_(\w+)$/.exec(name) ?? [];
    if (header === undefined && !Object.hasOwn(VARIABLES, name)) return `has the unknown variable $${name}`;
    if (header !== undefined && SECRET.test(header)) return `must not show $${name}, which may be a secret`;
  }
  return undefined;
}

/** Returns a function that makes the line of a request by a format string, or by `combined`. */
export function createFormat(format: LogFormat): (request: LoggedRequest) => string {
  const text = format === "combined" ? COMBINED : format;
  const parts = text.split(VARIABLE);
  // Each variable is three parts: the text before it, and its name in one of the next two.
  return (request) => {
    let line = parts[0] ?? "";
    for (let index = 1; index < parts.length; index += 3) {
      line += show(parts[index] ?? parts[index + 1] ?? "", request) + (parts[index + 2] ?? "");
    }
    return line;
  };
}

function namesOf(text: string): readonly string[] {
  return [...text.matchAll(VARIABLE)].map(([, braced, plain]) => (braced ?? plain ?? "").toLowerCase());
}

function show(variable: string, request: LoggedRequest): string {
  const name = variable.toLowerCase();
  const value = name.startsWith("http_")
    ? request.header(name.slice("http_".length).replaceAll("_", "-"))
    : VARIABLES[name]?.(request);
  if (value === undefined || value === "") return "-";
  const text = escapeQuoted(name.startsWith("http_") ? toSafeHeader(name, String(value)) : String(value));
  return ONE_WORD.includes(name) ? text.replaceAll(" ", "\\x20") : text;
}

/** A header without tokens of links; a URL without its query and its credentials. */
function toSafeHeader(name: string, value: string): string {
  const masked = maskLinkTokens(value);
  return URLS.includes(name) ? masked.replace(/[?#].*$/s, "").replace(/^([^/]*\/\/)[^/]*@/, "$1") : masked;
}

/** Escapes a text as {@link escapeText} does, and quotation marks, so that it cannot end a quoted value. */
export function escapeQuoted(text: string): string {
  return escapeText(text).replaceAll('"', "\\x22");
}

/** The time as in the logs of web servers, such as `26/Nov/2026:13:50:00 +0000`; always UTC. */
function toLocalTime(time: Date): string {
  const iso = time.toISOString();
  return `${iso.slice(8, 10)}/${MONTHS[time.getUTCMonth()]}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
}
