import type { RemoteUrl } from "../../outbound/destination.ts";
import { describeOutcome, type Outcome } from "../../outbound/send-request.ts";
import type { RemoteSettings } from "./options.ts";
import type { LogReport } from "./report.ts";
import { type EncodedAuthRequest, encodeAuthRequest, madeUpCredentials } from "./request.ts";
import { isOutage, toVerdict } from "./verdict.ts";

/** The statuses of an endpoint that understands requests (7.2). */
const endpointStatuses: ReadonlySet<number> = new Set([200, 204, 401, 403]);

/** Asks one URL and notes the outcome. It never rejects. */
type Ask = (url: RemoteUrl, request: EncodedAuthRequest) => Promise<Outcome>;

/** The start of the method, in two forms. */
export interface Start {
  /** Rejects if no URL is reachable. The message names each URL and the reason. */
  start(): Promise<void>;
  /** As `start`, but never rejects: it resolves with the message of the failure, or with `undefined`. */
  ensureStarted(): Promise<string | undefined>;
}

/**
 * Creates the test of the URLs (4.7, rule 1). Concurrent callers share one test. After a failed test, the next call
 * tests again.
 */
export function createStart(settings: RemoteSettings, ask: Ask, report: LogReport): Start {
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
    const request = testAtStart ? encodeAuthRequest(madeUpCredentials(), settings) : "not requested";
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
  return outcome.responded && endpointStatuses.has(outcome.status);
}

function reportTest(outcome: Outcome, report: LogReport): void {
  // The log has a URL without a response already, because of its suspension.
  if (!outcome.responded) return;
  const { url, status } = outcome;
  if (!isReachable(outcome)) {
    const message = isOutage(status)
      ? "An authentication URL responded that it could not verify the credentials."
      : "An authentication URL did not respond as an authentication endpoint.";
    report("warn", { url: url.shown, status }, message);
    return;
  }
  const verdict = toVerdict(outcome);
  if (verdict.outcome === "accepted") {
    report(
      "warn",
      { url: url.shown },
      "The authentication endpoint accepts unknown accounts: it accepted a made-up one.",
    );
  } else if (verdict.outcome === "rejected" && verdict.reason !== "credentials") {
    report("warn", { ...verdict.audit }, "The authentication endpoint sent an invalid response.");
  }
}
