import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { checkOption } from "../contracts/option-error.ts";

/** Returns the fields of a request that sign its body. */
export type SignWebhook = (id: string, time: Date, body: string) => readonly (readonly [name: string, value: string])[];

const MIN_BYTES = 24;
/** `whsec_` and a key in Base64. */
const SECRET = /^whsec_((?:[a-z\d+/]{4})*(?:[a-z\d+/]{2}==|[a-z\d+/]{3}=)?)$/i;

/**
 * Signs requests as Standard Webhooks does, with HMAC-SHA-256 of the identifier, the time in seconds and the body.
 * Without a secret there are no fields.
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
