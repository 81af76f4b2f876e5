import { decodeUtf8 } from "./utf8.ts";

/** The first characters of a text, as a text of their own: V8 keeps a complete text in memory for a part of it. */
export function cutText(text: string, maxCharacters = text.length): string {
  return decodeUtf8(new TextEncoder().encode(text.slice(0, maxCharacters))) ?? "";
}
