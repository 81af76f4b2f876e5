/**
 * Compares two names by their code points, which is the order of their UTF-8 bytes, and of the keys in a bucket. `<`
 * compares UTF-16, in which the characters from U+E000 to U+FFFF come after those of a higher plane.
 */
export function compareNames(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const [left, right] = [one.charCodeAt(index), other.charCodeAt(index)];
    if (left !== right) return toRank(left) - toRank(right);
  }
  return one.length - other.length;
}

/** Puts surrogates, which are parts of the characters of higher planes, after all other code units. */
function toRank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
