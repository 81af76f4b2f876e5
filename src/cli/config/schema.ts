import { z } from "zod";
import { DEFAULT_GROUP, type Groups } from "../../account/account.ts";
import type { FileEvent } from "../../contracts/events/file-event.ts";
import { CHARACTER_CLASSES } from "../../contracts/password-policy.ts";
import { groupSettingsSchema } from "../../schemas/account.ts";
import { createWebhookSink, type WebhookSinkOptions } from "../../sinks/webhook.ts";
import { parseSessionStore } from "../session-store.ts";
import { findAccountProblem } from "./accounts.ts";
import { authenticationSchema } from "./authentication.ts";
import { connectionsSchema } from "./connections.ts";
import { byMaker, byService } from "./option-checks.ts";
import { s3StorageSchema } from "./s3.ts";
import { findUnknownGroups, triggersSchema } from "./triggers.ts";

/** The configuration file as it is written, checked: its paths still as they stand in it. */
export type ConfigFile = z.infer<typeof configFileSchema>;

/** One entry of `events.webhooks`. */
export type WebhookEntry = z.infer<typeof webhookSchema>;

/** One entry of `authentication`. */
export type AuthenticationEntry = ConfigFile["authentication"][number];

const nonEmptyText = z.string().min(1, "must not be empty");

const portSchema = z.int().min(0, "must be 0 to 65535").max(65_535, "must be 0 to 65535");

const listenSchema = z.strictObject({
  host: nonEmptyText.exactOptional(),
  port: portSchema.exactOptional(),
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
  s3StorageSchema,
]);

/** Each group must do for some account of its own. */
const groupsSchema = z.record(z.string(), groupSettingsSchema).superRefine((groups, context) => {
  if (context.issues.length > 0) return;
  for (const [id, { allow_own_password_change, ...settings }] of Object.entries(groups)) {
    const group = new Map([[DEFAULT_GROUP, settings]]);
    const problem = findAccountProblem("user", {}, group);
    if (problem !== undefined)
      context.addIssue({ code: "custom", path: [id, ...problem.path], message: problem.reason });
  }
});

/** The parts of the policy that are JSON: an estimate of strength is a function, for those who embed the service. */
const passwordPolicySchema = z
  .strictObject({
    minLength: z.number().exactOptional(),
    maxLength: z.number().exactOptional(),
    requireClasses: z.array(z.enum(CHARACTER_CLASSES)).exactOptional(),
    allowUserName: z.boolean().exactOptional(),
  })
  .superRefine(byService((passwordPolicy) => ({ passwordPolicy })));

/** Text in one of the forms of the spec, or an object (4.4, CONTRACT 5). */
const metadataFieldsSchema = z
  .union([
    z.string(),
    z.strictObject({
      header: z.string(),
      required: z.boolean().exactOptional(),
      keys: z.array(z.strictObject({ name: z.string(), required: z.boolean().exactOptional() })).exactOptional(),
    }),
  ])
  .superRefine(byService((metadataFields) => ({ metadataFields })));

/** What its members must be, the sink itself knows. */
const webhookSchema = z
  .strictObject({
    url: z.string(),
    username: z.string().exactOptional(),
    password: z.string().exactOptional(),
    headers: z.string().exactOptional(),
    secret: z.string().exactOptional(),
    filter: z.array(z.number()).exactOptional(),
    retries: z.number().exactOptional(),
    timeoutSeconds: z.number().exactOptional(),
    suspendSeconds: z.number().exactOptional(),
    capacity: z.number().exactOptional(),
  })
  .superRefine(byMaker((options) => void createWebhookSink(toWebhookOptions(options))));

const limitsSchema = z
  .strictObject({
    maxFileBytes: z.number().exactOptional(),
    loginAttempts: z.number().exactOptional(),
    loginWindowSeconds: z.number().exactOptional(),
    maxLoginBytes: z.number().exactOptional(),
    maxJsonBytes: z.number().exactOptional(),
    maxCommands: z.number().exactOptional(),
    maxFormParts: z.number().exactOptional(),
    maxPartHeaderBytes: z.number().exactOptional(),
    maxFormFieldBytes: z.number().exactOptional(),
    transfersPerAccount: z.number().exactOptional(),
    transfersPerAddress: z.number().exactOptional(),
    pageBytesPerAccount: z.number().exactOptional(),
    pageBytesPerAddress: z.number().exactOptional(),
  })
  .superRefine(byService((limits) => ({ limits })));

/** The options of the file that events go to; `NdjsonSinkOptions` has them. */
const eventsSchema = z.strictObject({
  file: nonEmptyText.exactOptional(),
  maxBytes: z.int().min(0, "must be 0 or more").exactOptional(),
  maxFiles: z.int().min(0, "must be 0 or more").exactOptional(),
  webhooks: z.array(webhookSchema).exactOptional(),
});

