import type { AccountFiles } from "../account/files.ts";
import type { ResourcePath } from "../account/path.ts";
import type { Identifier, Means } from "../auth/identify.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import type { Account } from "../contracts/account.ts";
import type { Connection } from "../contracts/connection.ts";
import type { Variant } from "../http/negotiate.ts";
import type { Target } from "../http/target.ts";
import type { Report } from "./errors.ts";

/** A request on its way through the service, with what has been found out about it so far. */
export interface Exchange {
  readonly request: Request;
  readonly connection: Connection;
  readonly target: Target;
  /** The API variant of the request, which its answer is in. */
  readonly variant: Variant;
  /** Where in the account the URL points; the root for URLs of the service's own. */
  readonly path: ResourcePath;
  readonly config: ServiceConfig;
  readonly identifier: Identifier;
  readonly sessions: Sessions;
  readonly report: Report;
}

/** An exchange with an account behind it. */
export interface AccountExchange extends Exchange {
  readonly account: Account;
  /** How the account was identified. */
  readonly means: Means;
  /** All that the account may see and touch. */
  readonly files: AccountFiles;
}

/** Answers one row of the spec's section 4 for anybody. Failures are thrown. */
export type OpenEndpoint = (exchange: Exchange) => Promise<Response>;

/** Answers one row of the spec's section 4 for an account. Failures are thrown. */
export type AccountEndpoint = (exchange: AccountExchange) => Promise<Response>;
