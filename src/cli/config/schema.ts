import * as z from "zod";
import { DEFAULT_GROUP, type Groups } from "../../account/account.ts";
import type { FileServiceOptions } from "../../config/options.ts";
import { CHARACTER_CLASSES } from "../../contracts/password-policy.ts";
import { accountSettingsSchema, groupSettingsSchema } from "../../schemas/account.ts";
import { findFormatProblem, type LogFormat } from "../log/format.ts";
import { findAccountProblem } from "./accounts.ts";
import { authenticationSchema } from "./authentication.ts";
import { connectionsSchema } from "./connections.ts";
import { digestsSchema, idempotencySchema, scanSchema } from "./content-keys.ts";
import { retentionSchema, trashKeySchema, versionsKeySchema } from "./kept.ts";
import { limitsSchema, uploadsSchema } from "./limits.ts";
import { linksSchema } from "./links.ts";
import { offloadSchema } from "./offload.ts";
import { findOidcProblems } from "./oidc.ts";
import { checkByService } from "./option-checks.ts";
import { quotaKeySchema } from "./quota.ts";
import { defaultHost, defaultPort } from "./serve-settings.ts";
import { checkCookie, sessionSchema } from "./session.ts";
import { azureStorageSchema } from "./storage/azure.ts";
import { s3StorageSchema } from "./storage/s3.ts";
import { findUnknownGroups, triggersSchema } from "./triggers.ts";
import { webdavSchema } from "./webdav.ts";
import { eventsSchema } from "./webhooks.ts";

/** A checked configuration file. Its paths are as in the file: relative ones are not resolved. */
export type ConfigFile = z.infer<typeof configFileSchema>;

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
  azureStorageSchema,
]);

/** Each group must be usable by an account without settings of its own. */
const groupsSchema = z.record(z.string(), groupSettingsSchema).superRefine((groups, context) => {
  if (context.issues.length > 0) return;
  for (const [id, { allow_own_password_change, ...settings }] of Object.entries(groups)) {
    const group = new Map([[DEFAULT_GROUP, settings]]);
    const problem = findAccountProblem("user", {}, group);
    if (problem !== undefined)
      context.addIssue({ code: "custom", path: [id, ...problem.path], message: problem.reason });
  }
});

/** The members of the policy that JSON can hold; `estimate` is a function. */
const passwordPolicySchema = z
  .strictObject({
    minLength: z.number().exactOptional(),
    maxLength: z.number().exactOptional(),
    requireClasses: z.array(z.enum(CHARACTER_CLASSES)).exactOptional(),
    allowUserName: z.boolean().exactOptional(),
  })
  .superRefine(checkByService((passwordPolicy) => ({ passwordPolicy })));

/** An object, or a text with the name of the header or a line for each key (4.4, CONTRACT 5). */
const metadataFieldsSchema = z
  .union([
    z.string(),
    z.strictObject({
      header: z.string(),
      required: z.boolean().exactOptional(),
      keys: z.array(z.strictObject({ name: z.string(), required: z.boolean().exactOptional() })).exactOptional(),
    }),
  ])
  .superRefine(checkByService((metadataFields) => ({ metadataFields })));

