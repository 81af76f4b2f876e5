import { decodeUtf8 } from "./utf8.ts";

/**
 * Parses JSON in UTF-8. Throws `SyntaxError` with the position and the reason, such as `line 3, column 5: ...`, also
 * for a key that an object has twice. The message never quotes the text, which may be a password.
 */
export function parseJsonText(content: Uint8Array): unknown {
  const text = decodeUtf8(content, "remove");
  if (text === undefined) throw new SyntaxError("is not valid UTF-8");
  const parsed = parse(text);
  const repeated = findRepeatedKey(text);
  if (repeated !== undefined) throw new SyntaxError(`${describePosition(text, repeated)}: is the same key again`);
  return parsed;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const [reason = ""] = (error as Error).message.split(/, \.{0,3}"| (?:in|after) JSON at| \(line/, 1);
    throw new SyntaxError(`${describePosition(text, findFault(text))}: is not valid JSON: ${reason}`);
  }
}

/**
 * Finds a key that an object of valid JSON has twice, as an index. `JSON.parse` would leave the first one out, which
 * may be the one that forbids something.
 */
function findRepeatedKey(text: string): number | undefined {
  /** The keys of the objects around; an array has none. */
  const around: Set<string>[] = [];
  for (const { 0: token, 1: key, index } of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (token === "{" || token === "[") around.push(new Set());
    if (token === "}" || token === "]") around.pop();
    if (key === undefined) continue;
    const name: string = JSON.parse(key);
    if (around.at(-1)?.has(name)) return index;
    around.at(-1)?.add(name);
  }
  return undefined;
}

/**
 * Finds the index of the error in invalid JSON, which not every engine reports. It follows the longest beginning that
 * more text could complete. A bisection finds it: if a beginning cannot be completed, no longer one can.
 */
function findFault(text: string): number {
  let viable = 0;
  let hopeless = text.length + 1;
  while (hopeless - viable > 1) {
    const middle = Math.floor((viable + hopeless) / 2);
    if (canContinue(text.slice(0, middle))) viable = middle;
    else hopeless = middle;
  }
  return viable;
}

/** Whether a text is valid JSON, or only incomplete. */
function canContinue(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return true;
  } catch (error) {
    const { message } = error as Error;
    const position = / at position (\d+)/.exec(message)?.[1];
    return message.startsWith("Unexpected end") || Number(position) >= beginning.length;
  }
}

function describePosition(text: string, index: number): string {
  const lines = text.slice(0, index).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}
