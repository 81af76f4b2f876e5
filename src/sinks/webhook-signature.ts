import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { checkOption } from "../contracts/option-error.ts";

/** Returns the headers that sign a request. */
export type SignWebhook = (id: string, time: Date, body: string) => readonly (readonly [name: string, value: string])[];

const MIN_BYTES = 24;
/** `whsec_` and a key in Base64. */
const SECRET = /^whsec_((?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?)$/;

/**
 * Signs requests as Standard Webhooks does, with HMAC-SHA-256 of the identifier, the time in seconds and the body.
 * Without a secret there are no headers.
 * @throws OptionError
 */
export function createWebhookSigner(secret: string | undefined): SignWebhook {
  if (secret === undefined) return () => [];
  const [, base64 = ""] = (typeof secret === "string" && SECRET.exec(secret)) || [];
  const key = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  checkOption(key.length >= MIN_BYTES, "secret", "whsec_ and 24 bytes or more in Base64");
  return (id, time, body) => {
    const seconds = String(Math.floor(time.getTime() / 1000));
    const mac = hmac(sha256, key, new TextEncoder().encode(`${id}.${seconds}.${body}`));
    return [
      ["webhook-id", id],
      ["webhook-timestamp", seconds],
      ["webhook-signature", `v1,${btoa(String.fromCharCode(...mac))}`],
    ];
  };
}
