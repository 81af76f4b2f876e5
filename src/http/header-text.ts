import { Headers } from "../platform/fetch.ts";
import { decodeUtf8 } from "../platform/utf8.ts";
import { usesPonyfill } from "./source-response.ts";

/**
 * Whether this runtime decodes header fields as UTF-8, as workerd does. The Fetch Standard has one character per byte
 * instead (isomorphic decoding). The test does not work for the ponyfill, whose `Headers` take any text.
 */
const isDecoded = !usesPonyfill && mayHoldText();

function mayHoldText(): boolean {
  try {
    return new Headers([["x-text", "\u0100"]]).get("x-text") === "\u0100";
  } catch {
    return false;
  }
}

/** The text of a header field that is sent in UTF-8; `undefined` if it is not valid UTF-8. */
export function readFieldText(value: string): string | undefined {
  if (isDecoded) return value.includes("\ufffd") ? undefined : value;
  return decodeUtf8(Uint8Array.from(value, (character) => character.charCodeAt(0)));
}
