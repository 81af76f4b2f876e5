import * as z from "zod";
import { parseAccounts } from "../../auth/accounts/accounts.ts";
import { AccountsError } from "../../auth/accounts/accounts-error.ts";
import { createPasswordHasher } from "../../auth/passwords/hash.ts";
import { createHttpAuthenticator } from "../../remote-auth/http-authenticator.ts";
import { accountSettingsSchema } from "../../schemas/account.ts";
import { apiKeySchema } from "../../schemas/api-keys.ts";
import { accountTotpSchema } from "../../schemas/totp.ts";
import { oidcMethodSchema } from "./oidc.ts";
import { checkByFactory } from "./option-checks.ts";

const nonEmptyText = z.string().min(1, "must not be empty");

/** The members of an account and their types. `parseAccounts` checks the values. */
const accountsSchema = z
  .array(
    accountSettingsSchema.extend({
      username: z.string(),
      password: z.string(),
      disabled: z.boolean().exactOptional(),
      keys: z.array(apiKeySchema).readonly().exactOptional(),
      totp: accountTotpSchema.exactOptional(),
    }),
  )
  .superRefine((accounts, context) => {
    if (context.issues.length > 0) return;
    try {
      parseAccounts(accounts, createPasswordHasher());
    } catch (error) {
      if (!(error instanceof AccountsError)) throw error;
      context.addIssue({ code: "custom", path: [...error.path], message: error.reason });
    }
  });

const accountsMethodSchema = z
  .strictObject({
    type: z.literal("accounts"),
    accounts: accountsSchema.exactOptional(),
    file: nonEmptyText.exactOptional(),
  })
  .refine(({ accounts, file }) => (accounts === undefined) !== (file === undefined), {
    message: "must have either accounts or file",
  });

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The members of the method and their types. The method itself checks the values. */
const httpMethodSchema = z
  .strictObject({
    type: z.literal("http"),
    url: z.string(),
    username: z.string().exactOptional(),
    password: z.string().exactOptional(),
    headers: z.string().exactOptional(),
    timeoutSeconds: z.number().exactOptional(),
    suspendSeconds: z.number().exactOptional(),
    testAtStart: z.boolean().exactOptional(),
  })
  .superRefine(
    checkByFactory(({ type, ...options }) => {
      createHttpAuthenticator({ ...options, logger: silent });
    }),
  );

/** One entry of `authentication`. */
export const authenticationSchema = z.discriminatedUnion("type", [
  accountsMethodSchema,
  httpMethodSchema,
  oidcMethodSchema,
]);
