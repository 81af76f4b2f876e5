import { toStoragePath } from "../../account/path.ts";
import { type Triggers, triggersOf } from "../../config/trigger-config.ts";
import type { Trigger, TriggerContext, TriggerMember } from "../../contracts/trigger.ts";
import { toHostRefusal } from "../../http/errors.ts";
import { type HttpError, isHttpError } from "../../http/http-error.ts";
import type { AccountContext } from "../../request/context.ts";
import { emitEvent } from "../../request/emit-event.ts";
import { chooseMember } from "./choose-member.ts";

const NO_TRIGGERS: Triggers = new Map();

/** The triggers that the account has (4.3). A link and a visitor without a login have none. */
export function ownTriggers({ config, account, link, scheme }: AccountContext): Triggers {
  return link === undefined && scheme !== "anonymous" ? triggersOf(config.triggers, account.group) : NO_TRIGGERS;
}

/**
 * Runs a trigger on a member of the folder and emits event 40043 (4.3, 4.6).
 * @throws StorageError `not-found` if the member does not exist; HttpError `denied` if the account may not read it,
 * because it must not pass on what it may not read; HttpError `unprocessable` with the message of an HttpError of the
 * trigger; HttpError `internal` if the trigger failed in any other way.
 */
export async function runTrigger(
  context: AccountContext,
  name: string,
  trigger: Trigger,
  target: string,
): Promise<void> {
  const { kind } = await chooseMember(context, target);
  await context.confirmLogin();
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
    // The status of the integrator's error is ignored: a 401, for example, would be wrong for this request.
    if (isHttpError(cause)) return toHostRefusal("trigger-refused", cause.message, cause);
    return context.failureOf(new Error(`The trigger ${name} failed.`, { cause }));
  }
}

function toContext({ account, path, request }: AccountContext, trigger: string): TriggerContext {
  const { name, uuid, email, group } = account;
  const folder = toStoragePath(path.segments);
  return { trigger, account: { name, uuid, email, group }, folder, signal: request.signal };
}
