import type { AccountSettings } from "../../contracts/account.ts";
import type { ApiKey } from "../../contracts/api-keys.ts";
import type { Connection } from "../../contracts/connection.ts";
import type { EventKey } from "../../contracts/events/envelope.ts";
import { isSecure } from "../../http/request-target.ts";
import { readTrace } from "../../http/trace-context.ts";
import { isSameText } from "../../platform/constant-time.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import type { Identification } from "../identification.ts";
import type { LoginAttempt, LoginAudit } from "../login-audit.ts";
import type { ReportedLogins } from "../reported-logins.ts";
import { type LoginThrottle, Throttled } from "../throttle.ts";
import type { ChainKey, ChainKeys } from "./chain-keys.ts";

/** An API key as a request has it. */
export interface PresentedKey {
  /** Its whole text: a secret. */
  readonly text: string;
  readonly id: string;
  /** The user name of HTTP Basic. Absent: it is a Bearer token. */
  readonly username?: string;
}

/** Identifies requests by API keys. */
export interface KeyIdentifier {
  /**
   * Verifies a key. A wrong one is a failed login (CONTRACT 6.6); one that has only expired is none, as it was not
   * guessed. A right key is not throttled: it cannot be guessed either. @throws HttpError `unavailable`.
   */
  identify(request: Request, connection: Connection, presented: PresentedKey): Promise<Identification>;
  /**
   * Whether a key that was verified is still valid, and neither it nor its account has changed. @throws HttpError
   * `unavailable`.
   */
  isLive(key: ApiKey, settings: AccountSettings): Promise<boolean>;
}

/** Options of {@link createKeyIdentifier}. */
export interface KeyIdentifierOptions {
  readonly keys: ChainKeys;
  readonly throttle: LoginThrottle;
  readonly audit: LoginAudit;
  readonly reported: ReportedLogins;
  /** See `LoginResultsOptions`. */
  readonly findAccountProblem: (username: string, settings: AccountSettings) => string | undefined;
  /** The component that clients log in to. */
  readonly component: { readonly uuid: string };
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Creates the identifier of a service's API keys. */
export function createKeyIdentifier(options: KeyIdentifierOptions): KeyIdentifier {
  const { keys, throttle, audit, reported, findAccountProblem, component, clock } = options;

  const isExpired = ({ expires_at: end }: ApiKey): boolean => end !== undefined && clock() >= end * 1000;

  async function identify(request: Request, connection: Connection, presented: PresentedKey): Promise<Identification> {
    const found = await keys.find(presented.id);
    const attempt = toAttempt(request, connection, presented, found);
    if (found === undefined || !isRight(presented, found)) return refuseWrong(request, connection, presented, attempt);
    const { username, account: settings, key } = found;
    const scheme = presented.username === undefined ? "bearer" : "basic";
    if (isExpired(key)) {
      audit.refused(attempt, "expired");
      return { outcome: "refused", scheme, code: "key-expired" };
    }
    const problem = findAccountProblem(username, settings);
    if (problem !== undefined) {
      audit.refused(attempt, "account", problem);
      return { outcome: "refused", scheme, code: "key-invalid" };
    }
    const login = { username, settings };
    const identified = { outcome: "identified", login, scheme, key } as const;
    const remember = reported.find(login, connection, key.id);
    return remember === undefined ? { ...identified, toAttempt: () => attempt } : { ...identified, attempt, remember };
  }

  /** Counts a wrong key as a failed login, unless too many have failed already. */
  async function refuseWrong(
    request: Request,
    connection: Connection,
    { username }: PresentedKey,
    attempt: LoginAttempt,
  ): Promise<Identification> {
    // Not by the account: an ID is no secret, and must not be enough to lock an account out. Nor by the ID: clients
    // invent any number, whose counts would push those of real names out of the store.
    const source = { address: connection.peer?.address, request };
    const result = await throttle.run(
      source,
      async () => undefined,
      () => "failed",
    );
    const refused = {
      outcome: "refused",
      scheme: username === undefined ? "bearer" : "basic",
      code: "key-invalid",
    } as const;
    audit.refused(attempt, result instanceof Throttled ? "throttled" : "credentials");
    const retryAfterSeconds = result instanceof Throttled ? result.retryAfterSeconds : undefined;
    return retryAfterSeconds === undefined ? refused : { ...refused, retryAfterSeconds };
  }

  /** The name of an attempt with an unknown key is the part of it that is no secret. */
  function toAttempt(
    request: Request,
    { peer, ...connection }: Connection,
    { id, username }: PresentedKey,
    found: ChainKey | undefined,
  ): LoginAttempt {
    const trace = readTrace(request.headers);
    return {
      credentials: {
        type: "api-key",
        username: username ?? found?.username ?? `ff_${id}`,
        creator: { uuid: component.uuid, type: isSecure(request, connection) ? "https" : "http" },
        ...(peer && { peer }),
        ...(trace && { trace }),
      },
      verdicts: [],
      ...(found && { key: toEventKey(found.key) }),
    };
  }

  async function isLive(key: ApiKey, settings: AccountSettings): Promise<boolean> {
    if (isExpired(key)) return false;
    const found = await keys.find(key.id);
    return found !== undefined && isEqual(found.key, key) && isEqual(found.account, settings);
  }

  return { identify, isLive };
}

/** Whether a text is the key, and has come with the name of its account if it has come with one. */
function isRight({ text, username }: PresentedKey, { username: owner, key }: ChainKey): boolean {
  return isSameText(sha256Hex(text), key.sha256) && (username === undefined || username === owner);
}

function isEqual(one: object, other: object): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** A key in events. */
export function toEventKey({ id, label = "" }: ApiKey): EventKey {
  return { id, label };
}
