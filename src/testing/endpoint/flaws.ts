/** Texts that are nearly right: what a sloppy comparison takes for the right one. By characters, never half of one. */

export function cutLast(text: string): string {
  return Array.from(text).slice(0, -1).join("");
}

export function changeLast(text: string): string {
  return `${cutLast(text)}${text.endsWith("x") ? "y" : "x"}`;
}

/** Of the letters of ASCII; the same text where there are none. */
export function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const upper = letter.toUpperCase();
    return letter === upper ? letter.toLowerCase() : upper;
  });
}
