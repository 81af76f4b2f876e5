import type { Credentials } from "../contracts/authenticator.ts";
import { type Connection, NIL_UUID } from "../contracts/connection.ts";
import type { MethodVerdict, RefusalReason } from "../contracts/events/logins.ts";
import type { Logger } from "../contracts/logger.ts";
import { EVENT_MESSAGES } from "../events/catalog.ts";
import type { Emit } from "../events/emitter.ts";
import { isSecure } from "../http/request-target.ts";
import { readTrace } from "../http/trace-context.ts";
import type { TimedSession } from "./sessions/types.ts";

/** A login on its way through the service: what is told of it, never what its credentials hold. */
export interface LoginAttempt {
  readonly credentials: Credentials;
  /** The methods that were asked. */
  readonly verdicts: readonly MethodVerdict[];
  /** Whether a session is to begin with it. */
  readonly beginsSession?: boolean;
}

/** Tells the operator what became of logins and sessions: by events 40000, 40007, 40015 and 40037 (CONTRACT 8), and refused logins in the log. */
export interface LoginAudit {
  /** `account` holds what its settings say of it. */
  accepted(attempt: LoginAttempt, account: { readonly uuid: string; readonly email: string }): void;
  /** `details`: what is wrong with the account, where that is the reason. */
  refused(attempt: LoginAttempt, reason: RefusalReason, details?: string): void;
  /** A session has ended: by its time, which its next use has found out, or by its account. */
  sessionEnded(how: "by-time" | "by-account", session: TimedSession, request: Request, connection: Connection): void;
}

/** What an audit is made of. */
export interface LoginAuditOptions {
  readonly emit: Emit;
  readonly logger: Logger;
  /** The component that clients log in to. */
  readonly component: { readonly uuid: string };
  /** POSIX milliseconds. */
  readonly clock: () => number;
}

/** User names in the log are cut: they may be anything. */
const MAX_LOGGED_NAME = 255;

/** Makes the audit of a service. */
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

  /** What a method says for the event alone does not stand in the log (2.5). */
  function log({ credentials, verdicts }: LoginAttempt, reason: RefusalReason, details: string | undefined): void {
    const { type, username, peer } = credentials;
    const level = reason === "unknown" || reason === "credentials" ? "info" : "warn";
    logger[level](
      {
        username: username.slice(0, MAX_LOGGED_NAME),
        type,
        reason,
        ...(verdicts.length > 0 && { method: verdicts.at(-1)?.method }),
        ...(peer !== undefined && { address: peer.address }),
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

function toEnvelope({ credentials: { username, peer, creator, trace } }: LoginAttempt) {
  return {
    account: { uuid: username, name: username, email: "", ...(peer !== undefined && { peer }) },
    component: creator ?? { uuid: NIL_UUID, type: "http" },
    ...(trace !== undefined && { trace }),
  };
}

function toData({ credentials: { type }, verdicts }: LoginAttempt) {
  return { credentials: { type }, verdicts };
}
