import type { CharacterClass, PasswordPolicy } from "../../contracts/password-policy.ts";
import { maxPasswordBytes } from "./hash.ts";

/** A password change that a policy checks. */
export interface NewPassword {
  readonly username: string;
  /** The account's e-mail addresses, comma-separated. */
  readonly email?: string;
  readonly currentPassword: string;
  readonly newPassword: string;
}

const CLASSES: Readonly<Record<CharacterClass, readonly [pattern: RegExp, name: string]>> = {
  lowercase: [/\p{Ll}/u, "a lower-case letter"],
  uppercase: [/\p{Lu}/u, "an upper-case letter"],
  digit: [/\p{Nd}/u, "a digit"],
  symbol: [/[^\p{Ll}\p{Lu}\p{Nd}]/u, "a character that is neither a letter nor a digit"],
};

const ESTIMATED_CHARACTERS = 100;
/** Shorter user names may be part of a password. */
const MIN_NAME_LENGTH = 3;

/** Returns the rules that a new password breaks, one sentence each for the client, without the password. */
export async function findPolicyProblems(policy: PasswordPolicy, request: NewPassword): Promise<readonly string[]> {
  const { newPassword, currentPassword } = request;
  const { minLength = 12, maxLength = maxPasswordBytes, requireClasses = [], allowUserName = false } = policy;
  // Checked first, so that very long passwords are not counted character by character.
  if (newPassword.length > maxPasswordBytes || byteLength(newPassword) > maxPasswordBytes) {
    return [`The new password must not be longer than ${maxPasswordBytes} bytes.`];
  }
  const length = [...newPassword].length;
  const broken: readonly (readonly [isBroken: boolean, problem: string])[] = [
    [length < minLength, `The new password must have at least ${minLength} characters.`],
    [length > maxLength, `The new password must not have more than ${maxLength} characters.`],
    [/[\p{Cc}\p{Cs}]/u.test(newPassword), "The new password must not contain control characters."],
    ...requireClasses.map((name) => [!CLASSES[name][0].test(newPassword), toClassProblem(name)] as const),
    [!allowUserName && holdsName(newPassword, request.username), "The new password must not contain the user name."],
    [newPassword === currentPassword, "The new password must not be the current one."],
    [await isWeak(policy, request), "The new password is too easy to guess."],
  ];
  return broken.flatMap(([isBroken, problem]) => (isBroken ? [problem] : []));
}

function toClassProblem(name: CharacterClass): string {
  return `The new password must contain ${CLASSES[name][1]}.`;
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
