import type { Steps } from "../../contracts/watch-steps.ts";

/** Reads content in pieces whose length the caller chooses. */
export interface ContentReader {
  /** Whether there are more bytes. Waits until it is known. */
  hasMore(): Promise<boolean>;
  /** Returns some of the next bytes, at most `most`. They are valid until the next call of `hasMore`. */
  take(most: number): Uint8Array;
  /** Number of bytes that were taken. */
  position(): number;
  close(): Promise<void>;
}

/** Creates a reader of content. */
export function createContentReader(chunks: Steps<Uint8Array>): ContentReader {
  let rest: Uint8Array = new Uint8Array(0);
  let taken = 0;

  async function hasMore(): Promise<boolean> {
    while (rest.byteLength === 0) {
      const step = await chunks.next();
      if (step.done === true) return false;
      rest = step.value;
    }
    return true;
  }

  function take(most: number): Uint8Array {
    const bytes = rest.subarray(0, most);
    rest = rest.subarray(bytes.byteLength);
    taken += bytes.byteLength;
    return bytes;
  }

  async function close(): Promise<void> {
    await chunks.return();
  }

  return { hasMore, take, position: () => taken, close };
}
