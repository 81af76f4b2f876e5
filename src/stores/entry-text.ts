/**
 * Returns the JSON text that a store keeps for a value.
 * @throws TypeError if the value is not a JSON value, or if the time to live is not positive.
 */
export function toEntryText(value: unknown, ttlMilliseconds: number): string {
  const json: string | undefined = JSON.stringify(value);
  if (json === undefined) throw new TypeError("The value is not a JSON value.");
  if (!(ttlMilliseconds > 0)) throw new TypeError("The time to live must be positive.");
  return json;
}

/** What a store compares and writes for a `replace`: JSON texts, as `set` writes them. */
export interface Replacement {
  readonly expected: string | undefined;
  readonly next: string | undefined;
}

/**
 * Returns the JSON texts for a `replace`. Equal texts have equal JSON texts, in which lone surrogates and U+0000 are
 * escaped, so every store can keep them.
 * @throws TypeError if one is not a text, or if the time to live of `next` is not positive.
 */
export function toReplacement(
  expected: string | undefined,
  next: string | undefined,
  ttlMilliseconds: number,
): Replacement {
  for (const text of [expected, next]) {
    if (text !== undefined && typeof text !== "string") throw new TypeError("Only a text can be replaced by another.");
  }
  return {
    expected: expected === undefined ? undefined : JSON.stringify(expected),
    next: next === undefined ? undefined : toEntryText(next, ttlMilliseconds),
  };
}
