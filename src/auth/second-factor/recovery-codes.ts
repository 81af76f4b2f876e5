import { isSameText } from "../../platform/constant-time.ts";
import { sha256Hex } from "../../platform/sha256.ts";

const CODE_COUNT = 10;
/** 80 bits are too many to find one by its SHA-256. */
const CODE_LENGTH = 16;
/** 32 characters, of which none is easily taken for another (Crockford's Base32). */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Makes recovery codes, such as `7q2m-x0tf-9k4d-hz81`. They are secrets. */
export function createRecoveryCodes(): readonly string[] {
  return Array.from({ length: CODE_COUNT }, () => {
    const random = crypto.getRandomValues(new Uint8Array(CODE_LENGTH));
    const code = Array.from(random, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
    return code.replace(/(?<=^(?:.{4})+)(?=.)/g, "-");
  });
}

/** Returns the SHA-256 of a recovery code, which is kept. Upper case, hyphens and blanks make no difference. */
export function hashRecoveryCode(code: string): string {
  return sha256Hex(code.toLowerCase().replace(/[\s-]/g, ""));
}

/** Returns the digest of `known` that a code has; `undefined` for a wrong code. It compares with all of them. */
export function findRecoveryCode(code: string, known: readonly string[]): string | undefined {
  const sha256 = hashRecoveryCode(code);
  let found: string | undefined;
  for (const digest of known) if (isSameText(digest, sha256)) found = digest;
  return found;
}
