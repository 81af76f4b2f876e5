import type { Credentials } from "../contracts/authenticator.ts";
import { NIL_UUID } from "../contracts/connection.ts";
import type { MethodVerdict, RefusalReason } from "../contracts/events.ts";
import type { Logger } from "../contracts/logger.ts";
import type { Emit } from "../events/emitter.ts";

/** A login on its way through the service: what is told of it, never what its credentials hold. */
export interface LoginAttempt {
  readonly credentials: Credentials;
  /** The methods that were asked. */
  readonly verdicts: readonly MethodVerdict[];
}

/** Tells the operator what became of logins: by events 40000 and 40007 (CONTRACT 8), and refused ones in the log. */
export interface LoginAudit {
  /** `account` holds what its settings say of it. */
  accepted(attempt: LoginAttempt, account: { readonly uuid: string; readonly email: string }): void;
  /** `details`: what is wrong with the account, where that is the reason. */
  refused(attempt: LoginAttempt, reason: RefusalReason, details?: string): void;
}

/** User names in the log are cut: they may be anything. */
const MAX_LOGGED_NAME = 255;

/** Makes the audit of a service. */
export function createLoginAudit(emit: Emit, logger: Logger): LoginAudit {
  function accepted(attempt: LoginAttempt, { uuid, email }: { readonly uuid: string; readonly email: string }): void {
    const envelope = toEnvelope(attempt);
    const account = { ...envelope.account, uuid, email };
    emit({ id: 40007, message: "An account has logged in.", ...envelope, account, data: toData(attempt) });
  }

  function refused(attempt: LoginAttempt, reason: RefusalReason, details?: string): void {
    const data = { ...toData(attempt), reason, ...(details !== undefined && { details }) };
    emit({ id: 40000, message: "A login was refused.", ...toEnvelope(attempt), data });
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
      "A login was refused.",
    );
  }

  return { accepted, refused };
}

function toEnvelope({ credentials: { username, peer, creator } }: LoginAttempt) {
  return {
    account: { uuid: username, name: username, email: "", ...(peer !== undefined && { peer }) },
    component: creator ?? { uuid: NIL_UUID, type: "http" },
  };
}

function toData({ credentials: { type }, verdicts }: LoginAttempt) {
  return { credentials: { type }, verdicts };
}
