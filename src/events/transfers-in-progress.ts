import type { FileEvent } from "../contracts/events/file-event.ts";

/** What is transferred. */
export type TransferKind = "upload" | "download" | "listing" | "archive";

/** Transfers by the event that begins them. */
export const TRANSFER_BEGINS: Readonly<Partial<Record<FileEvent["id"], TransferKind>>> = {
  40021: "upload",
  40004: "download",
  40006: "listing",
  40016: "archive",
};

/** What ends them, and how. */
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

/** Transfers that have begun and not ended. */
export interface TransfersUnderWay {
  note(id: FileEvent["id"]): void;
  /** Resolves when there are none, or after so many milliseconds. */
  settled(milliseconds: number): Promise<void>;
}

/** Makes the count of transfers, of which events tell. */
export function createTransfersUnderWay(): TransfersUnderWay {
  const waiting = new Set<() => void>();
  let count = 0;

  function note(id: FileEvent["id"]): void {
    if (TRANSFER_BEGINS[id] !== undefined) count += 1;
    if (TRANSFER_ENDS[id] !== undefined) count -= 1;
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

  return { note, settled };
}