const membersSchema = z.strictObject({
  listen: listenSchema.exactOptional(),
  connections: connectionsSchema.exactOptional(),
  basePath: z
    .string()
    .superRefine(byService((basePath) => ({ basePath })))
    .exactOptional(),
  server: z
    .strictObject({ name: z.string().exactOptional(), uuid: z.string().exactOptional() })
    .superRefine(byService((server) => ({ server })))
    .exactOptional(),
  component: z
    .strictObject({ uuid: z.string().exactOptional() })
    .superRefine(byService((component) => ({ component })))
    .exactOptional(),
  publicError: z.boolean().exactOptional(),
  storage: storageSchema.exactOptional(),
  groups: groupsSchema.exactOptional(),
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
      maxPerAccount: z
        .number()
        .superRefine(byService((maxPerAccount) => ({ session: { maxPerAccount } })))
        .exactOptional(),
      announce: z.boolean().exactOptional(),
      store: z
        .string()
        .superRefine(byMaker((store) => void parseSessionStore(store)))
        .exactOptional(),
    })
    .exactOptional(),
  passwordPolicy: passwordPolicySchema.exactOptional(),
  clientForwardedHeader: z
    .string()
    .superRefine(byService((clientForwardedHeader) => ({ clientForwardedHeader })))
    .exactOptional(),
  trustedProxies: z
    .array(z.string().superRefine(byService((network) => ({ trustedProxies: [network] }))))
    .exactOptional(),
  publicOrigin: z
    .string()
    .superRefine(byService((publicOrigin) => ({ publicOrigin })))
    .exactOptional(),
  limits: limitsSchema.exactOptional(),
  metadataFields: metadataFieldsSchema.exactOptional(),
  events: eventsSchema.exactOptional(),
  metrics: z.strictObject({ host: nonEmptyText.exactOptional(), port: portSchema }).exactOptional(),
  log: z.strictObject({ format: z.enum(["text", "json"]).exactOptional() }).exactOptional(),
  archive: z.strictObject({ method: z.enum(["stored", "deflate"]).exactOptional() }).exactOptional(),
  acceptedOrigins: z
    .array(z.string().superRefine(byService((origin) => ({ acceptedOrigins: [origin] }))))
    .exactOptional(),
  triggers: triggersSchema.exactOptional(),
  branding: z
    .strictObject({
      name: z.string().exactOptional(),
      logo: z.string().exactOptional(),
      accent: z.string().exactOptional(),
      footnote: z.string().exactOptional(),
    })
    .superRefine(byService((branding) => ({ branding })))
    .exactOptional(),
  frameAncestors: z
    .array(z.string().superRefine(byService((origin) => ({ frameAncestors: [origin] }))))
    .exactOptional(),
});

const CHECKED_TOGETHER: readonly unknown[] = ["groups", "authentication", "triggers"];

/**
 * The configuration file (CONTRACT 10), closed: an unknown key is an error, and so is an account that could never log in. A key that is
 * also an option of `createFileService` is judged by the service itself.
 */
export const configFileSchema = membersSchema.superRefine(({ authentication, groups, triggers }, context) => {
  // What has the wrong form cannot be judged for its sense as well.
  if (context.issues.some(({ path }) => CHECKED_TOGETHER.includes(path?.[0]))) return;
  const known = toGroups(groups);
  for (const path of findUnknownGroups(triggers, known)) {
    context.addIssue({ code: "custom", path: [...path], message: "is not a configured group" });
  }
  for (const [index, entry] of authentication.entries()) {
    const { accounts = [] } = entry.type === "accounts" ? entry : {};
    for (const [place, { username, password, ...settings }] of accounts.entries()) {
      const problem = findAccountProblem(username, settings, known);
      if (problem === undefined) continue;
      const path = ["authentication", index, "accounts", place, ...problem.path];
      context.addIssue({ code: "custom", path, message: problem.reason });
    }
  }
});

/** A webhook of a configuration as its sink has it, which checks what are identifiers of events. */
export function toWebhookOptions(webhook: WebhookEntry): WebhookSinkOptions {
  const { filter, ...options } = webhook;
  return { ...options, ...(filter !== undefined && { filter: filter as readonly FileEvent["id"][] }) };
}

/** The groups of a configuration as the service has them. */
export function toGroups(groups: z.infer<typeof groupsSchema> = {}): Groups {
  return new Map(Object.entries(groups));
}

/** What is wrong with a parsed configuration, one problem each as `key.path: reason`, never with a value in it. */
export function describeIssues(error: z.ZodError): readonly string[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => `${toKeyPath([...issue.path, key])}: unknown key`);
    }
    const place = toKeyPath(issue.path);
    return [place === "" ? toReason(issue.message) : `${place}: ${toReason(issue.message)}`];
  });
}

function toReason(message: string): string {
  if (message.endsWith(", received undefined")) return "is missing";
  return message.replace(/^Invalid [a-z ]+[:.] [Ee]xpected/, "expected");
}

/** `authentication[0].accounts[1].username`; a key that is no plain word stands in quotes. */
export function toKeyPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((place, key) => {
    if (typeof key === "number") return `${place}[${key}]`;
    const name = String(key);
    if (!/^[\w-]+$/.test(name)) return `${place}[${JSON.stringify(name)}]`;
    return place === "" ? name : `${place}.${name}`;
  }, "");
}
