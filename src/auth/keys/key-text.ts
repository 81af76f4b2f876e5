import { randomHex } from "../../platform/random-hex.ts";

/** 128 bits each are more than anyone can guess; the ID only has to be another one for each key. */
const ID_BYTES = 8;
const SECRET_BYTES = 16;

const KEY_TEXT = /^ff_([0-9a-f]{16})_[0-9a-f]{32}$/;

/** The ID in the text of an API key; `undefined` for other texts, such as passwords. */
export function toKeyId(text: string): string | undefined {
  // Most passwords end here.
  return text.startsWith("ff_") ? KEY_TEXT.exec(text)?.[1] : undefined;
}

/** Makes the text of a new API key, which is a secret, and its ID, which is none. */
export function createKeyText(): { readonly id: string; readonly text: string } {
  const id = randomHex(ID_BYTES);
  return { id, text: `ff_${id}_${randomHex(SECRET_BYTES)}` };
}
