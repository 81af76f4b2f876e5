import type { Identity } from "../../contracts/identity.ts";
import type { OidcClaims, OidcOptions } from "./options.ts";

/** The account of a user, or why there is none, for the operator. */
export type MappedAccount = { readonly identity: Identity } | { readonly problem: string };

type Groups = NonNullable<OidcOptions["groups"]>;

/** Maps the claims of a user to an account, as the options say. */
export async function toMappedAccount(options: OidcOptions, claims: OidcClaims): Promise<MappedAccount> {
  if (options.toAccount === undefined) return mapByOptions(options, claims);
  const identity = (await options.toAccount(claims)) ?? undefined;
  return identity === undefined ? { problem: "toAccount returned no account" } : { identity };
}

function mapByOptions(options: OidcOptions, claims: OidcClaims): MappedAccount {
  const { nameClaim = "sub", namePrefix = "", groupsClaim = "groups", groups, account = {} } = options;
  const name = claims[nameClaim];
  if (typeof name !== "string" || name === "") return { problem: `the claim ${nameClaim} is missing` };
  if (nameClaim === "email" && !isEmailVerified(claims)) return { problem: "the claim email is not verified" };
  const group = groups && findGroup(groups, toTexts(claims[groupsClaim]));
  if (groups !== undefined && group === undefined) return { problem: "the user is in no configured group" };
  const { email } = claims;
  const settings = {
    uuid: `${namePrefix}${claims.sub}`,
    ...(typeof email === "string" && isEmailVerified(claims) && { email }),
    ...account,
    ...(group !== undefined && { group }),
  };
  return { identity: { username: `${namePrefix}${name}`, settings } };
}

/** Some providers write the boolean as a text. */
function isEmailVerified({ email_verified: isVerified }: OidcClaims): boolean {
  return isVerified === true || isVerified === "true";
}

function findGroup(groups: Groups, ofUser: readonly string[]): string | undefined {
  const pairs = isList(groups) ? groups : Object.entries(groups);
  return pairs.find(([name]) => name === "*" || ofUser.includes(name))?.[1];
}

function isList(groups: Groups): groups is Extract<Groups, readonly unknown[]> {
  return Array.isArray(groups);
}

function toTexts(claim: unknown): readonly string[] {
  if (typeof claim === "string") return [claim];
  return Array.isArray(claim) ? claim.filter((one) => typeof one === "string") : [];
}
