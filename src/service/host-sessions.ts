import { isPlausibleName } from "../auth/chain.ts";
import type { LoginAttempt, LoginAudit } from "../auth/login-audit.ts";
import type { Sessions } from "../auth/sessions/types.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import type { AccountSettings } from "../contracts/account.ts";
import type { Connection } from "../contracts/connection.ts";
import type { HostSessions, StartedSession } from "../contracts/identity.ts";
import { createError } from "../http/errors.ts";
import { withForwardedPeer } from "../request/client-address.ts";
import type { RequestContext } from "../request/context.ts";

/** Options of {@link createHostSessions}. */
export interface HostSessionsOptions {
  readonly sessions: Sessions;
  readonly audit: LoginAudit;
  readonly admit: RequestContext["admit"];
  /** Checks settings. @throws HttpError `denied`. */
  readonly check: (settings: AccountSettings) => AccountSettings;
  readonly config: ServiceConfig;
}

/** Makes the sessions of a service for the host's application. */
export function createHostSessions(options: HostSessionsOptions): HostSessions {
  const { sessions, audit, admit, check, config } = options;

  async function start(username: string, given: AccountSettings, from: Connection = {}): Promise<StartedSession> {
    const connection = withForwardedPeer(from, toRequest(), config);
    if (!isPlausibleName(username)) throw createError("account-unusable");
    const login = { username, settings: check(given) };
    const generation = await sessions.generationOf(username);
    await admit(login, toAttempt(username, connection));
    const id = await sessions.start(login, generation, (ended) =>
      audit.sessionEnded("by-account", ended, toRequest(), connection),
    );
    return { id, setCookie: config.session.cookie.set(id, connection.isSecure === true) };
  }

  function toAttempt(username: string, { peer, isSecure }: Connection): LoginAttempt {
    const creator = { uuid: config.component.uuid, type: isSecure === true ? "https" : "http" };
    const credentials = { type: "identity", username, creator, ...(peer && { peer }) } as const;
    return { credentials, verdicts: [], beginsSession: true };
  }

  return { start, end: sessions.endAll };
}

/** No request of the service starts these sessions. */
function toRequest(): Pick<Request, "url" | "headers"> {
  return { url: "http://localhost/", headers: new Headers() };
}
