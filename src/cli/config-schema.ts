import { z } from "zod";
import { parseAccounts } from "../auth/accounts.ts";
import { createPasswordHasher } from "../auth/password-hash.ts";
import type { FileServiceOptions } from "../config/options.ts";
import { toServiceConfig } from "../config/service-config.ts";
import { createMemoryStorage } from "../storage/memory.ts";
import { accountSettingsSchema } from "../wire/account.ts";

/** The configuration file as it is written, checked: its paths still as they stand in it. */
export type ConfigFile = z.infer<typeof configFileSchema>;

/** One entry of `authentication`. */
export type AuthenticationEntry = ConfigFile["authentication"][number];

const nonEmptyText = z.string().min(1, "must not be empty");

const listenSchema = z.strictObject({
  host: nonEmptyText.exactOptional(),
  port: z.int().min(0, "must be 0 to 65535").max(65_535, "must be 0 to 65535").exactOptional(),
  tls: z.strictObject({ key: nonEmptyText, cert: nonEmptyText, ca: nonEmptyText.exactOptional() }).exactOptional(),
});

const storageSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("disk"),
    root: nonEmptyText,
    durability: z.enum(["fsync", "rename"]).exactOptional(),
    links: z.enum(["hidden", "inside"]).exactOptional(),
  }),
  z.strictObject({ type: z.literal("memory") }),
]);

/** The members of an account and their types; what their values must be, `parseAccounts` knows. */
const accountsSchema = z
  .array(accountSettingsSchema.extend({ username: z.string(), password: z.string() }))
  .superRefine((accounts, context) => {
    try {
      parseAccounts(accounts, createPasswordHasher());
    } catch (error) {
      const [, index, member, reason] = /^accounts\[(\d+)\]\.(\w+): (.*)$/s.exec((error as Error).message) ?? [];
      const path = index === undefined || member === undefined ? [] : [Number(index), member];
      context.addIssue({ code: "custom", path, message: reason ?? (error as Error).message });
    }
  });

const authenticationSchema = z.discriminatedUnion("type", [
  z
    .strictObject({
      type: z.literal("accounts"),
      accounts: accountsSchema.exactOptional(),
      file: nonEmptyText.exactOptional(),
    })
    .refine(({ accounts, file }) => (accounts === undefined) !== (file === undefined), {
      message: "must have either accounts or file",
    }),
]);

/**
 * The configuration file (CONTRACT 10), closed: an unknown key is an error. A key that is also an option of
 * `createFileService` is judged by the service itself.
 */
export const configFileSchema = z.strictObject({
  listen: listenSchema.exactOptional(),
  basePath: z
    .string()
    .superRefine(byService((basePath) => ({ basePath })))
    .exactOptional(),
  server: z
    .strictObject({
      name: z
        .string()
        .superRefine(byService((name) => ({ server: { name } })))
        .exactOptional(),
    })
    .exactOptional(),
  storage: storageSchema.exactOptional(),
  authentication: z.array(authenticationSchema).min(1, "must have at least one entry"),
  session: z
    .strictObject({
      idleSeconds: z
        .number()
        .superRefine(byService((idleSeconds) => ({ session: { idleSeconds } })))
        .exactOptional(),
      maxSeconds: z
        .number()
        .superRefine(byService((maxSeconds) => ({ session: { maxSeconds } })))
        .exactOptional(),
      announce: z.boolean().exactOptional(),
    })
    .exactOptional(),
  acceptedOrigins: z
    .array(z.string().superRefine(byService((origin) => ({ acceptedOrigins: [origin] }))))
    .exactOptional(),
});

/** What is wrong with a parsed configuration, one problem each as `key.path: reason`, never with a value in it. */
export function describeIssues(error: z.ZodError): readonly string[] {
  const problems = error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => `${toPlace([...issue.path, key])}: unknown key`);
    }
    const place = toPlace(issue.path);
    return [place === "" ? toReason(issue.message) : `${place}: ${toReason(issue.message)}`];
  });
  // Some rules stand in the schema and in `parseAccounts`: one problem all the same.
  return [...new Set(problems)];
}

function toReason(message: string): string {
  if (message.endsWith(", received undefined")) return "is missing";
  return message.replace(/^Invalid [a-z ]+[:.] [Ee]xpected/, "expected");
}

/** `authentication[0].accounts[1].username`; a key that is no plain word stands in quotes. */
function toPlace(path: readonly PropertyKey[]): string {
  return path.reduce<string>((place, key) => {
    if (typeof key === "number") return `${place}[${key}]`;
    const name = String(key);
    if (!/^[\w-]+$/.test(name)) return `${place}[${JSON.stringify(name)}]`;
    return place === "" ? name : `${place}.${name}`;
  }, "");
}

/** A check of one option by the service's own rule for it: that rule stands in one place only. */
function byService<T>(toOptions: (value: T) => Partial<FileServiceOptions>) {
  return (value: T, context: z.RefinementCtx<T>): void => {
    const authentication = { name: "nobody", authenticate: async () => ({ outcome: "unknown" }) as const };
    try {
      toServiceConfig({ storage: createMemoryStorage(), authentication, ...toOptions(value) });
    } catch (error) {
      const message = (error as Error).message.replace(/^The option \S+ (.*)\.$/s, "$1");
      context.addIssue({ code: "custom", message });
    }
  };
}
