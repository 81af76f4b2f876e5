import { decodeUtf8 } from "../platform/utf8.ts";

/** Memoized {@link mayHoldText}. Found when it is first needed: Node loads its fetch API, 2 MB, at the first use. */
let isDecoded: boolean | undefined;

/**
 * Whether this runtime decodes header fields as UTF-8, as workerd does. The Fetch Standard has one character per byte
 * instead (isomorphic decoding).
 */
function mayHoldText(): boolean {
  try {
    return new Headers([["x-text", "\u0100"]]).get("x-text") === "\u0100";
  } catch {
    return false;
  }
}

/** The text of a header field that is sent in UTF-8; `undefined` if it is not valid UTF-8. */
export function readFieldText(value: string): string | undefined {
  isDecoded ??= mayHoldText();
  if (isDecoded) return value.includes("\ufffd") ? undefined : value;
  return decodeUtf8(Uint8Array.from(value, (character) => character.charCodeAt(0)));
}
