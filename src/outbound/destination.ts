import { checkOption, OptionError } from "../contracts/option-error.ts";
import { hasLoneSurrogate } from "../platform/text-encoding.ts";
import { type HeaderLines, parseHeaders, toBasicAuthorization } from "./headers.ts";

/** Where requests of the service's own go, and how. Secrets in it stand in no error text, log line or event. */
export interface RecipientOptions {
  /**
   * Where to ask: a list, or a text of one or more, separated by commas. `http` or `https`, without credentials and fragment. What is
   * in a query may be a secret: it is shown nowhere.
   */
  readonly url: string | readonly string[];
  /** Name for HTTP Basic authentication of the requests themselves (5.2). Without colon. Default, and empty: none. */
  readonly username?: string;
  /** Its password. Default: empty. */
  readonly password?: string;
  /**
   * Further header fields (5.2): an object, or a text with `Name: value` on each line. `username` wins over an `Authorization` in them.
   * Fields that carry the exchange itself, such as `Host` or `Content-Type`, are refused. Default: none.
   */
  readonly headers?: string | Readonly<Record<string, string>>;
  /**
   * Seconds that one URL has for its whole answer, body included; at most 300: then the fetch of Node gives up on the head of a
   * response, whatever it is told. Default: 30.
   */
  readonly timeoutSeconds?: number;
  /** Seconds that a URL without an answer is suspended (8); 0: none is. Default: 300. */
  readonly suspendSeconds?: number;
  /** Sends the requests. Default: the platform's, looked up at every call. */
  readonly fetch?: typeof fetch;
  /** Milliseconds since the epoch. Default: `Date.now`. */
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
  /** The URL without its query: for people's eyes. */
  readonly shown: string;
  /** Whether secrets travel to it in clear: it is not encrypted, and is not this machine. */
  readonly inClear: boolean;
}

const MAX_TIMEOUT_SECONDS = 300;

/** The names of all of them, for who refuses others. */
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

/** Checks the options. Throws `TypeError` that names the option, and never quotes what it holds. */
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

/** The configured fields, with that of Basic authentication where there is a name for it (CONTRACT 9.4). */
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

/** RFC 7617 2: no control characters. A lone surrogate has no UTF-8. */
function isCredential(value: unknown): value is string {
  return typeof value === "string" && !/\p{Cc}/u.test(value) && !hasLoneSurrogate(value);
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}
