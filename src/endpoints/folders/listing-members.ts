import { toBatches } from "../../contracts/member-batches.ts";
import { compareNames } from "../../contracts/member-names.ts";
import type { ListOptions, StorageEntry } from "../../contracts/storage-adapter.ts";
import { sortCooperatively } from "../../platform/cooperative-sort.ts";
import { createSmallest } from "../../platform/smallest.ts";
import type { AccountContext } from "../../request/context.ts";
import { acquireTransfer } from "../../transfers/too-many-transfers.ts";
import { toUploadHolder } from "../../transfers/uploads/limits.ts";
import { type PageMember, toPageMember } from "../../views/member-order.ts";
import { acquirePageBytes, toMemberBytes } from "./page-memory.ts";

/** The maximum number of members that are sorted for a listing that is not divided into pages. */
const MAX_SORTED = 10_000;
/** How many members are sent at a time. */
const BATCH = 256;

function byName(one: PageMember, other: PageMember): number {
  return compareNames(one.name, other.name);
}

/**
 * Returns the first members after a name, sorted by name. It holds about twice as many in memory, however many the
 * folder has.
 */
export async function readFirstMembers(context: AccountContext, options: ListOptions): Promise<readonly PageMember[]> {
  const { files, path, request, pagePermit } = context;
  const walk = context.listingWalks.start(toUploadHolder(context), request.signal);
  const countMembers = createTransferCount(context);
  const smallest = createSmallest(options.limit, byName);
  let longest = 0;
  try {
    await walk.next();
    for await (const batch of toBatches(files.list(path.segments, options))) {
      const later = batch.filter(({ name }) => compareNames(name, options.after) > 0);
      longest = later.reduce((most, { name }) => Math.max(most, name.length), longest);
      await smallest.add(later.map(toPageMember));
      countMembers(later.length);
      // The storage may hold as many.
      acquirePageBytes(pagePermit, 2 * smallest.size() * toMemberBytes([{ name: "x".repeat(longest) }]));
      await walk.next();
    }
    return await smallest.sorted();
  } finally {
    walk.end();
  }
}

/** The members and the steps of a listing that are read without a permit: about 64 KiB, as of other listings. */
const FREE_MEMBERS = 700;
const FREE_STEPS = 16;

/**
 * Counts a listing as a transfer if it is long: it holds its folder open while it is read, and its members until the
 * client has read them. The function gets the number of members of each step. It throws HttpError `too-many-transfers`,
 * or the reason of an aborted signal: after a disconnect there is no client to send the listing to.
 */
function createTransferCount(context: AccountContext): (members: number) => void {
  let members = 0;
  let steps = 0;

  return function countMembers(found) {
    context.request.signal.throwIfAborted();
    members += found;
    steps += 1;
    if (members > FREE_MEMBERS || steps > FREE_STEPS) acquireTransfer(context);
  };
}

/** The members of a listing that should be sorted. */
export interface PreferredMembers {
  readonly batches: AsyncIterator<readonly PageMember[]>;
  readonly isSorted: boolean;
}

/** Returns the members of a folder sorted by name. If there are too many of them, they have the storage's order. */
export async function readMembersByName(context: AccountContext): Promise<PreferredMembers> {
  const { files, path, request, pagePermit } = context;
  const batches = toBatches(files.list(path.segments));
  const countMembers = createTransferCount(context);
  const found: PageMember[] = [];
  let bytes = 0;
  try {
    while (found.length <= MAX_SORTED) {
      const next = await batches.next();
      request.signal.throwIfAborted();
      if (next.done) return { batches: toPieces(await sortCooperatively(found, byName)), isSorted: true };
      for (const member of next.value) found.push(toPageMember(member));
      bytes += toMemberBytes(next.value);
      countMembers(next.value.length);
      acquirePageBytes(pagePermit, bytes);
    }
    return { batches: toPieces(found, batches), isSorted: false };
  } catch (error) {
    await batches.return?.();
    throw error;
  }
}

/** The members in batches, followed by others, which are released at the end. */
export async function* toPieces(
  members: readonly PageMember[],
  more?: AsyncIterableIterator<readonly StorageEntry[]>,
): AsyncGenerator<readonly PageMember[]> {
  try {
    for (let start = 0; start < members.length; start += BATCH) yield members.slice(start, start + BATCH);
    if (more !== undefined) for await (const batch of more) yield batch.map(toPageMember);
  } finally {
    await more?.return?.();
  }
}
