import type { FileEvent } from "../contracts/events/file-event.ts";
import { isRefusal } from "../events/refusals.ts";

/** An event that waits. */
export interface HeldEvent {
  readonly event: FileEvent;
  /** Characters of its JSON. */
  readonly size: number;
}

/** Options of {@link createEventBuffer}. */
export interface EventBufferOptions {
  /** The number of events that wait at most. */
  readonly capacity: number;
  /** Characters of JSON: clients decide how long names and headers are, so the number alone does not bound memory. */
  readonly maxSize: number;
}

/** Events that wait, in the order of their arrival. */
export interface EventBuffer<T extends HeldEvent> {
  /**
   * Adds an event. If the buffer is full, one is dropped: first one of a refusal, which any client can cause, and then
   * one of the account that holds the most. Returns how many were dropped, this one included.
   */
  add(held: T): number;
  /** Takes the first events: at least one, if there is one, and as many as fit. */
  take(most: number, maxSize: number): readonly T[];
  isEmpty(): boolean;
}

/** Creates an empty buffer. */
export function createEventBuffer<T extends HeldEvent>({ capacity, maxSize }: EventBufferOptions): EventBuffer<T> {
  const held: T[] = [];
  let size = 0;
  let refusals = 0;
  /** The part of the buffer that the events of each account take, except refusals. */
  const shares = new Map<string, number>();

  const isFull = (): boolean => held.length >= capacity || size >= maxSize;
  const shareOf = (one: HeldEvent): number => 1 / capacity + one.size / maxSize;

  function count(one: HeldEvent, sign: 1 | -1): void {
    size += sign * one.size;
    if (isRefusal(one.event)) refusals += sign;
    else changeShare(toHolder(one.event), sign * shareOf(one));
  }

  function changeShare(holder: string, by: number): void {
    const share = (shares.get(holder) ?? 0) + by;
    // What is left of a sum of fractions is not exactly 0.
    if (share < 0.5 / capacity) shares.delete(holder);
    else shares.set(holder, share);
  }

  function add(one: T): number {
    let dropped = 0;
    while (isFull()) {
      dropped += 1;
      if (!makeRoomFor(one)) return dropped;
    }
    held.push(one);
    count(one, 1);
    return dropped;
  }

  /** Drops one event. Returns false if the new one is to be dropped. */
  function makeRoomFor(one: T): boolean {
    if (isRefusal(one.event)) return false;
    if (refusals > 0) {
      drop(held.findIndex(({ event }) => isRefusal(event)));
      return true;
    }
    const [most, share] = findMost();
    if ((shares.get(toHolder(one.event)) ?? 0) + shareOf(one) > share) return false;
    drop(held.findLastIndex(({ event }) => toHolder(event) === most));
    return true;
  }

  function drop(index: number): void {
    for (const one of held.splice(index, 1)) count(one, -1);
  }

  function findMost(): readonly [holder: string, share: number] {
    let most: readonly [string, number] = ["", 0];
    for (const entry of shares) if (entry[1] > most[1]) most = entry;
    return most;
  }

  function take(most: number, maxTaken: number): readonly T[] {
    let number = 0;
    let taken = 0;
    for (const one of held) {
      if (number === most || (number > 0 && taken + one.size > maxTaken)) break;
      number += 1;
      taken += one.size;
    }
    const first = held.splice(0, number);
    for (const one of first) count(one, -1);
    return first;
  }

  return { add, take, isEmpty: () => held.length === 0 };
}

/** The holder of an event: an account with its links, or nothing for events without an account. */
function toHolder({ account }: FileEvent): string {
  return account?.uuid ?? "";
}
