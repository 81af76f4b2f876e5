/** Limits of {@link memoize}. */
export interface MemoizeLimits {
  /** Results for longer texts are computed each time. Default: 300. */
  readonly maxCharacters?: number;
  /** How many results are kept at most; at least the last half of them. Default: 500. */
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
  // Two generations, because removing the oldest entries of a map one by one is slow.
  let older = new Map<string, T>();
  let newer = new Map<string, T>();

  function keep(text: string, result: T): void {
    if (2 * newer.size >= maxResults) [older, newer] = [newer, new Map()];
    newer.set(text, result);
  }

  return function recall(text) {
    const recent = newer.get(text);
    if (recent !== undefined) return recent;
    if (text.length > maxCharacters) return compute(text);
    const result = older.get(text) ?? compute(text);
    keep(text, result);
    return result;
  };
}
