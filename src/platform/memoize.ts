/** How many results are kept; beyond it the one computed longest ago goes. */
const MAX_RESULTS = 500;

/**
 * The same function of a text, its last results kept: for header values and the like, which clients repeat with every request. What is longer
 * than `maxCharacters` is computed each time.
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
