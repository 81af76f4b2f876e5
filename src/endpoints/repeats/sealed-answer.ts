import { fromCanonicalBase64 } from "../../platform/text-encoding.ts";

const IV_BYTES = 12;

/**
 * Encrypts an answer with a key that only who has sent the request can know: an answer may have the URL of a link.
 * `secret` is used for one answer alone.
 */
export async function sealAnswer(secret: string, answer: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const key = await toKey(secret, "encrypt");
  const sealed = new Uint8Array(
    await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new TextEncoder().encode(answer)),
  );
  return `${toBase64(iv)}.${toBase64(sealed)}`;
}

/** Decrypts an answer; `undefined` for a text that was not made with this secret. */
export async function openAnswer(secret: string, text: string): Promise<string | undefined> {
  const [iv, sealed] = text.split(".").map(fromCanonicalBase64);
  if (iv?.byteLength !== IV_BYTES || sealed === undefined) return undefined;
  try {
    const key = await toKey(secret, "decrypt");
    return new TextDecoder().decode(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, sealed));
  } catch {
    return undefined;
  }
}

async function toKey(secret: string, usage: "encrypt" | "decrypt"): Promise<CryptoKey> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, [usage]);
}

/** In parts: the number of arguments of a function is limited. */
function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.byteLength; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(text);
}
