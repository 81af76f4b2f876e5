/** Limits of {@link memoize}. */
export interface MemoizeLimits {
  /** Results for longer texts are computed each time. Default: 300. */
  readonly maxCharacters?: number;
  /** How many results are kept; the oldest one is dropped for a new one. Default: 500. */
  readonly maxResults?: number;
}

/**
 * Memoizes a function of a text, for example of header values, which clients repeat with every request. `undefined` is
 * computed each time.
 */
export function memoize<T>(
  compute: (text: string) => T,
  { maxCharacters = 300, maxResults = 500 }: MemoizeLimits = {},
): (text: string) => T {
  const results = new Map<string, T>();

  return function recall(text) {
    const known = results.get(text);
    if (known !== undefined || text.length > maxCharacters) return known ?? compute(text);
    const result = compute(text);
    results.set(text, result);
    if (results.size > maxResults) results.delete(results.keys().next().value as string);
    return result;
  };
}
