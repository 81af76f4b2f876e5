import type { AccountContext } from "../../request/context.ts";
import { tooManyPages } from "../../transfers/too-many-transfers.ts";

/** The bytes of a member that the service holds, in addition to two bytes for each code unit of its name. */
const MEMBER_BYTES = 300;

/** The bytes that members with these names take. */
export function toMemberBytes(members: readonly { readonly name: string }[]): number {
  return members.reduce((sum, { name }) => sum + MEMBER_BYTES + 2 * name.length, 0);
}

/** Acquires a permit for the bytes of a page. @throws HttpError `unavailable` if there are too many. */
export function acquirePageBytes(pagePermit: AccountContext["pagePermit"], bytes: number): void {
  if (pagePermit.acquire(bytes)) return;
  // Not later: ending the listing may take long, and a refused page must not block others meanwhile.
  pagePermit.release();
  throw tooManyPages();
}
