import type { Logger } from "../../contracts/logger.ts";
import { EVENT_MESSAGES } from "../../events/catalog.ts";
import { createEmitter } from "../../events/emitter.ts";
import { toSafeLogger } from "../../events/safe-logger.ts";
import type { RemoteUrl } from "../../outbound/destination.ts";
import type { NoResponse, RemoteResponse } from "../../outbound/send-request.ts";
import type { RemoteSettings } from "./options.ts";
import type { EncodedAuthRequest } from "./request.ts";

/** Writes to the log. If the logger throws, the login continues. */
export type LogReport = (level: keyof Logger, details: Readonly<Record<string, unknown>>, message: string) => void;

/** Creates a report function for a logger. */
export function createReport(logger: Logger): LogReport {
  const safe = toSafeLogger(logger);
  return (level, details, message) => safe[level](details, message);
}

/** Warns of URLs to which passwords are sent unencrypted. */
export function warnOfClearText({ urls }: RemoteSettings, report: LogReport): void {
  const inClear = urls.filter((url) => url.inClear).map(({ shown }) => shown);
  if (inClear.length > 0) {
    report(
      "warn",
      { urls: inClear },
      "Passwords are sent unencrypted to the authentication endpoint: use an https URL.",
    );
  }
}

/**
 * Warns of a 401 with a challenge, once for each URL. Many frameworks send a challenge with every 401, so one line is
 * enough; the audit of each login has it.
 */
export function createChallengeWarning(report: LogReport): (response: RemoteResponse) => void {
  const warned = new Set<RemoteUrl>();
  return ({ url, status, challenged }) => {
    if (status !== 401 || !challenged || warned.has(url)) return;
    warned.add(url);
    const message =
      "The authentication endpoint responded 401 with WWW-Authenticate: the options username, password or headers may be wrong, unless every 401 of the endpoint has this header.";
    report("warn", { url: url.shown }, message);
  };
}

/** Reports that a URL is now suspended: once in the log, and as event 40042. */
export function createSuspensionReporter(
  settings: RemoteSettings,
  report: LogReport,
): (failed: NoResponse, request: Pick<EncodedAuthRequest, "creator" | "server" | "trace">) => void {
  const { suspendSeconds: suspended, onEvent } = settings;
  return (failed, { creator: component, server, trace }) => {
    const listeners = new Set(onEvent === undefined ? [] : [onEvent]);
    const emit = createEmitter({ ...settings, listeners, server }).emit;
    const { url, details } = failed;
    report("warn", { ...toLogDetails(failed), suspended }, EVENT_MESSAGES[40042]);
    emit({ id: 40042, data: { url: url.shown, details, suspended }, component, ...(trace !== undefined && { trace }) });
  };
}

/**
 * The log's details of a URL that did not respond. They have the code of the platform's error and nothing else of it:
 * such errors quote complete URLs, and undici's quote received bytes, which may be our own request with its secrets.
 */
export function toLogDetails({ url, details, code }: NoResponse): Readonly<Record<string, unknown>> {
  return { url: url.shown, details, ...(code !== undefined && { code }) };
}
