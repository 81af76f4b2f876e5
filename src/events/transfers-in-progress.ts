import type { FileEvent } from "../contracts/events/file-event.ts";

export type TransferKind = "upload" | "download" | "listing" | "archive";

/** The kind of transfer that an event starts. */
export const TRANSFER_STARTS: Readonly<Partial<Record<FileEvent["id"], TransferKind>>> = {
  40021: "upload",
  40004: "download",
  40006: "listing",
  40016: "archive",
};

/** The kind of transfer that an event ends, and the outcome. */
export const TRANSFER_ENDS: Readonly<Partial<Record<FileEvent["id"], readonly [kind: TransferKind, outcome: string]>>> =
  {
    40017: ["upload", "done"],
    40022: ["upload", "failed"],
    40039: ["download", "done"],
    40040: ["download", "failed"],
    40018: ["download", "cut"],
    40034: ["listing", "done"],
    40014: ["listing", "failed"],
    40025: ["archive", "done"],
    40041: ["archive", "failed"],
  };

/**
 * Counts what a closing service waits for: requests, and transfers that go on after their handler, from their first
 * event to the last. An upload ends within a request. If it comes in several, none may be open for days.
 */
export interface TransfersInProgress {
  note(id: FileEvent["id"]): void;
  /** Counts a request that starts (1) or ends (-1). */
  add(change: number): void;
  /** Resolves when no transfer is in progress, or after the given time. */
  settled(milliseconds: number): Promise<void>;
}

export function createTransfersInProgress(): TransfersInProgress {
  const waiting = new Set<() => void>();
  let count = 0;

  function note(id: FileEvent["id"]): void {
    const start = TRANSFER_STARTS[id];
    if ((start ?? TRANSFER_ENDS[id]?.[0] ?? "upload") !== "upload") add(start === undefined ? -1 : 1);
  }

  function add(change: number): void {
    count = Math.max(0, count + change);
    if (count === 0) for (const go of waiting) go();
  }

  async function settled(milliseconds: number): Promise<void> {
    if (count === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(go, milliseconds);
      function go(): void {
        clearTimeout(timer);
        waiting.delete(go);
        resolve();
      }
      waiting.add(go);
    });
  }

  return { note, add, settled };
}
