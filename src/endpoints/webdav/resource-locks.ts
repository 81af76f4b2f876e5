import type { AccountLock } from "../../account/locks/account-locks.ts";
import { isHttpError } from "../../http/http-error.ts";
import type { AccountContext } from "../../request/context.ts";
import type { DavResource } from "../../webdav/live-properties.ts";
import type { AskedLocks } from "../../webdav/propfind-response.ts";
import { toActiveLock } from "./lock.ts";

/** What a PROPFIND says of the locks of a file or folder. */
export type ResourceLocks = Pick<DavResource, "locks" | "mayWrite">;

type LocksOfMember = (name: string) => readonly AccountLock[];

export const NO_LOCKS: ResourceLocks = { mayWrite: false };

/** The locks of a file or folder, if a PROPFIND asks for them. */
export async function findLocks(
  context: AccountContext,
  asked: AskedLocks,
  segments: readonly string[],
): Promise<ResourceLocks> {
  const find = (): Promise<readonly AccountLock[]> => context.files.locksOf(segments);
  return toResourceLocks(context, asked, segments, asked.needsLocks ? await noneIfUnavailable(asked, find, []) : []);
}

/** Returns a function for the locks of a folder's members; `undefined` if the response has nothing of them. */
export async function findLocksOfMembers(
  context: AccountContext,
  asked: AskedLocks,
  folder: readonly string[],
): Promise<((name: string) => ResourceLocks | Promise<ResourceLocks>) | undefined> {
  if (!asked.needsLocks && asked.needsMayWrite !== "always") return undefined;
  const noLocks: LocksOfMember = () => [];
  const find = (): Promise<LocksOfMember> => context.files.locksOfMembers(folder);
  const locksOf = asked.needsLocks ? await noneIfUnavailable(asked, find, noLocks) : noLocks;
  return (name) => toResourceLocks(context, asked, [...folder, name], locksOf(name));
}

/** Returns `none` if the store of locks fails, unless the client has asked for locks by name. */
async function noneIfUnavailable<T>({ isLockNamed }: AskedLocks, find: () => Promise<T>, none: T): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (isLockNamed || !isHttpError(error) || error.failure !== "unavailable") throw error;
    return none;
  }
}

/** Permissions are only checked if the response says what may be locked. */
function toResourceLocks(
  context: AccountContext,
  { needsMayWrite }: AskedLocks,
  segments: readonly string[],
  found: readonly AccountLock[],
): ResourceLocks | Promise<ResourceLocks> {
  const isAsked = needsMayWrite === "always" || (needsMayWrite === "if-locked" && found.length > 0);
  if (!isAsked && found.length === 0) return NO_LOCKS;
  const locks = found.map((lock) => toActiveLock(context, lock));
  if (!isAsked) return { locks, mayWrite: false };
  return context.files.may(segments, "write").then((mayWrite) => ({ locks, mayWrite }));
}
