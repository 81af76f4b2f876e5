import { yieldToEventLoop } from "../platform/event-loop.ts";

/** Unsafe characters: separators, the `:` of Windows drives and streams, control characters, unpaired surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression must find them.
const UNSAFE = /[/\\:\u0000-\u001f\u007f-\u009f\p{Cs}]/gu;

const MAX_NAME_BYTES = 255;
/** How many names are processed before other requests can continue. */
const NAMES_PER_YIELD = 500;
const encoder = new TextEncoder();

/** Returns a name that unpacks inside its folder on every system (SECURITY 22). */
export function toSafeName(name: string): string {
  return name === "" || name === "." || name === ".." ? "_" : name.replace(UNSAFE, "_");
}

/**
 * Returns new names for those members of a folder whose names are unsafe in an archive, by their names. The new names
 * are unique in the folder: a member with a safe name keeps it, and the others get numbers in the order of `names`:
 * `a_b.txt`, `a_b (2).txt`.
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
  // An attacker can create thousands of members with the same safe name: without this count, quadratic time.
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

/**
 * Adds a number before the extension. Systems allow names of 255 bytes, so a long stem is cut. More than 60 characters
 * after the last dot are no extension.
 */
function withNumber(name: string, number: number): string {
  const [, stem = name, extension = ""] = /^(.+?)(\.[^.]{0,60})?$/su.exec(name) ?? [];
  const end = ` (${number})${extension}`;
  return cutToBytes(stem, MAX_NAME_BYTES - encoder.encode(end).byteLength) + end;
}

/** Cuts a text to at most `bytes` bytes of UTF-8, without splitting a character. */
function cutToBytes(text: string, bytes: number): string {
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(bytes)).read);
}
