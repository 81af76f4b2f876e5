import { toEventKey } from "../../auth/keys/identify-key.ts";
import type { ApiKey } from "../../contracts/api-keys.ts";
import { createError } from "../../http/errors.ts";
import type { AccountContext } from "../../request/context.ts";
import { emitEvent, type RequestEvent } from "../../request/emit-event.ts";
import type { ShownKey } from "../../schemas/api-keys.ts";

/** The URL path of the API keys of an account. */
export function toKeysPath(basePath: string): string {
  return `${basePath}/home/__svc__/keys`;
}

/** The keys of the account of a request, newest first. @throws HttpError `not-found` if no method keeps keys for it. */
export async function listOwnKeys({ keys, account }: AccountContext): Promise<readonly ApiKey[]> {
  const own = await keys?.list(account.name);
  if (own === undefined) throw createError("not-found");
  return own.toSorted((one, other) => other.created_at - one.created_at);
}

/** Whether an account may make and revoke its keys here. */
export async function mayChangeKeys({ keys, account }: AccountContext): Promise<boolean> {
  return account.allowOwnKeys && (await keys?.isChangeable(account.name)) === true;
}

/** Returns a key as responses have it. */
export function toShownKey({ id, label = "", permissions, path = "/", created_at, expires_at }: ApiKey): ShownKey {
  return { id, label, permissions: permissions ?? null, path, created: created_at, expires: expires_at ?? null };
}

/** Emits an event of a key, which it has in its envelope. */
export function emitKeyEvent(context: AccountContext, key: ApiKey, event: RequestEvent): void {
  if (context.hasListeners()) emitEvent({ ...context, eventKey: toEventKey(key) }, event);
}
