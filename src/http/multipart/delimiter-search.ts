/** The result of a search in one chunk, from its start index on. */
export interface SearchResult {
  /** Bytes that were held back at the end of previous chunks and are content after all. */
  readonly released: Uint8Array;
  /** The index at which the content in this chunk ends. */
  readonly end: number;
  /** The index after the delimiter in this chunk; `undefined` if the delimiter does not end in it. */
  readonly resume: number | undefined;
}

/** Searches chunk after chunk. A delimiter may be split across any number of chunks. */
export type DelimiterSearch = (chunk: Uint8Array, start: number) => SearchResult;

const CR = 0x0d;
const NOTHING = new Uint8Array(0);

/**
 * Creates a search for a delimiter, which is CR and at most 254 further bytes without a CR.
 *
 * Each byte is compared a bounded number of times, for any content and any chunks (SECURITY 12). This is Horspool's
 * search. It can continue after a partial match, because no other match can begin inside one. Bytes that are held back
 * are only counted, and copied only if they are content.
 *
 * At the start and after each delimiter, the first `given` bytes of the next delimiter count as found. They are never
 * content.
 */
export function createDelimiterSearch(delimiter: Uint8Array, given: number): DelimiterSearch {
  const length = delimiter.byteLength;
  const last = length - 1;
  const lastByte = delimiter[last];
  const shifts = new Uint8Array(256).fill(length);
  for (const [index, byte] of delimiter.subarray(0, last).entries()) shifts[byte] = last - index;
  let matched = given;
  /** The number of matched bytes that are not content, even if the match fails. */
  let excluded = given;

  return function search(chunk, start) {
    let from = start;
    let released = NOTHING;
    if (matched > 0) {
      const before = matched;
      from = resumeMatch(chunk, start);
      if (matched === length) {
        matched = excluded = given;
        return { released, end: start, resume: from };
      }
      if (from === chunk.byteLength) return { released, end: start, resume: undefined };
      if (before > excluded) released = delimiter.slice(excluded, before);
      matched = excluded = 0;
    }
    const found = find(chunk, from);
    if (found !== undefined) {
      matched = excluded = given;
      return { released, end: found, resume: found + length };
    }
    const end = findPartial(chunk, from);
    matched = chunk.byteLength - end;
    return { released, end, resume: undefined };
  };

  /** Continues a match from previous chunks, and returns the index at which it stops. */
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

  /** The index at which the delimiter may begin at the end of a chunk. Only its last CR is possible. */
  function findPartial(chunk: Uint8Array, from: number): number {
    const first = Math.max(from, chunk.byteLength - last);
    let at = chunk.byteLength - 1;
    while (at >= first && chunk[at] !== CR) at--;
    const isPartial = at >= first && at + countSame(chunk, at) === chunk.byteLength;
    return isPartial ? at : chunk.byteLength;
  }
}
