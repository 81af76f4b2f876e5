/**
 * A text without the optional whitespace around it: only spaces and tabs (RFC 9110 5.6.3). `trim` also removes
 * characters that belong to a value, such as the no-break space and the byte order mark.
 */
export function trimOptionalWhitespace(text: string): string {
  // A regular expression for the end would take quadratic time for blanks inside the text.
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text, start)) start++;
  while (end > start && isBlank(text, end - 1)) end--;
  return text.slice(start, end);
}

function isBlank(text: string, index: number): boolean {
  return text[index] === " " || text[index] === "\t";
}
