import * as z from "zod";

/** 128 bits at least (RFC 4226 4, R6). */
const MIN_CHARACTERS = 26;
const MAX_CHARACTERS = 256;

/** The one-time passwords of an account. An unknown member is an error. Parsed values are `AccountTotp`. */
export const accountTotpSchema = z.strictObject({
  secret: z
    .string()
    .refine(
      isSecret,
      `must be Base32 in upper case without padding, of ${MIN_CHARACTERS} to ${MAX_CHARACTERS} characters`,
    ),
  recovery_codes: z
    .array(z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hexadecimal digits"))
    .readonly()
    .exactOptional(),
});

function isSecret(text: string): boolean {
  return /^[A-Z2-7]+$/.test(text) && text.length >= MIN_CHARACTERS && text.length <= MAX_CHARACTERS;
}
