import { yieldToEventLoop } from "../platform/event-loop.ts";
import type { StorageEntry } from "./storage-adapter.ts";

/**
 * Members of a folder that can also be taken many at a time: each step costs something in every layer that it passes through, and there
 * may be 100,000. A storage whose `list` gives such an object is listed faster; {@link toMembers} makes one.
 */
export interface MemberBatches extends AsyncIterableIterator<StorageEntry> {
  /**
   * The same members, from the first on, some in each step; instead of going through them one by one, not beside it. Everybody else has a
   * turn between two batches.
   */
  batches(): AsyncIterableIterator<readonly StorageEntry[]>;
}

/** How many members of a storage without batches are taken for one. */
const BATCH = 256;
/** How many of those batches are taken before others have their turn: such a storage may never wait for anything. */
const BATCHES_PER_YIELD = 4;

/** Members that come in batches, of which nothing is opened before the first step. */
export function toMembers(batches: () => AsyncIterableIterator<readonly StorageEntry[]>): MemberBatches {
  return Object.assign(oneByOne(batches), { batches });
}

/** The members of a folder in batches, some of which may be empty, whether the storage offers them or not. */
export function toBatches(members: AsyncIterable<StorageEntry>): AsyncIterableIterator<readonly StorageEntry[]> {
  return hasBatches(members) ? members.batches() : gather(members);
}

function hasBatches(members: AsyncIterable<StorageEntry>): members is MemberBatches {
  return "batches" in members && typeof members.batches === "function";
}

async function* oneByOne(batches: () => AsyncIterable<readonly StorageEntry[]>): AsyncGenerator<StorageEntry> {
  for await (const batch of batches()) {
    for (const member of batch) yield member;
  }
}

async function* gather(members: AsyncIterable<StorageEntry>): AsyncGenerator<readonly StorageEntry[]> {
  let batch: StorageEntry[] = [];
  let taken = 0;
  for await (const member of members) {
    batch.push(member);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
    taken += 1;
    if (taken % BATCHES_PER_YIELD === 0) await yieldToEventLoop();
  }
  if (batch.length > 0) yield batch;
}
