import { toStoragePath } from "../../account/path.ts";
import { type Triggers, triggersOf } from "../../config/trigger-config.ts";
import type { Trigger, TriggerContext, TriggerMember } from "../../contracts/trigger.ts";
import { HttpError, isHttpError } from "../../http/http-error.ts";
import type { AccountContext } from "../../request/context.ts";
import { emitEvent } from "../../request/emit-event.ts";
import { chooseMember } from "./choose-member.ts";

/** The triggers that the account has (4.3). */
export function ownTriggers({ config, account }: AccountContext): Triggers {
  return triggersOf(config.triggers, account.group);
}

/**
 * Runs a trigger on a member of the addressed folder, and tells of it by event 40043 (4.3, 4.6).
 * What the account may not read, it may not hand on.
 * @throws StorageError `not-found` when nothing of that name is there; HttpError `denied`; HttpError `unprocessable` with the message of the trigger's own HttpError, `internal`
 * when it failed otherwise.
 */
export async function runTrigger(
  context: AccountContext,
  name: string,
  trigger: Trigger,
  target: string,
): Promise<void> {
  const { kind } = await chooseMember(context, target);
  const member: TriggerMember = { name: target, kind, path: toStoragePath([...context.path.segments, target]) };
  const failure = await findFailure(context, name, trigger, member);
  const details = failure?.message ?? null;
  emitEvent(context, {
    id: 40043,
    ...(details !== null && { message: "A trigger failed." }),
    data: { trigger: name, path: member.path, details },
  });
  if (failure !== undefined) throw failure;
}

async function findFailure(
  context: AccountContext,
  name: string,
  trigger: Trigger,
  member: TriggerMember,
): Promise<HttpError | undefined> {
  try {
    await trigger.run?.(toContext(context, name), [member]);
    return undefined;
  } catch (cause) {
    // Which status the integrator's error would have is not asked: 401, say, would be no answer to this request.
    if (isHttpError(cause)) return new HttpError("unprocessable", cause.message);
    return context.failureOf(new Error(`The trigger ${name} failed.`, { cause }));
  }
}

function toContext({ account, path, request }: AccountContext, trigger: string): TriggerContext {
  const { name, uuid, email, group } = account;
  const folder = toStoragePath(path.segments);
  return { trigger, account: { name, uuid, email, group }, folder, signal: request.signal };
}
