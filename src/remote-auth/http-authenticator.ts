import type { Authenticator, Credentials, Verdict } from "../contracts/authenticator.ts";
import type { RemoteUrl } from "../outbound/destination.ts";
import { askInOrder, createSuspensions } from "../outbound/failover.ts";
import { describeOutcome, type Outcome, sendRequest } from "../outbound/send-request.ts";
import { wait } from "../platform/wait.ts";
import { type HttpAuthenticatorOptions, readOptions } from "./authenticator/options.ts";
import {
  createChallengeWarning,
  createReport,
  createSuspensionReporter,
  toLogDetails,
  warnOfClearText,
} from "./authenticator/report.ts";
import { type EncodedAuthRequest, encodeAuthRequest } from "./authenticator/request.ts";
import { createStart } from "./authenticator/start-check.ts";
import { type RemoteAudit, toVerdict } from "./authenticator/verdict.ts";

/**
 * The external authentication method. For each set of credentials, of any type, it sends one POST request to an
 * endpoint. The response has the verdict and the account's settings (1.2, 4.7). It needs no file service and can be
 * used for any protocol.
 *
 * - `authenticate` never rejects. If the endpoint fails, the verdict is `rejected`. Its reason is `unavailable` if no
 *   URL responded, or if one responded with 502, 503 or 504; otherwise it is `failure`.
 * - Every verdict has a {@link RemoteAudit}.
 * - Several URLs are asked in their order. A URL that does not respond in time is suspended; the log and event 40042
 *   report this.
 * - `start` sends one test request to every URL (rule 1), and rejects if none responds as an endpoint does. Without a
 *   call of `start`, the first `authenticate` does this.
 * @throws TypeError naming the option that is wrong, never its value.
 */
export function createHttpAuthenticator(options: HttpAuthenticatorOptions): Authenticator {
  const settings = readOptions(options);
  const report = createReport(settings.logger);
  warnOfClearText(settings, report);
  const { isSuspended, suspend, lift } = createSuspensions<RemoteUrl>(settings);
  const reportSuspension = createSuspensionReporter(settings, report);
  const warnOfChallenge = createChallengeWarning(report);
  const { start, ensureStarted } = createStart(settings, ask, report);
  /** A moving average of the time that a verification takes. */
  let usualMilliseconds = 0;

  async function ask(url: RemoteUrl, request: EncodedAuthRequest): Promise<Outcome> {
    const outcome = await sendRequest(url, request.bytes, {
      ...settings,
      headers: [...settings.headers, ...request.traceLines],
    });
    if (outcome.responded) {
      lift(url);
      warnOfChallenge(outcome);
    } else if (suspend(url)) {
      reportSuspension(outcome, request);
    } else if (settings.suspendSeconds === 0) {
      report("warn", toLogDetails(outcome), "An authentication URL failed.");
    }
    return outcome;
  }

  async function authenticate(credentials: Credentials): Promise<Verdict> {
    const request = encodeAuthRequest(credentials, settings);
    if (typeof request === "string") {
      return { outcome: "rejected", audit: { problems: [request] } satisfies RemoteAudit };
    }
    const problem = await ensureStarted();
    if (problem !== undefined) return toUnavailable([problem]);
    const startedAt = performance.now();
    const outcomes = await askInOrder(settings.urls, isSuspended, (url) => ask(url, request));
    const took = performance.now() - startedAt;
    usualMilliseconds += (took - usualMilliseconds) / (usualMilliseconds === 0 ? 1 : 8);
    const last = outcomes.at(-1);
    if (!last?.responded) return toUnavailable(outcomes.map(describeOutcome));
    const verdict = toVerdict(last);
    if (verdict.outcome === "rejected" && verdict.reason === "unavailable") {
      report("warn", { ...verdict.audit }, "The authentication endpoint could not verify the credentials.");
    } else if (verdict.outcome === "rejected" && verdict.reason === "failure") {
      report("error", { ...verdict.audit }, "The authentication endpoint sent an invalid response.");
    }
    return verdict;
  }

  /** The endpoint does the work, so waiting about as long hides which method knows the name (SECURITY 17). */
  async function equalizeTiming(): Promise<void> {
    await wait(usualMilliseconds);
  }

  return { name: "http", start, authenticate, equalizeTiming };
}

/** The credentials were not verified, so this is not a failed login. */
function toUnavailable(problems: readonly string[]): Verdict {
  return { outcome: "rejected", reason: "unavailable", audit: { problems } satisfies RemoteAudit };
}
