import { decodeUtf8 } from "../../platform/utf8.ts";

/**
 * Parses JSON in UTF-8. Throws `SyntaxError` with the position and the reason, such as `line 3, column 5: ...`. The
 * message never quotes the text, which may be a password.
 */
export function parseJsonText(content: Uint8Array): unknown {
  const text = decodeUtf8(content, "remove");
  if (text === undefined) throw new SyntaxError("is not valid UTF-8");
  try {
    return JSON.parse(text);
  } catch (error) {
    const [reason = ""] = (error as Error).message.split(/, \.{0,3}"| (?:in|after) JSON at| \(line/, 1);
    throw new SyntaxError(`${describePosition(text, findFault(text))}: is not valid JSON: ${reason}`);
  }
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
