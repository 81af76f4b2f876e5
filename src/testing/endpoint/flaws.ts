/**
 * Texts that are nearly right, which careless comparisons accept. They count characters, so that no surrogate pair is
 * cut.
 */

export function cutLast(text: string): string {
  return Array.from(text).slice(0, -1).join("");
}

export function changeLast(text: string): string {
  return `${cutLast(text)}${text.endsWith("x") ? "y" : "x"}`;
}

/** Swaps the case of ASCII letters. Returns the same text if there are none. */
export function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const upper = letter.toUpperCase();
    return letter === upper ? letter.toLowerCase() : upper;
  });
}
