import type { AccountSettings } from "../contracts/account.ts";
import type { Connection } from "../contracts/connection.ts";
import type { MethodVerdict, RefusalReason } from "../contracts/events/logins.ts";
import type { Identity } from "../contracts/identity.ts";
import type { SignOnMethod, SignOnMethods } from "../contracts/sign-on/method.ts";
import type {
  SignOnAnswer,
  SignOnRefusal,
  SignOnRequest,
  SignOnVerdict,
  StartedSignOn,
} from "../contracts/sign-on/single-sign-on.ts";
import { createError, type ErrorCode } from "../http/errors.ts";
import { isSecure } from "../http/request-target.ts";
import { readTrace } from "../http/trace-context.ts";
import { describeAccountIssues, parseAccountSettings } from "../schemas/account.ts";
import { type AuthenticationChain, isPlausibleName } from "./chain.ts";
import type { Login } from "./login.ts";
import type { LoginAttempt, LoginAudit } from "./login-audit.ts";

/** The logins at other sites. */
export interface SignOns {
  /** @throws HttpError `not-found`, or why the provider is not available. */
  start(id: string, request: SignOnRequest): Promise<StartedSignOn>;
  /**
   * Verifies what a browser comes back with. Reports refusals to the audit; the caller reports accepted logins. Rejects
   * as a `finish` of the method does. @throws HttpError `not-found`
   */
  finish(id: string, request: Request, connection: Connection, answer: SignOnAnswer): Promise<FinishedSignOn>;
}

/** The result of a login at another site. */
export type FinishedSignOn = { readonly returnTo?: string | undefined } & (
  | { readonly outcome: "accepted"; readonly login: Login; readonly attempt: LoginAttempt }
  | { readonly outcome: "refused"; readonly code: ErrorCode }
);

/** Options of {@link createSignOns}. */
export interface SignOnsOptions {
  readonly methods: SignOnMethods;
  readonly chain: Pick<AuthenticationChain, "lookup">;
  readonly audit: LoginAudit;
  /** See `LoginResultsOptions`. */
  readonly findAccountProblem: (username: string, settings: AccountSettings) => string | undefined;
  readonly component: { readonly uuid: string };
}

/** What clients and events get of each refusal. An answer without a login is no failed login: no event has it. */
const REFUSALS: Readonly<Record<SignOnRefusal, { readonly code: ErrorCode; readonly reason?: RefusalReason }>> = {
  outdated: { code: "sign-on-outdated" },
  denied: { code: "sign-on-denied", reason: "credentials" },
  unknown: { code: "sign-on-without-account", reason: "unknown" },
  invalid: { code: "sign-on-failed", reason: "failure" },
  unavailable: { code: "sign-on-unavailable", reason: "unavailable" },
};

/** Creates the logins at other sites of a service. */
export function createSignOns(options: SignOnsOptions): SignOns {
  const { methods, chain, audit, findAccountProblem, component } = options;

  async function start(id: string, request: SignOnRequest): Promise<StartedSignOn> {
    return toMethod(id).singleSignOn.start(request);
  }

  async function finish(
    id: string,
    request: Request,
    connection: Connection,
    answer: SignOnAnswer,
  ): Promise<FinishedSignOn> {
    const method = toMethod(id);
    let verdict: SignOnVerdict;
    try {
      verdict = await method.singleSignOn.finish(answer);
    } catch (error) {
      const failed = { outcome: "rejected", reason: "invalid" } as const;
      audit.refused(toAttempt(method, failed, request, connection), "failure");
      throw error;
    }
    const { returnTo } = verdict;
    const attempt = toAttempt(method, verdict, request, connection);
    if (verdict.outcome !== "accepted") {
      const { code, reason } = REFUSALS[verdict.reason];
      if (reason !== undefined) audit.refused(attempt, reason, verdict.details);
      return { outcome: "refused", code, returnTo };
    }
    const login = await admitIdentity(method, verdict.identity);
    if (typeof login !== "string") return { outcome: "accepted", login, attempt, returnTo };
    audit.refused(attempt, "account", login);
    return { outcome: "refused", code: "sign-on-without-account", returnTo };
  }

  function toMethod(id: string): SignOnMethod {
    const method = methods.get(id);
    if (method === undefined) throw createError("not-found");
    return method;
  }

  /** Returns the login of an identity, or why the service cannot use its account. */
  async function admitIdentity({ singleSignOn }: SignOnMethod, identity: Identity): Promise<Login | string> {
    const { username, settings: given = {} } = identity;
    if (!isPlausibleName(username)) return "username: must have 1 to 255 bytes and no control characters";
    const settings = parseAccountSettings(given);
    if (!settings.success) return describeAccountIssues(settings.error).join("; ");
    const found = await chain.lookup(username);
    if (found?.outcome === "unknown" && found.isTaken) return "username: an account of this name may not log in";
    // A user whose name at the provider is that of an account here would get the files of that account.
    if (singleSignOn.mayShareNames !== true && found?.outcome === "found") {
      return "username: another method has an account of this name";
    }
    return findAccountProblem(username, settings.data) ?? { username, settings: settings.data };
  }

  function toAttempt(
    { name: method }: SignOnMethod,
    verdict: SignOnVerdict,
    request: Request,
    connection: Connection,
  ): LoginAttempt {
    const { peer } = connection;
    const trace = readTrace(request.headers);
    const creator = { uuid: component.uuid, type: isSecure(request, connection) ? "https" : "http" };
    const username = verdict.outcome === "accepted" ? String(verdict.identity.username) : "";
    return {
      credentials: { type: "identity", username, creator, ...(peer && { peer }), ...(trace && { trace }) },
      verdicts: [toMethodVerdict(method, verdict)],
      beginsSession: true,
    };
  }

  return { start, finish };
}

function toMethodVerdict(method: string, verdict: SignOnVerdict): MethodVerdict {
  if (verdict.outcome === "accepted") return { method, outcome: "accepted" };
  const { reason } = REFUSALS[verdict.reason];
  if (reason === "credentials" || reason === "failure" || reason === "unavailable") {
    return { method, outcome: "rejected", reason };
  }
  return { method, outcome: "unknown" };
}
