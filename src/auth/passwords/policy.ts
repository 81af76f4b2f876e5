import type { CharacterClass, PasswordPolicy } from "../../contracts/password-policy.ts";
import { createError, type ErrorCode } from "../../http/errors.ts";
import type { HttpError } from "../../http/http-error.ts";
import { maxPasswordBytes } from "./hash.ts";

/** A password change that a policy checks. */
export interface NewPassword {
  readonly username: string;
  /** The account's e-mail addresses, comma-separated. */
  readonly email?: string;
  readonly currentPassword: string;
  readonly newPassword: string;
}

const CLASSES: Readonly<Record<CharacterClass, RegExp>> = {
  lowercase: /\p{Ll}/u,
  uppercase: /\p{Lu}/u,
  digit: /\p{Nd}/u,
  symbol: /[^\p{Ll}\p{Lu}\p{Nd}]/u,
};

const ESTIMATED_CHARACTERS = 100;
/** Shorter user names may be part of a password. */
const MIN_NAME_LENGTH = 3;

/** Returns the errors of all rules that a new password may break, so that a page can list the rules. */
export function listPolicyRules(policy: PasswordPolicy): readonly HttpError[] {
  const { minLength = 12, maxLength, requireClasses = [], allowUserName = false, estimate } = policy;
  const codes: readonly (ErrorCode | false)[] = [
    "password-too-short",
    maxLength !== undefined && "password-too-long",
    ...requireClasses.map((name) => `password-needs-${name}` as const),
    !allowUserName && "password-contains-name",
    "password-unchanged",
    estimate !== undefined && "password-guessable",
  ];
  const values = { min: minLength, max: maxLength ?? maxPasswordBytes };
  return codes.flatMap((code) => (code === false ? [] : [createError(code, { values })]));
}

/** Returns one error for each rule that a new password breaks. No error has the password. */
export async function findPolicyProblems(policy: PasswordPolicy, request: NewPassword): Promise<readonly HttpError[]> {
  const { newPassword, currentPassword } = request;
  const { minLength = 12, maxLength = maxPasswordBytes, requireClasses = [], allowUserName = false } = policy;
  // Checked first, so that very long passwords are not counted character by character.
  if (newPassword.length > maxPasswordBytes || byteLength(newPassword) > maxPasswordBytes) {
    return [createError("password-too-many-bytes", { values: { max: maxPasswordBytes } })];
  }
  const length = [...newPassword].length;
  const values = { min: minLength, max: maxLength };
  const rules: readonly (readonly [isBroken: boolean, code: ErrorCode])[] = [
    [length < minLength, "password-too-short"],
    [length > maxLength, "password-too-long"],
    [/[\p{Cc}\p{Cs}]/u.test(newPassword), "password-has-control-characters"],
    ...requireClasses.map((name) => [!CLASSES[name].test(newPassword), `password-needs-${name}`] as const),
    [!allowUserName && holdsName(newPassword, request.username), "password-contains-name"],
    [newPassword === currentPassword, "password-unchanged"],
    [await isWeak(policy, request), "password-guessable"],
  ];
  return rules.flatMap(([isBroken, code]) => (isBroken ? [createError(code, { values })] : []));
}

function holdsName(password: string, username: string): boolean {
  const [text, name] = [password.toLowerCase(), username.toLowerCase()];
  return [...name].length < MIN_NAME_LENGTH ? text === name : text.includes(name);
}

async function isWeak({ estimate, minEstimate = 3 }: PasswordPolicy, request: NewPassword): Promise<boolean> {
  if (estimate === undefined) return false;
  const { username, email = "", currentPassword, newPassword } = request;
  const addresses = email.split(",").map((address) => address.trim());
  const hints = [username, ...addresses, currentPassword].filter((hint) => hint !== "");
  const start = [...newPassword].slice(0, ESTIMATED_CHARACTERS).join("");
  // Not `<`: NaN counts as weak.
  return !((await estimate(start, hints)) >= minEstimate);
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
