import { checkOption } from "../../contracts/option-error.ts";
import { type StorageAdapter, StorageError, type StorageErrorCode } from "../../contracts/storage-adapter.ts";

/** A step of a storage's work, at which something may go wrong. */
export interface StorageStep {
  readonly verb: keyof StorageAdapter;
  readonly path: string;
  /**
   * `call`: nothing is done yet. `chunk`: one of content that is read or written, before it is passed on. `entry`: one of a listing, likewise.
   * `end`: that of content or of a listing; of content that is written nothing can be seen yet. `answer`: all is done, and the caller has not been told; a
   * listing has none.
   */
  readonly step: "call" | "chunk" | "entry" | "end" | "answer";
  /** From 1: of a `chunk` or an `entry` within its call, of the others among all calls of the verb. */
  readonly count: number;
}

/** What goes wrong at a step. */
export type StorageFault =
  /** It fails, by default with `unavailable`. At the `answer` of a change that is an acknowledgement lost: the change is done. */
  | { readonly fault: "error"; readonly error?: StorageErrorCode | Error }
  /** It takes longer, unless the caller gives up. */
  | { readonly fault: "delay"; readonly milliseconds: number }
  /** Nothing more comes until the caller gives up, by its signal, by cancelling or leaving; or until another signal aborts, whose reason it fails with. */
  | { readonly fault: "hang"; readonly until?: AbortSignal }
  /** A `chunk` comes in pieces of at most so many bytes. */
  | { readonly fault: "short"; readonly bytes: number }
  /** Content or listing ends in front of this `chunk` or `entry`, as if it were whole: what no storage may do. */
  | { readonly fault: "cut" };

/** Decides what goes wrong at a step: `undefined` for nothing. */
export type DecideFault = (step: StorageStep) => StorageFault | undefined;

/** Asks for the fault of a step of one call; without a count for that of the call. */
export type Ask = (step: StorageStep["step"], count?: number) => StorageFault | undefined;
/** The signals of those who wait for something. */
export type Signals = readonly (AbortSignal | undefined)[];

/** The same fault. @throws TypeError for one that the step cannot have. */
export function checkFault(step: StorageStep["step"], fault: StorageFault | undefined): StorageFault | undefined {
  const isShort = fault?.fault === "short";
  checkOption(!isShort || fault.bytes >= 1, "bytes", "1 or more");
  const isFitting = isShort ? step === "chunk" : fault?.fault !== "cut" || step === "chunk" || step === "entry";
  if (!isFitting)
    throw new TypeError(`${JSON.stringify(fault?.fault)} is no fault of the step ${JSON.stringify(step)}.`);
  return fault;
}

/** How many bytes may pass at once behind a step: 0 where there is nothing more. `ends` are the signals of who waits for it. */
export async function applyFault(fault: StorageFault | undefined, ends: Signals = []): Promise<number> {
  switch (fault?.fault) {
    case "error":
      throw toError(fault.error);
    case "delay":
      await wait(ends, fault.milliseconds);
      break;
    case "hang":
      throw (await wait([...ends, fault.until]))?.reason;
    case "short":
      return Math.trunc(fault.bytes);
    case "cut":
      return 0;
  }
  return Number.POSITIVE_INFINITY;
}

function toError(error: StorageErrorCode | Error = "unavailable"): Error {
  return typeof error === "string" ? new StorageError(error, "A fault that a test asked for.") : error;
}

/** For ever, without a time; the first signal that aborts ends it. */
function wait(ends: Signals, milliseconds?: number): Promise<AbortSignal | undefined> {
  return new Promise((resolve) => {
    const timer = milliseconds === undefined ? undefined : setTimeout(end, milliseconds);

    function end(): void {
      clearTimeout(timer);
      for (const signal of ends) signal?.removeEventListener("abort", end);
      resolve(ends.find((signal) => signal?.aborted));
    }

    for (const signal of ends) signal?.addEventListener("abort", end);
    if (ends.some((signal) => signal?.aborted)) end();
  });
}

/** Ends what is waited for on behalf of somebody who has left. */
export function leave(left: AbortController): void {
  left.abort(new StorageError("unavailable", "Nobody waits for it any more."));
}
