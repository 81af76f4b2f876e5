/** What a search has found in a chunk, from where it was told to begin. */
export interface SearchResult {
  /** So many first bytes of the delimiter, held back at the end of former chunks, have turned out to be content. */
  readonly released: number;
  /** Where the content in this chunk ends. */
  readonly end: number;
  /** Where the chunk goes on behind the delimiter; `undefined` when it is not in it. */
  readonly resume: number | undefined;
}

/** Searches one chunk after the other; a delimiter may lie across any number of them. */
export type DelimiterSearch = (chunk: Uint8Array, start: number) => SearchResult;

const CR = 0x0d;

/**
 * Makes the search for a delimiter: CR and at most 254 further bytes, no CR among them. Each byte is compared a bounded number of times,
 * whatever the content and however it is cut into chunks (SECURITY 12): it is Horspool's search, which can go on behind a partial match, because
 * no other one can begin inside it; and what is held back of a chunk is a number, never a copy. `held` first bytes of the delimiter count as met at the outset.
 */
export function createDelimiterSearch(delimiter: Uint8Array, held: number): DelimiterSearch {
  const length = delimiter.byteLength;
  const last = length - 1;
  const lastByte = delimiter[last];
  const shifts = new Uint8Array(256).fill(length);
  for (const [index, byte] of delimiter.subarray(0, last).entries()) shifts[byte] = last - index;
  let matched = held;

  return function search(chunk, start) {
    let from = start;
    let released = 0;
    if (matched > 0) {
      const before = matched;
      from = resumeMatch(chunk, start);
      if (matched === length) {
        matched = 0;
        return { released, end: start, resume: from };
      }
      if (from === chunk.byteLength) return { released, end: start, resume: undefined };
      released = before;
      matched = 0;
    }
    const found = find(chunk, from);
    if (found !== undefined) return { released, end: found, resume: found + length };
    const end = findPartial(chunk, from);
    matched = chunk.byteLength - end;
    return { released, end, resume: undefined };
  };

  /** Goes on with a match from former chunks; where it stops. */
  function resumeMatch(chunk: Uint8Array, start: number): number {
    let at = start;
    while (matched < length && chunk[at] === delimiter[matched]) {
      at++;
      matched++;
    }
    return at;
  }

  function find(chunk: Uint8Array, from: number): number | undefined {
    const end = chunk.byteLength - length;
    for (let at = from; at <= end; ) {
      const byte = chunk[at + last] as number;
      let shift = shifts[byte] as number;
      if (byte === lastByte && chunk[at] === CR) {
        const same = countSame(chunk, at);
        if (same === length) return at;
        shift = Math.max(shift, same);
      }
      at += shift;
    }
    return undefined;
  }

  function countSame(chunk: Uint8Array, at: number): number {
    let same = 1;
    while (same < length && chunk[at + same] === delimiter[same]) same++;
    return same;
  }

  /** Where the delimiter may have begun at the end of a chunk: at its last CR or not at all. */
  function findPartial(chunk: Uint8Array, from: number): number {
    const first = Math.max(from, chunk.byteLength - last);
    let at = chunk.byteLength - 1;
    while (at >= first && chunk[at] !== CR) at--;
    const isPartial = at >= first && at + countSame(chunk, at) === chunk.byteLength;
    return isPartial ? at : chunk.byteLength;
  }
}
