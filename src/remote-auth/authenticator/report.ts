import type { Logger } from "../../contracts/logger.ts";
import { EVENT_MESSAGES } from "../../events/catalog.ts";
import { createEmitter } from "../../events/emitter.ts";
import { toSafeLogger } from "../../events/safe-logger.ts";
import type { RemoteUrl } from "../../outbound/destination.ts";
import type { NoResponse, RemoteResponse } from "../../outbound/send-request.ts";
import type { RemoteSettings } from "./options.ts";
import type { RequestBody } from "./request.ts";

/** Writes to the log; what the log throws fails no login. */
export type Report = (level: keyof Logger, details: Readonly<Record<string, unknown>>, message: string) => void;

/** Makes what reports to a logger. */
export function createReport(logger: Logger): Report {
  const safe = toSafeLogger(logger);
  return (level, details, message) => safe[level](details, message);
}

/** Warns, once per call, of URLs that passwords would travel to in clear. */
export function warnOfClearText({ urls }: RemoteSettings, report: Report): void {
  const inClear = urls.filter((url) => url.inClear).map(({ shown }) => shown);
  if (inClear.length > 0) {
    report(
      "warn",
      { urls: inClear },
      "Passwords are sent unencrypted to the authentication endpoint: use an https URL.",
    );
  }
}

/** A 401 of this kind is the usual one of frameworks too: once for each URL is enough for the log, the audit has every one. */
export function createChallengeWarning(report: Report): (response: RemoteResponse) => void {
  const warned = new Set<RemoteUrl>();
  return ({ url, status, challenged }) => {
    if (status !== 401 || !challenged || warned.has(url)) return;
    warned.add(url);
    const message =
      "The authentication endpoint responded 401 with WWW-Authenticate: the options username, password or headers may be wrong, unless every 401 of the endpoint has this header.";
    report("warn", { url: url.shown }, message);
  };
}

/** Tells that a URL is suspended from now on: once in the log, and as event 40042. */
export function createSuspensionReporter(
  settings: RemoteSettings,
  report: Report,
): (failed: NoResponse, request: Pick<RequestBody, "creator" | "server" | "trace">) => void {
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
 * What the log is told of a URL that gave no answer: nothing of the platform's error but its code. Such errors quote whole URLs, and undici's
 * quote what came, which may be our own request with all its secrets.
 */
export function toLogDetails({ url, details, code }: NoResponse): Readonly<Record<string, unknown>> {
  return { url: url.shown, details, ...(code !== undefined && { code }) };
}
