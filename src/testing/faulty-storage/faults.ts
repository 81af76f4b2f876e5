import { checkOption } from "../../contracts/option-error.ts";
import { type StorageAdapter, StorageError, type StorageErrorCode } from "../../contracts/storage-adapter.ts";
import type { StorageAttributes } from "../../contracts/storage-attributes.ts";
import type { StorageUploads } from "../../contracts/storage-uploads.ts";

/** A method of the uploads of a storage, such as `uploads.append`. */
export type UploadVerb = `uploads.${keyof StorageUploads}`;

/** A method of a storage, of its attributes or of its uploads. */
export type StorageVerb =
  | Exclude<keyof StorageAdapter, "attributes" | "uploads">
  | keyof StorageAttributes
  | UploadVerb;

/** A step of a storage's work at which a fault may occur. */
export interface StorageStep {
  readonly verb: StorageVerb;
  /**
   * The path of the call; for a copy or a move, the source. For an upload that exists: its id; for a list of uploads:
   * the owner.
   */
  readonly path: string;
  /**
   * The step.
   *
   * `call`: nothing is done yet.
   * `chunk`: a chunk that is read or written, before it is passed on.
   * `entry`: an entry of a listing, before it is passed on.
   * `end`: the end of content or of a listing. Content that is written is not visible yet.
   * `response`: everything is done, but the caller does not know yet. A listing has no such step.
   */
  readonly step: "call" | "chunk" | "entry" | "end" | "response";
  /**
   * Number of the step, from 1. A `chunk` or an `entry` is counted within its call, other steps among all calls of the
   * method.
   */
  readonly count: number;
}

/** A fault at a step. */
export type StorageFault =
  /**
   * The step fails, by default with `unavailable`. At the `response` of a change this is a lost acknowledgement: the
   * change is done.
   */
  | { readonly fault: "error"; readonly error?: StorageErrorCode | Error }
  /** The step takes longer, unless the caller gives up. */
  | { readonly fault: "delay"; readonly milliseconds: number }
  /**
   * Nothing happens until the caller gives up, by its signal, by cancelling or by leaving. It also ends, with the
   * signal's reason, when `until` aborts.
   */
  | { readonly fault: "hang"; readonly until?: AbortSignal }
  /** A `chunk` arrives in pieces of at most this number of bytes. */
  | { readonly fault: "short"; readonly bytes: number }
  /** Content or a listing ends before this `chunk` or `entry`, as if it were complete. No correct storage does this. */
  | { readonly fault: "cut" };

/** Decides which fault occurs at a step. Returns `undefined` for none. */
export type DecideFault = (step: StorageStep) => StorageFault | undefined;

/** Asks for the fault of a step of one call. Without `count`, the number of the call counts. */
export type Ask = (step: StorageStep["step"], count?: number) => StorageFault | undefined;
/** The signals of callers who wait for something. */
export type Signals = readonly (AbortSignal | undefined)[];

/**
 * Returns the fault.
 * @throws TypeError if the step cannot have it.
 */
export function checkFault(step: StorageStep["step"], fault: StorageFault | undefined): StorageFault | undefined {
  const isShort = fault?.fault === "short";
  checkOption(!isShort || (typeof fault.bytes === "number" && fault.bytes >= 1), "bytes", "a number, 1 or more");
  const isFitting = isShort ? step === "chunk" : fault?.fault !== "cut" || step === "chunk" || step === "entry";
  if (!isFitting)
    throw new TypeError(`${JSON.stringify(fault?.fault)} is no fault of the step ${JSON.stringify(step)}.`);
  return fault;
}

/**
 * Applies a fault. Returns how many bytes may pass at a time after the step, 0 if content ends here. `ends`: the
 * signals of the waiting callers.
 */
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
  return typeof error === "string" ? new StorageError(error, "A fault that a test requested.") : error;
}

/** Waits until a signal aborts, or the time is over. Without a time, waits for ever. */
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

/** Ends the waiting of a caller who has left. */
export function leave(left: AbortController): void {
  left.abort(new StorageError("unavailable", "The operation was abandoned."));
}
