/** How many results are kept. The oldest one is dropped for a new one. */
const MAX_RESULTS = 500;

/**
 * Memoizes a function of a text, for example of header values, which clients repeat with every request. Results for
 * texts of more than `maxCharacters`, and `undefined`, are computed each time.
 */
export function memoize<T>(compute: (text: string) => T, maxCharacters: number = 300): (text: string) => T {
  const results = new Map<string, T>();

  return function recall(text) {
    const known = results.get(text);
    if (known !== undefined || text.length > maxCharacters) return known ?? compute(text);
    const result = compute(text);
    results.set(text, result);
    if (results.size > MAX_RESULTS) results.delete(results.keys().next().value as string);
    return result;
  };
}
