import { yieldToEventLoop } from "../platform/event-loop.ts";
import { inBatches } from "../platform/in-batches.ts";
import type { StorageEntry } from "./storage-adapter.ts";

/**
 * Members of a folder that can also be read in batches. A folder may have 100,000 members, and each step costs
 * something in every layer. A storage whose `list` returns such an object is listed faster; {@link toMembers} creates
 * one.
 */
export interface MemberBatches extends AsyncIterableIterator<StorageEntry> {
  /**
   * Iterates over the members from the first one on, several in each step. Use this or the iterator, not both. The
   * reader lets other requests run between the steps: a storage may never wait for anything.
   */
  batches(): AsyncIterableIterator<readonly StorageEntry[]>;
}

/** The size of a batch, for storages without batches. */
const BATCH = 256;

/** Creates the members of a folder from their batches. Nothing is opened before the first step. */
export function toMembers(batches: () => AsyncIterableIterator<readonly StorageEntry[]>): MemberBatches {
  return Object.assign(oneByOne(batches), { batches });
}

/** The members of a folder in batches, even if the storage has none. A batch may be empty. */
export function toBatches(members: AsyncIterable<StorageEntry>): AsyncIterableIterator<readonly StorageEntry[]> {
  return hasBatches(members) ? members.batches() : inBatches(members, BATCH);
}

function hasBatches(members: AsyncIterable<StorageEntry>): members is MemberBatches {
  return "batches" in members && typeof members.batches === "function";
}

async function* oneByOne(batches: () => AsyncIterable<readonly StorageEntry[]>): AsyncGenerator<StorageEntry> {
  for await (const batch of batches()) {
    for (const member of batch) yield member;
    await yieldToEventLoop();
  }
}
