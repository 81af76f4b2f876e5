import * as z from "zod";
import type { Groups } from "../../account/account.ts";
import { createOidcAuthenticator } from "../../auth/oidc.ts";
import { accountSettingsSchema } from "../../schemas/account.ts";
import { findAccountProblem } from "./accounts.ts";
import { checkByFactory } from "./option-checks.ts";

/** The members of a method of type `oidc` and their types. The method itself checks the values. */
export const oidcMethodSchema = z
  .strictObject({
    type: z.literal("oidc"),
    issuer: z.string(),
    clientId: z.string(),
    clientSecret: z.string().exactOptional(),
    cookieSecret: z.string().exactOptional(),
    id: z.string().exactOptional(),
    label: z.string().exactOptional(),
    scopes: z.array(z.string()).exactOptional(),
    userInfo: z.boolean().exactOptional(),
    timeoutSeconds: z.number().exactOptional(),
    nameClaim: z.string().exactOptional(),
    namePrefix: z.string().exactOptional(),
    groupsClaim: z.string().exactOptional(),
    groups: z
      .union(
        [z.record(z.string(), z.string()), z.array(z.tuple([z.string(), z.string()]))],
        "must be identifiers of groups by the names of groups, or a list of such pairs",
      )
      .exactOptional(),
    account: accountSettingsSchema.exactOptional(),
    mayShareNames: z.boolean().exactOptional(),
  })
  .superRefine(checkByFactory(({ type: _, ...options }) => void createOidcAuthenticator(options)));

/** A checked method of type `oidc`. */
export type OidcEntry = z.infer<typeof oidcMethodSchema>;

/** A member of a method that is wrong, by its path in `authentication`. */
interface EntryProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Finds what is wrong between methods of type `oidc`, and with the accounts that they describe. */
export function findOidcProblems(
  entries: readonly { readonly type: string }[],
  groups: Groups,
): readonly EntryProblem[] {
  const problems: EntryProblem[] = [];
  const found = [...entries.entries()].filter((pair): pair is [number, OidcEntry] => pair[1].type === "oidc");
  for (const [position, [index, entry]] of found.entries()) {
    for (const [, other] of found.slice(0, position)) problems.push(...findClashes(index, entry, other));
    const { account = {} } = entry;
    const problem = findAccountProblem("user", account, groups);
    if (problem !== undefined) problems.push({ path: [index, "account", ...problem.path], message: problem.reason });
    for (const { path, group } of toNamedGroups(entry)) {
      const reason = findAccountProblem("user", { ...account, group }, groups)?.reason;
      if (reason !== undefined) problems.push({ path: [index, ...path], message: reason });
    }
  }
  return problems;
}

/** The groups of the service that a method names, each with its path. */
function toNamedGroups({ groups = {} }: OidcEntry): readonly { path: (string | number)[]; group: string }[] {
  if (Array.isArray(groups)) return groups.map(([, group], index) => ({ path: ["groups", index, 1], group }));
  return Object.entries(groups).map(([name, group]) => ({ path: ["groups", name], group }));
}

/** Two providers may have users of one name, who would share their files. */
function findClashes(index: number, entry: OidcEntry, other: OidcEntry): readonly EntryProblem[] {
  const defaults = { id: "oidc", namePrefix: "" };
  const message = "must differ from that of the other methods of this type";
  const clashing = (["id", "namePrefix"] as const).filter(
    (key) => (entry[key] ?? defaults[key]) === (other[key] ?? defaults[key]),
  );
  return clashing.map((key) => ({ path: [index, key], message }));
}
