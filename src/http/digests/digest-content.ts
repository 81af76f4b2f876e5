import { type Steps, watchSteps } from "../../contracts/watch-steps.ts";
import { createIncrementalDigest, type DigestAlgorithm } from "../../platform/incremental-digest.ts";
import { createError } from "../errors.ts";
import type { HttpError } from "../http-error.ts";
import type { ExpectedDigest } from "./digest-headers.ts";

/** Content that is digested while it is read. */
export interface DigestedContent {
  /** The same content. */
  readonly content: Steps<Uint8Array>;
  /**
   * Returns the digests of what was read of the content, by the algorithms that this runtime has. Call it after the
   * last byte.
   */
  digests(): Promise<ReadonlyMap<DigestAlgorithm, Uint8Array>>;
}

/**
 * Digests content while it is read. `onEnd` is called after the last byte: the reader gets the end when its promise is
 * fulfilled.
 */
export function digestContent(
  content: AsyncIterable<Uint8Array>,
  algorithms: Iterable<DigestAlgorithm>,
  onEnd?: () => Promise<void>,
): DigestedContent {
  const running = [...new Set(algorithms)].flatMap((algorithm) => {
    const digest = createIncrementalDigest(algorithm);
    return digest === undefined ? [] : [{ algorithm, digest }];
  });
  let result: Promise<ReadonlyMap<DigestAlgorithm, Uint8Array>> | undefined;

  async function finish(): Promise<ReadonlyMap<DigestAlgorithm, Uint8Array>> {
    const found = new Map<DigestAlgorithm, Uint8Array>();
    for (const { algorithm, digest } of running) found.set(algorithm, await digest.digest());
    return found;
  }

  return {
    content: watchSteps(() => content, {
      onStep(chunk) {
        for (const { digest } of running) digest.update(chunk);
      },
      ...(onEnd && { onEnd }),
    }),
    digests() {
      result ??= finish();
      return result;
    },
  };
}

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
  const digested = digestContent(content, toAlgorithms(expected));

  return {
    content: digested.content,
    async verify() {
      requireDigests(await digested.digests(), expected, toMismatch);
    },
  };
}

/**
 * Digests content while it is read, by the algorithms of `expected` and by `wanted`. The content fails at its end with
 * HttpError `malformed` if it has another digest than an expected one.
 */
export function digestExpected(
  content: AsyncIterable<Uint8Array>,
  expected: readonly ExpectedDigest[],
  wanted: readonly DigestAlgorithm[] = [],
): DigestedContent {
  const digested = digestContent(content, [...toAlgorithms(expected), ...wanted], async () => {
    const toMismatch = (): HttpError => createError("upload-digest-mismatch");
    requireDigests(await digested.digests(), expected, toMismatch);
  });
  return digested;
}

function toAlgorithms(expected: readonly ExpectedDigest[]): readonly DigestAlgorithm[] {
  return expected.map(({ algorithm }) => algorithm);
}

function requireDigests(
  found: ReadonlyMap<DigestAlgorithm, Uint8Array>,
  expected: readonly ExpectedDigest[],
  toMismatch: () => HttpError,
): void {
  if (!expected.every(({ algorithm, bytes }) => isSame(bytes, found.get(algorithm)))) throw toMismatch();
}

function isSame(expected: Uint8Array, found: Uint8Array | undefined): boolean {
  return found?.byteLength === expected.byteLength && expected.every((byte, index) => byte === found[index]);
}
