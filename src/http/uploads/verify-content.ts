import { type Steps, watchSteps } from "../../contracts/watch-steps.ts";
import { createIncrementalDigest } from "../../platform/incremental-digest.ts";
import type { HttpError } from "../http-error.ts";
import type { ExpectedDigest } from "./demand.ts";

/** Content whose digests are verified after its last byte. */
export interface VerifiedContent {
  /** The same content. */
  readonly content: Steps<Uint8Array>;
  /**
   * Verifies what was read of the content. Call it once, after the last byte.
   * @throws the error for a mismatch.
   */
  verify(): Promise<void>;
}

/** Digests content while it is read. `toMismatch` makes the error for content with another digest. */
export function verifyContent(
  content: AsyncIterable<Uint8Array>,
  expected: readonly ExpectedDigest[],
  toMismatch: () => HttpError,
): VerifiedContent {
  const running = expected.map(({ algorithm, bytes }) => ({ bytes, digest: createIncrementalDigest(algorithm) }));

  return {
    content: watchSteps(() => content, {
      onStep(chunk) {
        for (const { digest } of running) digest?.update(chunk);
      },
    }),
    async verify() {
      for (const { bytes, digest } of running) {
        if (!isSame(bytes, await digest?.digest())) throw toMismatch();
      }
    },
  };
}

function isSame(expected: Uint8Array, found: Uint8Array | undefined): boolean {
  return found?.byteLength === expected.byteLength && expected.every((byte, index) => byte === found[index]);
}
