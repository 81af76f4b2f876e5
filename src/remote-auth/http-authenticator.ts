import type { Authenticator, Credentials, Verdict } from "../contracts/authenticator.ts";
import type { Component } from "../contracts/connection.ts";
import type { Logger } from "../contracts/logger.ts";
import { createEmitter, type Emit } from "../events/emitter.ts";
import { type Answer, exchange, type NoAnswer, type Outcome } from "./exchange.ts";
import { askInTurn, createSuspensions } from "./failover.ts";
import { type HttpAuthenticatorOptions, type RemoteSettings, type RemoteUrl, readOptions } from "./options.ts";
import { madeUpCredentials, type RequestBody, toRequestBody } from "./request.ts";
import { type RemoteAudit, toVerdict } from "./verdict.ts";

/** Asks one URL, notes what came of it, and never rejects. */
type Ask = (url: RemoteUrl, request: RequestBody) => Promise<Outcome>;

/** Writes to the log; what the log throws fails no login. */
type Report = (level: keyof Logger, details: Readonly<Record<string, unknown>>, message: string) => void;

/**
 * The external method of authentication: one POST request to an endpoint for each set of credentials, of any type, decides the outcome
 * and the account's configuration (1.2, 4.7). It needs no file service, and serves any protocol.
 *
 * `authenticate` never rejects: what is wrong with the endpoint is a `rejected` of reason `failure`. Every verdict has a
 * {@link RemoteAudit}. Several URLs are asked in their order; one that gives no answer in time is suspended, which is told to the log and as
 * event 40042. `start` sends a test request to every URL (rule 1), once, and rejects when none answers as an endpoint does; where
 * nobody has called it, the first `authenticate` does.
 *
 * Throws `TypeError` that names the option that is wrong, never its value.
 */
export function createHttpAuthenticator(options: HttpAuthenticatorOptions): Authenticator {
  const settings = readOptions(options);
  const report = createReport(settings.logger);
  warnOfClearText(settings, report);
  const { isSuspended, suspend, lift } = createSuspensions<RemoteUrl>(settings);
  const tellSuspension = createSuspensionTeller(settings, report);
  const warnOfChallenge = createChallengeWarning(report);
  const { start, ensureStarted } = createStart(settings, ask, report);

  async function ask(url: RemoteUrl, { bytes, creator }: RequestBody): Promise<Outcome> {
    const outcome = await exchange(url, bytes, settings);
    if (outcome.answered) {
      lift(url);
      warnOfChallenge(outcome);
    } else if (suspend(url)) {
      tellSuspension(outcome, creator);
    } else if (settings.suspendSeconds === 0) {
      report("warn", toLogDetails(outcome), "An authentication URL has failed.");
    }
    return outcome;
  }

  async function authenticate(credentials: Credentials): Promise<Verdict> {
    const request = toRequestBody(credentials, settings);
    if (typeof request === "string")
      return { outcome: "rejected", audit: { problems: [request] } satisfies RemoteAudit };
    const problem = await ensureStarted();
    if (problem !== undefined) return toFailure([problem]);
    const outcomes = await askInTurn(settings.urls, isSuspended, (url) => ask(url, request));
    const last = outcomes.at(-1);
    if (!last?.answered) return toFailure(outcomes.map(describeOutcome));
    const verdict = toVerdict(last);
    if (verdict.outcome === "rejected" && verdict.reason === "failure") {
      report("error", { ...verdict.audit }, "The authentication endpoint gave an answer that is not valid.");
    }
    return verdict;
  }

  return { name: "http", start, authenticate };
}

function toFailure(problems: readonly string[]): Verdict {
  return { outcome: "rejected", reason: "failure", audit: { problems } satisfies RemoteAudit };
}

function describeOutcome(outcome: Outcome): string {
  return `${outcome.url.shown}: ${outcome.answered ? `answered with status ${outcome.status}` : outcome.details}`;
}

/** The statuses that an endpoint answers with (7.2): it is there, and understands requests. */
const endpointStatuses: ReadonlySet<number> = new Set([200, 204, 401, 403]);

