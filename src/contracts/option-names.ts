import leven from "leven";

/** The most letters that a mistyped name differs in. */
const MAX_TYPOS = 2;

/**
 * Checks that an object has no option of an unknown name. `path` is written before the name, such as `limits.`.
 * @throws TypeError with the name, and with the one that was probably meant.
 */
export function checkNames(value: object, names: readonly string[], path: string): void {
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const meant = findMeant(unknown, names);
  const hint = meant === undefined ? "" : ` Did you mean ${path}${meant}?`;
  throw new TypeError(`There is no option ${path}${unknown}.${hint}`);
}

function findMeant(mistyped: string, names: readonly string[]): string | undefined {
  const toDistance = (name: string) => leven(mistyped.toLowerCase(), name.toLowerCase());
  const [nearest] = names.toSorted((one, other) => toDistance(one) - toDistance(other));
  return nearest !== undefined && toDistance(nearest) <= MAX_TYPOS ? nearest : undefined;
}
