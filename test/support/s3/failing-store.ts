import type { StorageUploads, UploadKey } from "../../../src/contracts/storage-uploads.ts";
import type { S3Fetch } from "../../../src/storage/s3.ts";
import { amount } from "../trust.ts";
import { createFake, refusal, type S3Call, type S3Content } from "./fake.ts";
import { createUploadsInSmallParts } from "./small-parts.ts";

/** The number of bytes of a part. */
export const PART = 1000;

/** What becomes of a call: it never arrives, its answer is lost, or the store cannot do it now. */
export const FAILURES = ["refused", "lost answer", "503"] as const;
export type Failure = (typeof FAILURES)[number];

/** From which call on calls fail, and for how long. */
export interface Fault {
  readonly from: number;
  readonly lasts: "once" | "on";
  readonly failure: Failure;
}

/** A store with faults, and the uploads of a process that has them and of one that has none. */
export type FailingStore = ReturnType<typeof createFailingStore>;

/** Creates a {@link FailingStore}. `existing`: the content of another store, which is copied. */
export function createFailingStore(existing?: S3Content) {
  let fault: Fault | undefined;
  let calls = 0;

  function script(call: S3Call, _number: number, serve: () => Response): Response | undefined {
    calls += 1;
    const fails = fault !== undefined && (fault.lasts === "on" ? calls >= fault.from : calls === fault.from);
    if (!fails) return undefined;
    if (fault?.failure === "503") return refusal(503, "SlowDown", call.method);
    if (fault?.failure === "lost answer") serve();
    throw new TypeError("fetch failed");
  }

  const fake = createFake(script, {}, "kept", existing);
  const open = (fetch: S3Fetch, retries = 1) => createUploadsInSmallParts({ fetch, partBytes: PART, retries });

  /** Calls fail from now on; counts them from 1. */
  function strike(next: Fault | undefined): void {
    fault = next;
    calls = 0;
  }

  return { fake, strike, open, countCalls: () => calls, faulty: open(fake.fetch, 0), healthy: open(fake.fetch) };
}

const IS_SHORT = amount({ short: 1, ci: 2, long: 2 }) === 1;

/**
 * Yields the faults of `count` calls: each call fails once, and from it on all do. A short run has one of the two for a
 * call and a failure, and the other one for the next call, and for the next failure.
 */
export function* everyFault(count: number, failure: Failure): Generator<Fault> {
  for (let from = 1; from <= count; from += 1) {
    const isOn = (from + FAILURES.indexOf(failure)) % 2 === 1;
    if (!isOn || !IS_SHORT) yield { from, lasts: "once", failure };
    if (isOn || !IS_SHORT) yield { from, lasts: "on", failure };
  }
}

/** Appends a text in small chunks. Returns the offset after it. */
export async function append(uploads: StorageUploads, key: UploadKey, text: string, offset: number): Promise<number> {
  return (await uploads.append(key, offset, chunks(text))).offset;
}

/** Yields a text in small chunks. */
export async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.byteLength; at += 300) yield bytes.subarray(at, at + 300);
}

/** Whether a call resolves. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
