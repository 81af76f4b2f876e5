import type { SelectedMember } from "../../archive/entries.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import type { AccountContext } from "../../request/context.ts";
import { chooseMember } from "./choose-member.ts";
import { attempt, type MemberOutcome } from "./member-outcomes.ts";
import { acquirePageBytes } from "./page-memory.ts";

/** How many members are looked at at the same time. */
const PARALLEL = 16;
/** The bytes that a member takes with its result, in addition to two bytes for each code unit of its name. */
const MEMBER_BYTES = 1500;

/** The members of an archive, and the results for all names: an error for each that cannot be in it. */
export interface ChosenMembers {
  readonly chosen: readonly SelectedMember[];
  readonly outcomes: readonly MemberOutcome[];
}

/**
 * Looks at the members of a folder that are to be downloaded. Both results have the order of the names.
 * @throws HttpError `unavailable` if the pages and archives of the account take too many bytes; the signal's reason.
 */
export async function chooseMembers(context: AccountContext, names: readonly string[]): Promise<ChosenMembers> {
  const { pagePermit, request } = context;
  acquirePageBytes(
    pagePermit,
    names.reduce((sum, { length }) => sum + MEMBER_BYTES + 2 * length, 0),
  );
  const members = new Array<SelectedMember | undefined>(names.length);
  const outcomes = new Array<MemberOutcome>(names.length);
  await inParallel(names.entries(), { most: PARALLEL, signal: request.signal }, async ([index, target]) => {
    outcomes[index] = await attempt(context, target, async (name) => {
      members[index] = await chooseMember(context, name);
    });
  });
  return { chosen: members.filter((member) => member !== undefined), outcomes };
}
