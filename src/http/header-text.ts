import { Headers } from "../platform/fetch.ts";
import { decodeUtf8 } from "../platform/utf8.ts";
import { usesPonyfill } from "./source-response.ts";

/**
 * Whether this runtime hands fields over as the text that they are in UTF-8, as workerd does, in place of their bytes (the Fetch Standard's isomorphic decoding). The light
 * `Headers` take whatever they are given.
 */
const isDecoded = !usesPonyfill && mayHoldText();

function mayHoldText(): boolean {
  try {
    return new Headers([["x-text", "\u0100"]]).get("x-text") === "\u0100";
  } catch {
    return false;
  }
}

/** The text of a field that is UTF-8 on the wire; `undefined` where it is not. */
export function readFieldText(value: string): string | undefined {
  if (isDecoded) return value.includes("\ufffd") ? undefined : value;
  return decodeUtf8(Uint8Array.from(value, (character) => character.charCodeAt(0)));
}
