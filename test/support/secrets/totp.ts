import { createHash, createHmac } from "node:crypto";

/** `12345678901234567890`, the secret of the tables in RFC 6238 B, in Base32. */
export const TOTP_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

const KEY = Buffer.from("12345678901234567890");

/** The one-time password of {@link TOTP_SECRET} at a time, by the definition in RFC 4226 5.3. */
export function toOneTimePassword(milliseconds: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(milliseconds / 30_000)));
  const digest = createHmac("sha1", KEY).update(counter).digest();
  const offset = digest.readUInt8(19) & 0x0f;
  return String((digest.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, "0");
}

/** The digest of a recovery code, as accounts have it. */
export function toRecoveryDigest(code: string): string {
  return createHash("sha256").update(code.replaceAll("-", "")).digest("hex");
}
