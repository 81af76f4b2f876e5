import type { Account } from "../account/account.ts";
import { createBasicCache } from "../auth/basic-cache.ts";
import { type AuthenticationChain, createAuthenticationChain } from "../auth/chain.ts";
import { withHostIdentity } from "../auth/host-identity.ts";
import { createIdentifier, type Identifier } from "../auth/identify.ts";
import { createKeyIdentifier, type KeyIdentifier } from "../auth/keys/identify-key.ts";
import type { Login } from "../auth/login.ts";
import { createLoginAudit, type LoginAttempt, type LoginAudit } from "../auth/login-audit.ts";
import { createPasswordUpdates, type PasswordUpdates } from "../auth/passwords/update.ts";
import { createReportedLogins } from "../auth/reported-logins.ts";
import { createSecondFactor } from "../auth/second-factor/second-factor.ts";
import { createSessions } from "../auth/sessions/sessions.ts";
import type { Sessions } from "../auth/sessions/types.ts";
import { createSignOns, type SignOns } from "../auth/sign-on.ts";
import { createLoginThrottle, type LoginThrottle } from "../auth/throttle.ts";
import { createLoginWatcher, type WatchLogin } from "../auth/watch-login.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import type { AccountSettings } from "../contracts/account.ts";
import type { Emit } from "../events/emitter.ts";
import { isHttpError } from "../http/http-error.ts";
import type { RequestContext } from "../request/context.ts";
import { adoptKeyv } from "../stores/keyv.ts";
import { createMemoryKeyValueStore } from "../stores/memory.ts";
import { type StorageAccounts, toCheckedSettings } from "./storage-accounts.ts";

const WEBDAV_CACHE_SECONDS = 60;

/** What a service does with credentials. */
export interface ServiceLogins {
  readonly chain: AuthenticationChain;
  readonly sessions: Sessions;
  readonly throttle: LoginThrottle;
  readonly audit: LoginAudit;
  readonly identifier: Identifier;
  readonly signOns: SignOns;
  readonly passwords: PasswordUpdates;
  /** See {@link WatchLogin}. */
  readonly watchLogin: WatchLogin;
  /** Whether an API key that was verified is still valid. Absent: the service has no keys. */
  readonly isLiveKey: KeyIdentifier["isLive"] | undefined;
  /** Why an account is refused goes to the audit; the client does not get the reason (CONTRACT 7.3). */
  readonly admit: RequestContext["admit"];
}

/** What {@link createServiceLogins} needs in addition to the configuration. */
export interface ServiceLoginsOptions {
  readonly accounts: StorageAccounts;
  readonly emit: Emit;
}

/** Creates the logins of a service. */
export function createServiceLogins(config: ServiceConfig, { accounts, emit }: ServiceLoginsOptions): ServiceLogins {
  const { logger, clock, session, limits, server, component, usernameOfCertificate, identify } = config;
  const store =
    session.store === undefined ? createMemoryKeyValueStore({ clock }) : adoptKeyv(session.store, { logger });
  const loginStore =
    limits.loginStore === undefined ? store : adoptKeyv(limits.loginStore, { logger, name: "store of failed logins" });
  const chain = createAuthenticationChain(config.authentication, { logger });
  const sessions = createSessions({ ...session, store, clock, isCurrent: chain.isCurrent });
  const { loginAttempts: attempts, loginWindowSeconds: windowSeconds } = limits;
  const throttle = createLoginThrottle({ store: loginStore, attempts, windowSeconds, clock });
  const audit = createLoginAudit({ emit, logger, component, clock });
  const { basicCacheSeconds = toBasicCacheSeconds(config) } = config;
  const { apiKeys: keys } = chain;
  const reported = createReportedLogins(accounts.resolve, clock);
  const byKey = keys && createKeyIdentifier({ keys, throttle, audit, reported, findAccountProblem, component, clock });
  const ownIdentifier = createIdentifier({
    chain,
    basicCache: createBasicCache({ seconds: basicCacheSeconds, chain, sessions, clock }),
    sessions,
    throttle,
    audit,
    findAccountProblem,
    byKey,
    completeVerdict: createSecondFactor({ store: loginStore, clock }),
    needsKey: ({ username, settings }) => accounts.resolve(username, settings).requireKeyForBasic,
    usernameOfCertificate,
    server,
    component,
    cookie: session.cookie,
    logger,
  });
  const identifier =
    identify === undefined
      ? ownIdentifier
      : withHostIdentity(ownIdentifier, {
          identify,
          resolve: accounts.resolve,
          check: toCheckedSettings,
          component,
          clock,
        });

  function findAccountProblem(username: string, settings: AccountSettings): string | undefined {
    try {
      accounts.resolve(username, settings);
      return undefined;
    } catch (error) {
      if (!isHttpError(error)) throw error;
      return toReason(error);
    }
  }

  async function admit({ username, settings }: Login, attempt: LoginAttempt, remember = () => true): Promise<Account> {
    try {
      const account = accounts.resolve(username, settings);
      await accounts.prepare(account);
      if (remember()) audit.accepted(attempt, account);
      return account;
    } catch (error) {
      audit.refused(attempt, "account", toReason(error));
      throw error;
    }
  }

  return {
    chain,
    sessions,
    throttle,
    audit,
    identifier,
    signOns: createSignOns({ methods: config.signOns, chain, audit, findAccountProblem, component }),
    passwords: createPasswordUpdates({ chain, sessions, throttle, audit, policy: config.passwordPolicy, logger }),
    watchLogin: createLoginWatcher(sessions, chain),
    isLiveKey: byKey?.isLive,
    admit,
  };
}

/**
 * How long logins by Basic are remembered by default. Each request of a WebDAV client is a login, so with WebDAV all
 * are remembered. Otherwise (`undefined`) only those of a first method that knows whether an account is current.
 */
function toBasicCacheSeconds({ webdav, authentication }: ServiceConfig): number | undefined {
  if (webdav !== undefined) return WEBDAV_CACHE_SECONDS;
  return authentication[0]?.isCurrent === undefined ? 0 : undefined;
}

function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
