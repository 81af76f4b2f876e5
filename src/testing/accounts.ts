import { accountSettingsSchema, describeAccountIssues } from "../schemas/account.ts";
import { expect } from "./expectations.ts";

/** Fails unless a value is the settings of an account, without unknown members. */
export function expectAccount(value: unknown): void {
  const { error } = accountSettingsSchema.safeParse(value);
  const problems = error === undefined ? [] : describeAccountIssues(error);
  expect(error === undefined, `the settings of the account are valid: ${problems.join("; ")}`);
}

/** Names that no account has if one account has the given name: nearly the same, empty, very long, or odd. */
export function namesOfNobody(username: string): readonly string[] {
  const variants = [` ${username}`, `${username} `, `${username}\u0000`, `${username}\n`, `${username}/`];
  return [...variants, "", "x".repeat(100_000), "__proto__", "constructor", "toString", "*", "\u0000", "\ud800"];
}
