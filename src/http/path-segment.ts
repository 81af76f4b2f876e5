/**
 * Decodes one raw segment of a URL's path, once and strictly; `undefined` for a bad percent-encoding, invalid UTF-8,
 * or raw text beyond printable ASCII.
 */
export function decodeSegment(raw: string): string | undefined {
  if (!/^[!-~]*$/.test(raw)) return undefined;
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

/** Whether a text may name a member of a folder (CONTRACT 2.1, 2.2). */
export function isMemberName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return name !== "" && name !== "." && name !== ".." && !/[/\\\u0000-\u001f\u007f-\u009f\p{Cs}]/u.test(name);
}
