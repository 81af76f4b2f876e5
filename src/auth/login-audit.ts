import type { Credentials } from "../contracts/authenticator.ts";
import { type Connection, NIL_UUID } from "../contracts/connection.ts";
import type { EventKey } from "../contracts/events/envelope.ts";
import type { LoginType, MethodVerdict, RefusalReason } from "../contracts/events/logins.ts";
import type { Logger } from "../contracts/logger.ts";
import { EVENT_MESSAGES } from "../events/catalog.ts";
import type { Emit } from "../events/emitter.ts";
import { cutName } from "../events/refusals.ts";
import { isSecure } from "../http/request-target.ts";
import { readTrace } from "../http/trace-context.ts";
import { toKeyId } from "./keys/key-text.ts";
import type { TimedSession } from "./sessions/types.ts";

/** A login attempt, as the audit needs it. The audit never passes on the content of the credentials. */
export interface LoginAttempt {
  readonly credentials: Omit<Credentials, "type" | "content"> & { readonly type: LoginType };
  /** The verdicts of the methods that were asked. */
  readonly verdicts: readonly MethodVerdict[];
  /** The API key, if the login is by a key that is known. */
  readonly key?: EventKey;
  /** Whether a session starts if the login is accepted. */
  readonly beginsSession?: boolean;
}

/** Emits the events 40000, 40007, 40015 and 40037 of logins and sessions (CONTRACT 8), and logs refused logins. */
export interface LoginAudit {
  /** Reports an accepted login. `account` comes from the account's settings. */
  accepted(attempt: LoginAttempt, account: { readonly uuid: string; readonly email: string }): void;
  /** Reports a refused login. `details` say what is wrong with the account, if the account is the reason. */
  refused(attempt: LoginAttempt, reason: RefusalReason, details?: string): void;
  /** Reports the end of a session: it expired, which its next use finds out, or its account ended it. */
  sessionEnded(
    how: "by-time" | "by-account",
    session: TimedSession,
    request: Pick<Request, "url" | "headers">,
    connection: Connection,
  ): void;
}

/** Options of {@link createLoginAudit}. */
export interface LoginAuditOptions {
  readonly emit: Emit;
  readonly logger: Logger;
  /** The component that clients log in to. */
  readonly component: { readonly uuid: string };
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Refusals of every day. */
const EXPECTED: readonly RefusalReason[] = ["unknown", "credentials", "second-factor-required"];

/** Creates the audit of a service. */
export function createLoginAudit({ emit, logger, component, clock }: LoginAuditOptions): LoginAudit {
  function accepted(attempt: LoginAttempt, { uuid, email }: { readonly uuid: string; readonly email: string }): void {
    const envelope = toEnvelope(attempt);
    const account = { ...envelope.account, uuid, email };
    emit({ id: 40007, ...envelope, account, data: { ...toData(attempt), session: attempt.beginsSession === true } });
  }

  function refused(attempt: LoginAttempt, reason: RefusalReason, details?: string): void {
    const data = { ...toData(attempt), reason, ...(details !== undefined && { details }) };
    emit({ id: 40000, ...toEnvelope(attempt), data });
    log(attempt, reason, details);
  }

  /** Logs a refused login without the `audit` of methods, which is for the event only (2.5). */
  function log({ credentials, verdicts, key }: LoginAttempt, reason: RefusalReason, details: string | undefined): void {
    const { type, username, peer } = credentials;
    const level = EXPECTED.includes(reason) ? "info" : "warn";
    logger[level](
      {
        username: toShownName(username),
        type,
        reason,
        ...(verdicts.length > 0 && { method: verdicts.at(-1)?.method }),
        ...(peer !== undefined && { address: peer.address }),
        ...(key !== undefined && { key: key.id }),
        ...(details !== undefined && { details }),
      },
      EVENT_MESSAGES[40000],
    );
  }

  const sessionEnded: LoginAudit["sessionEnded"] = (how, { username, settings, created }, request, connection) => {
    const { peer } = connection;
    const { uuid = username, email = "" } = settings;
    const trace = readTrace(request.headers);
    emit({
      id: how === "by-time" ? 40015 : 40037,
      account: { uuid, name: username, email, ...(peer !== undefined && { peer }) },
      component: { uuid: component.uuid, type: isSecure(request, connection) ? "https" : "http" },
      ...(trace !== undefined && { trace }),
      data: { duration: Math.max(0, clock() - created) / 1000 },
    });
  };

  return { accepted, refused, sessionEnded };
}

function toEnvelope({ credentials: { username, peer, creator, trace }, key }: LoginAttempt) {
  const name = toShownName(username);
  return {
    account: { uuid: name, name, email: "", ...(peer !== undefined && { peer }) },
    ...(key !== undefined && { key }),
    component: creator ?? { uuid: NIL_UUID, type: "http" },
    ...(trace !== undefined && { trace }),
  };
}

/** The name, without the secret of an API key that was typed in its place. */
function toShownName(username: string): string {
  const id = toKeyId(username.trim());
  return id === undefined ? cutName(username) : `ff_${id}`;
}

function toData({ credentials: { type }, verdicts }: LoginAttempt) {
  return { credentials: { type }, verdicts };
}