/** The start of the method, and the same for callers that cannot fail: it resolves with why it failed. */
interface Start {
  start(): Promise<void>;
  ensureStarted(): Promise<string | undefined>;
}

/** The test of the URLs (4.7, rule 1): callers at the same time share one, and a failed one is tried again at the next call. */
function createStart(settings: RemoteSettings, ask: Ask, report: Report): Start {
  let starting: Promise<string | undefined> | undefined;

  function ensureStarted(): Promise<string | undefined> {
    starting ??= test().then((problem) => {
      if (problem !== undefined) starting = undefined;
      return problem;
    });
    return starting;
  }

  async function test(): Promise<string | undefined> {
    const { urls, testAtStart } = settings;
    const request = testAtStart ? toRequestBody(madeUpCredentials(), settings) : "not asked for";
    if (typeof request === "string") return undefined;
    const outcomes = await Promise.all(urls.map((url) => ask(url, request)));
    for (const outcome of outcomes) reportTest(outcome, report);
    if (outcomes.some(isReachable)) return undefined;
    return `No authentication URL is reachable: ${outcomes.map(describeOutcome).join("; ")}`;
  }

  async function start(): Promise<void> {
    const problem = await ensureStarted();
    if (problem !== undefined) throw new Error(problem);
  }

  return { start, ensureStarted };
}

function isReachable(outcome: Outcome): boolean {
  return outcome.answered && endpointStatuses.has(outcome.status);
}

function reportTest(outcome: Outcome, report: Report): void {
  // Of a URL without an answer the log knows from its suspension.
  if (!outcome.answered) return;
  const { url, status } = outcome;
  if (!isReachable(outcome)) {
    report("warn", { url: url.shown, status }, "An authentication URL answers as no endpoint does.");
    return;
  }
  const verdict = toVerdict(outcome);
  if (verdict.outcome === "accepted") {
    report(
      "warn",
      { url: url.shown },
      "The authentication endpoint lets anybody in: it has accepted a made-up account.",
    );
  } else if (verdict.outcome === "rejected" && verdict.reason === "failure") {
    report("warn", { ...verdict.audit }, "The authentication endpoint gave an answer that is not valid.");
  }
}

function createReport(logger: Logger): Report {
  return (level, details, message) => {
    try {
      logger[level](details, message);
    } catch {
      // There is nobody left to tell.
    }
  };
}

function warnOfClearText({ urls }: RemoteSettings, report: Report): void {
  const inClear = urls.filter((url) => url.inClear).map(({ shown }) => shown);
  if (inClear.length > 0) {
    report(
      "warn",
      { urls: inClear },
      "Passwords travel in clear to the authentication endpoint: it should have an https URL.",
    );
  }
}

/** A 401 of this kind is the usual one of frameworks too: once for each URL is enough for the log, the audit has every one. */
function createChallengeWarning(report: Report): (answer: Answer) => void {
  const warned = new Set<RemoteUrl>();
  return ({ url, status, challenged }) => {
    if (status !== 401 || !challenged || warned.has(url)) return;
    warned.add(url);
    const message =
      "The authentication endpoint asks for credentials of its own: username, password or headers may be wrong.";
    report("warn", { url: url.shown }, message);
  };
}

/** Tells that a URL is suspended from now on: once in the log, and as event 40042. */
function createSuspensionTeller(
  settings: RemoteSettings,
  report: Report,
): (failed: NoAnswer, creator: Component) => void {
  const { suspendSeconds: suspended } = settings;
  const emit: Emit = createEmitter(settings);
  return (failed, component) => {
    const { url, details } = failed;
    const message = "An authentication URL has failed and is suspended.";
    report("warn", { ...toLogDetails(failed), suspended }, message);
    emit({ id: 40042, message, data: { url: url.shown, details, suspended }, component });
  };
}

/** Some platforms quote the whole URL in their errors, and a query may be a secret. */
function toLogDetails({ url, details, error }: NoAnswer): Readonly<Record<string, unknown>> {
  return { url: url.shown, details, ...(url.href.includes("?") ? {} : { error }) };
}
