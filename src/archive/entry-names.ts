import { yieldToEventLoop } from "../platform/event-loop.ts";

/** What may not stand in a name: separators, what Windows takes for a drive or a stream, control characters, halves of surrogate pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSAFE = /[/\\:\u0000-\u001f\u007f-\u009f\p{Cs}]/gu;

const MAX_NAME_BYTES = 255;
/** So many names are looked at before others have their turn. */
const NAMES_PER_YIELD = 500;
const encoder = new TextEncoder();

/** A name as one segment of a name in an archive, that unpacks inside its folder on every system (SECURITY 22). */
export function toSafeName(name: string): string {
  return name === "" || name === "." || name === ".." ? "_" : name.replace(UNSAFE, "_");
}

/**
 * How the members of one folder are called in an archive: only those that cannot keep their names, by these. Of several that would be called
 * the same, one that keeps its name has it, and the others get numbers in the order given: `a_b.txt`, `a_b (2).txt`.
 */
export async function renameMembers(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const renamed = new Map<string, string>();
  const unsafe: string[] = [];
  let steps = 0;
  for (const name of names) {
    if (toSafeName(name) !== name) unsafe.push(name);
    if (++steps % NAMES_PER_YIELD === 0) await yieldToEventLoop();
  }
  if (unsafe.length === 0) return renamed;

  const isUnsafe = new Set(unsafe);
  const taken = new Set(names.filter((name) => !isUnsafe.has(name)));
  // How far a name has been counted: thousands that would be called the same take no longer for it.
  const counts = new Map<string, number>();
  for (const name of unsafe) {
    const safe = toSafeName(name);
    let count = counts.get(safe) ?? 1;
    let unique = count === 1 ? safe : withNumber(safe, count);
    while (taken.has(unique)) {
      unique = withNumber(safe, ++count);
      if (++steps % NAMES_PER_YIELD === 0) await yieldToEventLoop();
    }
    counts.set(safe, count);
    taken.add(unique);
    renamed.set(name, unique);
    if (++steps % NAMES_PER_YIELD === 0) await yieldToEventLoop();
  }
  return renamed;
}

/** Systems keep 255 bytes of a name: the stem makes room for the number. What is long behind the last dot is no extension. */
function withNumber(name: string, number: number): string {
  const [, stem = name, extension = ""] = /^(.+?)(\.[^.]{0,60})?$/su.exec(name) ?? [];
  const end = ` (${number})${extension}`;
  return cutToBytes(stem, MAX_NAME_BYTES - encoder.encode(end).byteLength) + end;
}

/** As many whole characters of a text as so many bytes hold. */
function cutToBytes(text: string, bytes: number): string {
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(bytes)).read);
}
