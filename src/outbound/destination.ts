import { checkOption, OptionError } from "../contracts/option-error.ts";
import { hasLoneSurrogate } from "../platform/text-encoding.ts";
import { type HeaderLines, parseHeaders, toBasicAuthorization } from "./headers.ts";

/**
 * Where the service sends its own requests, and how. Its secrets never appear in error messages, log lines or events.
 */
export interface RecipientOptions {
  /**
   * The URLs: a list, or a text of one or more, separated by commas. `http` or `https`, without credentials and
   * fragment. A query may hold a secret, so it is never shown.
   */
  readonly url: string | readonly string[];
  /**
   * User name for HTTP Basic authentication of the requests (5.2), without a colon. Default, and if empty: no
   * authentication.
   */
  readonly username?: string;
  /** The password for `username`. Default: empty. */
  readonly password?: string;
  /**
   * Further header fields (5.2): an object, or a text with `Name: value` on each line. If there is a `username`, it
   * replaces an `Authorization` field. Fields of the request itself, such as `Host` or `Content-Type`, are refused.
   * Default: none.
   */
  readonly headers?: string | Readonly<Record<string, string>>;
  /**
   * Time limit for the complete response of one URL, in seconds, at most 300: Node's fetch waits no longer for the
   * header section of a response. Default: 30.
   */
  readonly timeoutSeconds?: number;
  /** Time for which a URL that did not respond is suspended, in seconds; 0 for no suspension. Default: 300. */
  readonly suspendSeconds?: number;
  /** The function that sends the requests. Default: the platform's `fetch` at the time of each call. */
  readonly fetch?: typeof fetch;
  /** The time in POSIX milliseconds. Default: `Date.now`. */
  readonly clock?: () => number;
}

/** {@link RecipientOptions}, checked and complete. */
export interface Recipient {
  readonly urls: readonly RemoteUrl[];
  readonly headers: HeaderLines;
  readonly timeoutSeconds: number;
  readonly suspendSeconds: number;
  readonly fetch: typeof fetch;
  readonly clock: () => number;
}

/** One URL of a recipient. */
export interface RemoteUrl {
  readonly href: string;
  /** The URL without its query, for log lines and messages. */
  readonly shown: string;
  /** Whether secrets are sent to it unencrypted over a network: it is not HTTPS, and not this machine. */
  readonly inClear: boolean;
}

const MAX_TIMEOUT_SECONDS = 300;

/** The names of all options, for callers that refuse unknown ones. */
export const RECIPIENT_OPTIONS = [
  "url",
  "username",
  "password",
  "headers",
  "timeoutSeconds",
  "suspendSeconds",
  "fetch",
  "clock",
] as const satisfies readonly (keyof RecipientOptions)[];

/**
 * Checks the options and fills in their defaults.
 * @throws TypeError naming the wrong option, never its value.
 */
export function readRecipient(options: RecipientOptions): Recipient {
  const { timeoutSeconds = 30, suspendSeconds = 300, clock = Date.now } = options;
  const { fetch: send = (...request: Parameters<typeof fetch>) => globalThis.fetch(...request) } = options;
  checkOption(
    isPositive(timeoutSeconds) && timeoutSeconds <= MAX_TIMEOUT_SECONDS,
    "timeoutSeconds",
    "above 0, at most 300",
  );
  checkOption(suspendSeconds === 0 || isPositive(suspendSeconds), "suspendSeconds", "a number of seconds, or 0");
  checkOption(typeof send === "function", "fetch", "a function");
  checkOption(typeof clock === "function", "clock", "a function");
  return {
    urls: readUrls(options.url),
    headers: readHeaders(options),
    timeoutSeconds,
    suspendSeconds,
    fetch: send,
    clock,
  };
}

function readUrls(option: string | readonly string[]): readonly RemoteUrl[] {
  const texts = typeof option === "string" ? option.split(",").map((text) => text.trim()) : option;
  checkOption(Array.isArray(texts) && texts.length > 0, "url", "one URL or more");
  const urls = texts.map((text: unknown, index) => readUrl(text, texts.length === 1 ? "url" : `url[${index}]`));
  checkOption(new Set(urls.map(({ href }) => href)).size === urls.length, "url", "URLs that differ");
  return urls;
}

function readUrl(text: unknown, option: string): RemoteUrl {
  const isText =
    typeof text === "string" && /^https?:\/\//i.test(text) && !/[\s\\\p{Cc}]/u.test(text) && !hasLoneSurrogate(text);
  const url = isText ? parseUrl(text) : undefined;
  if (!isText || url === undefined) throw new OptionError(option, "a URL that begins with http:// or https://");
  checkOption(
    url.username === "" && url.password === "",
    option,
    "without credentials: they belong in username and password",
  );
  checkOption(!text.includes("#"), option, "without a fragment");
  const inClear = url.protocol === "http:" && !isLoopback(url.hostname);
  return { href: url.href, shown: `${url.origin}${url.pathname}`, inClear };
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** The configured fields, with `Authorization` if there is a user name (CONTRACT 9.4). */
function readHeaders({ username = "", password = "", headers = "" }: RecipientOptions): HeaderLines {
  checkOption(
    isCredential(username) && !username.includes(":"),
    "username",
    "text without colon and control characters",
  );
  checkOption(isCredential(password), "password", "text without control characters");
  checkOption(username !== "" || password === "", "password", "given together with username");
  const lines = parseHeaders(headers);
  if (username === "") return lines;
  const others = lines.filter(([name]) => name.toLowerCase() !== "authorization");
  return [...others, ["Authorization", toBasicAuthorization(username, password)]];
}

/** RFC 7617 2: no control characters. UTF-8 cannot encode a lone surrogate. */
function isCredential(value: unknown): value is string {
  return typeof value === "string" && !/\p{Cc}/u.test(value) && !hasLoneSurrogate(value);
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}
