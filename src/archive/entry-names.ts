/** What may not stand in a name: separators, what Windows takes for a drive or a stream, control characters, halves of surrogate pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSAFE = /[/\\:\u0000-\u001f\u007f-\u009f\p{Cs}]/gu;

const MAX_NAME_BYTES = 255;

/** A name as one segment of a name in an archive, that unpacks inside its folder on every system (SECURITY 22). */
export function toSafeName(name: string): string {
  return name === "" || name === "." || name === ".." ? "_" : name.replace(UNSAFE, "_");
}

/**
 * How the members of one folder are called in an archive: only those that cannot keep their names, by these. Of several that would be called
 * the same, one that keeps its name has it, and the others get numbers in the order given: `a_b.txt`, `a_b (2).txt`.
 */
export function renameMembers(names: readonly string[]): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>();
  const unsafe = names.filter((name) => toSafeName(name) !== name);
  if (unsafe.length === 0) return renamed;

  const isUnsafe = new Set(unsafe);
  const taken = new Set(names.filter((name) => !isUnsafe.has(name)));
  // How far a name has been counted: thousands that would be called the same take no longer for it.
  const counts = new Map<string, number>();
  for (const name of unsafe) {
    const safe = toSafeName(name);
    let count = counts.get(safe) ?? 1;
    let unique = count === 1 ? safe : withNumber(safe, count);
    while (taken.has(unique)) unique = withNumber(safe, ++count);
    counts.set(safe, count);
    taken.add(unique);
    renamed.set(name, unique);
  }
  return renamed;
}

/** Systems keep 255 bytes of a name: the stem makes room for the number. */
function withNumber(name: string, number: number): string {
  const [, stem = name, extension = ""] = /^(.+?)(\.[^.]*)?$/su.exec(name) ?? [];
  const end = ` (${number})${extension}`;
  const characters = [...stem];
  while (characters.length > 1 && toByteLength(characters.join("") + end) > MAX_NAME_BYTES) characters.pop();
  return characters.join("") + end;
}

function toByteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
