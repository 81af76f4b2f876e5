import type { Account } from "../account/account.ts";
import type { AccountFiles } from "../account/files.ts";
import type { ResourcePath } from "../account/path.ts";
import type { AuthScheme, Identifier, Login } from "../auth/identify.ts";
import type { LoginAttempt, LoginAudit } from "../auth/login-audit.ts";
import type { PasswordUpdates } from "../auth/passwords/update.ts";
import type { Sessions } from "../auth/sessions/types.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import type { Connection } from "../contracts/connection.ts";
import type { Texts } from "../contracts/texts.ts";
import type { Emit } from "../events/emitter.ts";
import type { Variant } from "../http/negotiate.ts";
import type { Target } from "../http/request-target.ts";
import type { RequestPermits } from "../limits/permits.ts";
import type { Description } from "../openapi/render.ts";
import type { FailureOf, Report } from "./errors.ts";

/** A request on its way through the service, with what has been found out about it so far. */
export interface RequestContext {
  readonly request: Request;
  /** Its peer is the client, also where a proxy tells it (CONTRACT 6.7). */
  readonly connection: Connection;
  readonly target: Target;
  /** The API variant of the request, which its answer is in. */
  readonly variant: Variant;
  /** Where in the account the URL points; the root for URLs of the service's own. */
  readonly path: ResourcePath;
  /** The service's options but its storage: files are reached through {@link AccountContext.files} alone (SECURITY 19). */
  readonly config: Omit<ServiceConfig, "storage">;
  readonly identifier: Identifier;
  readonly sessions: Sessions;
  readonly passwords: PasswordUpdates;
  readonly audit: LoginAudit;
  /** The account behind a login, its home folder made ready; the audit is told. @throws HttpError `denied` when it cannot be used. */
  readonly admit: (login: Login, attempt: LoginAttempt) => Promise<Account>;
  readonly report: Report;
  readonly failureOf: FailureOf;
  /** Tells of an event; `tell` knows what is the same for all events of a request. */
  readonly emit: Emit;
  /** Whether anybody gets events: what is done for them alone is left out otherwise. */
  readonly hasListeners: () => boolean;
  /** What the service says of itself (9), made when it is asked for. */
  readonly describe: () => Promise<Description>;
  /** The texts of a page for this client. */
  readonly texts: Texts;
}

/** An exchange whose part of what there is for its account is counted. */
export interface LimitedContext extends RequestContext, RequestPermits {}

/** An exchange with an account behind it. */
export interface AccountContext extends LimitedContext {
  readonly account: Account;
  /** How the account was identified. */
  readonly scheme: AuthScheme;
  /** The ID of the session, where it was one; never to be shown. */
  readonly session?: string | undefined;
  /** All that the account may see and touch. */
  readonly files: AccountFiles;
}

/** Answers one row of the spec's section 4 for anybody. Failures are thrown. */
export type OpenEndpoint = (context: RequestContext) => Promise<Response>;

/** Answers one row of the spec's section 4 for an account. Failures are thrown. */
export type AccountEndpoint = (context: AccountContext) => Promise<Response>;
