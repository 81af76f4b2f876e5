import type { KeyOwner } from "../../auth/keys/chain-keys.ts";
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
export async function listOwnKeys(context: AccountContext): Promise<readonly ApiKey[]> {
  const own = await context.keys?.list(toKeyOwner(context));
  if (own === undefined) throw createError("not-found");
  return own.toSorted((one, other) => other.created_at - one.created_at);
}

/** Whether an account may make and revoke its keys here. */
export async function mayChangeKeys(context: AccountContext): Promise<boolean> {
  return context.account.allowOwnKeys && (await context.keys?.isChangeable(toKeyOwner(context))) === true;
}

/** The account of a request, as the owner of keys. */
export function toKeyOwner({ account, settings }: AccountContext): KeyOwner {
  return { username: account.name, settings };
}

/** Returns a key as responses have it. */
export function toShownKey({ id, label = "", permissions, path = "/", created_at, expires_at }: ApiKey): ShownKey {
  return { id, label, permissions: permissions ?? null, path, created: created_at, expires: expires_at ?? null };
}

/** Emits an event of a key, which it has in its envelope. */
export function emitKeyEvent(context: AccountContext, key: ApiKey, event: RequestEvent): void {
  if (context.hasListeners()) emitEvent({ ...context, eventKey: toEventKey(key) }, event);
}
