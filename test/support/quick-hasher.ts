import { createHash } from "node:crypto";
import type { PasswordHasher } from "../../src/auth/passwords/hash.ts";

/** PHC strings of the right shape that cost nothing: for tests of what is done with them. */
export const quickHasher: PasswordHasher = {
  hash: async (password) => toPhc(password),
  verify: async (password, phc) => phc === toPhc(password),
};

function toPhc(password: string): string {
  const hash = createHash("sha256").update(password).digest("base64").replaceAll("=", "");
  return `$scrypt$ln=13,r=8,p=10$AAAAAAAAAAAAAAAAAAAAAA$${hash}`;
}
