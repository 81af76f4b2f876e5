import type { AccountLock } from "../../account/locks/account-locks.ts";
import type { AccountContext } from "../../request/context.ts";
import type { DavResource } from "../../webdav/live-properties.ts";
import type { AskedLocks } from "../../webdav/propfind-response.ts";
import { toActiveLock } from "./lock.ts";

/** What a PROPFIND says of the locks of a file or folder. */
export type ResourceLocks = Pick<DavResource, "locks" | "mayWrite">;

export const NO_LOCKS: ResourceLocks = { mayWrite: false };

/** The locks of a file or folder, if a PROPFIND asks for them. */
export async function findLocks(
  context: AccountContext,
  asked: AskedLocks,
  segments: readonly string[],
): Promise<ResourceLocks> {
  return toResourceLocks(context, asked, segments, asked.needsLocks ? await context.files.locksOf(segments) : []);
}

/** Returns a function for the locks of a folder's members; `undefined` if the response has nothing of them. */
export async function findLocksOfMembers(
  context: AccountContext,
  asked: AskedLocks,
  folder: readonly string[],
): Promise<((name: string) => ResourceLocks | Promise<ResourceLocks>) | undefined> {
  if (!asked.needsLocks && asked.needsMayWrite !== "always") return undefined;
  const locksOf = asked.needsLocks ? await context.files.locksOfMembers(folder) : () => [];
  return (name) => toResourceLocks(context, asked, [...folder, name], locksOf(name));
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