/** The key `log.format`: a name, or a text with variables. */
const logFormatSchema = z
  .custom<LogFormat>((value) => typeof value === "string")
  .superRefine((value, context) => {
    const message = findFormatProblem(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

const membersSchema = z.strictObject({
  /** The schema of the file, for editors. It has no effect. */
  $schema: z.string().exactOptional(),
  listen: listenSchema.exactOptional(),
  connections: connectionsSchema.exactOptional(),
  basePath: z
    .string()
    .superRefine(checkByService((basePath) => ({ basePath })))
    .exactOptional(),
  server: z
    .strictObject({ name: z.string().exactOptional(), uuid: z.string().exactOptional() })
    .superRefine(checkByService((server) => ({ server })))
    .exactOptional(),
  component: z
    .strictObject({ uuid: z.string().exactOptional() })
    .superRefine(checkByService((component) => ({ component })))
    .exactOptional(),
  publicError: z.boolean().exactOptional(),
  storage: storageSchema.exactOptional(),
  groups: groupsSchema.exactOptional(),
  anonymous: accountSettingsSchema.exactOptional(),
  authentication: z.array(authenticationSchema).min(1, "must have at least one entry"),
  session: sessionSchema.exactOptional(),
  passwordPolicy: passwordPolicySchema.exactOptional(),
  webdav: webdavSchema.exactOptional(),
  uploads: uploadsSchema.exactOptional(),
  quota: quotaKeySchema.exactOptional(),
  trash: trashKeySchema.exactOptional(),
  versions: versionsKeySchema.exactOptional(),
  retention: retentionSchema.exactOptional(),
  offload: offloadSchema.exactOptional(),
  links: linksSchema.exactOptional(),
  digests: digestsSchema.exactOptional(),
  idempotency: idempotencySchema.exactOptional(),
  scan: scanSchema.exactOptional(),
  basicCacheSeconds: z
    .number()
    .superRefine(checkByService((basicCacheSeconds) => ({ basicCacheSeconds })))
    .exactOptional(),
  clientForwardedHeader: z
    .string()
    .superRefine(checkByService((clientForwardedHeader) => ({ clientForwardedHeader })))
    .exactOptional(),
  trustedProxies: z.array(z.string().superRefine(checkByService(toProxyOptions))).exactOptional(),
  publicOrigin: z
    .string()
    .superRefine(checkByService((publicOrigin) => ({ publicOrigin })))
    .exactOptional(),
  limits: limitsSchema.exactOptional(),
  metadataFields: metadataFieldsSchema.exactOptional(),
  events: eventsSchema.exactOptional(),
  metrics: z.strictObject({ host: nonEmptyText.exactOptional(), port: portSchema }).exactOptional(),
  log: z.strictObject({ format: logFormatSchema.exactOptional(), file: nonEmptyText.exactOptional() }).exactOptional(),
  archive: z.strictObject({ method: z.enum(["stored", "deflate"]).exactOptional() }).exactOptional(),
  acceptedOrigins: z
    .array(z.string().superRefine(checkByService((origin) => ({ acceptedOrigins: [origin] }))))
    .exactOptional(),
  cors: z
    .strictObject({ origins: z.array(z.string()), maxAgeSeconds: z.number().exactOptional() })
    .superRefine(checkByService((cors) => ({ cors })))
    .exactOptional(),
  triggers: triggersSchema.exactOptional(),
  branding: z
    .strictObject({
      name: z.string().exactOptional(),
      logo: z.string().exactOptional(),
      accent: z.string().exactOptional(),
      footnote: z.string().exactOptional(),
    })
    .superRefine(checkByService((branding) => ({ branding })))
    .exactOptional(),
  frameAncestors: z
    .array(z.string().superRefine(checkByService((origin) => ({ frameAncestors: [origin] }))))
    .exactOptional(),
});

/** Options that check one proxy. The header is needed only for this check. */
function toProxyOptions(network: string): Partial<FileServiceOptions> {
  return { clientForwardedHeader: "Forwarded", trustedProxies: [network] };
}

const CHECKED_TOGETHER: readonly unknown[] = ["groups", "anonymous", "authentication", "triggers"];

/**
 * The configuration file (CONTRACT 10). An unknown key is an error, and so is an account that could never log in. The
 * service itself checks the keys that are options of `createFileService`.
 */
export const configFileSchema = membersSchema.superRefine((members, context) => {
  const { authentication, groups, triggers, clientForwardedHeader = "", trustedProxies } = members;
  if (haveSameAddress(members)) {
    const message = "must be another port than listen.port";
    context.addIssue({ code: "custom", path: ["metrics", "port"], message });
  }
  if (trustedProxies !== undefined && clientForwardedHeader === "") {
    const message = "must be given together with clientForwardedHeader";
    context.addIssue({ code: "custom", path: ["trustedProxies"], message });
  }
  if (!context.issues.some(({ path }) => path?.[0] === "basePath")) checkCookie(members, context);
  // Values of the wrong form cannot be checked against each other.
  if (context.issues.some(({ path }) => CHECKED_TOGETHER.includes(path?.[0]))) return;
  const known = toGroupSettings(groups);
  for (const path of findUnknownGroups(triggers, known)) {
    context.addIssue({ code: "custom", path: [...path], message: "is not a configured group" });
  }
  const unusable = members.anonymous && findAccountProblem("anonymous", members.anonymous, known);
  if (unusable !== undefined) {
    context.addIssue({ code: "custom", path: ["anonymous", ...unusable.path], message: unusable.reason });
  }
  for (const { path, message } of findOidcProblems(authentication, known)) {
    context.addIssue({ code: "custom", path: ["authentication", ...path], message });
  }
  for (const [index, entry] of authentication.entries()) {
    const { accounts = [] } = entry.type === "accounts" ? entry : {};
    for (const [position, { username, password, ...settings }] of accounts.entries()) {
      const problem = findAccountProblem(username, settings, known);
      if (problem === undefined) continue;
      const path = ["authentication", index, "accounts", position, ...problem.path];
      context.addIssue({ code: "custom", path, message: problem.reason });
    }
  }
});

/** Whether the metrics could not listen, because the service does at the same address. */
function haveSameAddress({ listen = {}, metrics }: z.infer<typeof membersSchema>): boolean {
  const { host = defaultHost, port = defaultPort } = listen;
  if (metrics === undefined || port === 0 || metrics.port !== port) return false;
  const { host: own = defaultHost } = metrics;
  return own === host || containsAddress(own, host) || containsAddress(host, own);
}

/** Whether a wildcard stands for the address of a host, too. `::` has those of IPv4 as well. */
function containsAddress(wildcard: string, host: string): boolean {
  return wildcard === "::" || (wildcard === "0.0.0.0" && !host.includes(":"));
}

/** The groups of a configuration by their identifier. */
export function toGroupSettings(groups: z.infer<typeof groupsSchema> = {}): Groups {
  return new Map(Object.entries(groups));
}
