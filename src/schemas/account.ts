import * as z from "zod";
import { type AccountSettings, PERMISSION_VALUES } from "../contracts/account.ts";

const absolutePath = z
  .string()
  .refine(
    isAbsolutePath,
    'must be an absolute path without "//", a trailing "/", ".", "..", a backslash or control characters',
  );

const nonEmpty = z.string().min(1, "must not be empty");

/**
 * Maximum number of permission rules that a remote endpoint may send, and maximum total length of their expressions:
 * they are compiled during the login, which blocks other requests.
 */
const MAX_REMOTE_RULES = 250;
const MAX_REMOTE_CHARACTERS = 16 * 1024;

const permissions = z.array(z.array(z.string()).readonly()).superRefine(checkPermissions).readonly();

/** Settings that accounts and groups have in common. */
const sharedMembers = {
  home_folder_path: absolutePath.exactOptional(),
  uuid: nonEmpty.exactOptional(),
  email: z.string().exactOptional(),
  create_home_folder: z.boolean().exactOptional(),
  create_home_folder_owner: nonEmpty.exactOptional(),
  create_home_folder_group: nonEmpty.exactOptional(),
  home_folder_structure: z
    .array(
      z
        .string()
        .refine(
          isRelativePath,
          'must be a relative path without "//", a trailing "/", ".", "..", a backslash or control characters',
        ),
    )
    .readonly()
    .exactOptional(),
  virtual_folders: z
    .array(
      z.tuple([absolutePath.refine((path) => path !== "/", "must not be the account's root"), absolutePath]).readonly(),
    )
    .readonly()
    .exactOptional(),
  permissions: permissions.exactOptional(),
};

/** Settings of this service in addition to those of 2.4. */
const ownMembers = {
  max_file_bytes: z.int().min(0, "must not be negative").exactOptional(),
  quota_bytes: z.int().min(0, "must not be negative").exactOptional(),
  quota_files: z.int().min(0, "must not be negative").exactOptional(),
  allow_links: z.boolean().exactOptional(),
  require_link_password: z.boolean().exactOptional(),
  max_link_seconds: z.int().min(0, "must not be negative").exactOptional(),
  allow_own_keys: z.boolean().exactOptional(),
  require_key_for_basic: z.boolean().exactOptional(),
};

/**
 * The settings of an account that a remote endpoint may send (2.4). An unknown member is an error, and so is `null`.
 * The number of permission rules is limited here, but not for groups. The rules themselves are checked where they are
 * compiled.
 */
export const remoteAccountSchema = z.strictObject({
  ...sharedMembers,
  permissions: permissions
    .refine((items) => items.length - 1 <= MAX_REMOTE_RULES, `must not have more than ${MAX_REMOTE_RULES} rules`)
    .refine(
      (items) => countExpressions(items) <= MAX_REMOTE_CHARACTERS,
      `must not have expressions of more than ${MAX_REMOTE_CHARACTERS} characters in total`,
    )
    .exactOptional(),
  group: nonEmpty.exactOptional(),
});

/**
 * The settings of an account inside the service: those of 2.4 and the service's own. An unknown member is an error.
 * Parsed values are `AccountSettings`.
 */
export const accountSettingsSchema = z.strictObject({
  ...sharedMembers,
  ...ownMembers,
  group: nonEmpty.exactOptional(),
});

/** Settings that were parsed and are frozen: they need not be parsed again. */
const parsed = new WeakSet<object>();

/**
 * Freezes settings that {@link accountSettingsSchema} has returned, so that {@link parseAccountSettings} takes them as
 * they are. A method that keeps its accounts does this, because each login by HTTP Basic has its settings parsed.
 */
export function freezeAccountSettings(settings: AccountSettings): AccountSettings {
  freezeDeeply(settings);
  parsed.add(settings);
  return settings;
}

function freezeDeeply(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.values(value).forEach(freezeDeeply);
  Object.freeze(value);
}

/** Parses the settings that a method has returned. */
export function parseAccountSettings(given: AccountSettings): z.ZodSafeParseResult<AccountSettings> {
  return parsed.has(given) ? { success: true, data: given } : accountSettingsSchema.safeParse(given);
}

/** The settings of a group. An unknown member is an error. Parsed values are `GroupSettings`. */
export const groupSettingsSchema = z.strictObject({
  ...sharedMembers,
  ...ownMembers,
  home_folder_path: z
    .string()
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how groups spell it.
    .refine(isGroupHome, "must be an absolute path, optionally after the prefix ${SHARED}")
    .exactOptional(),
  allow_own_password_change: z.boolean().exactOptional(),
});

/**
 * Describes for the operator what is wrong with invalid settings, each problem as `home_folder_path: must be ...`. The
 * texts name keys, never values.
 */
export function describeAccountIssues(error: z.ZodError): readonly string[] {
  return error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`));
}

/** The first item holds permissions. Every further item holds a path expression and at least one permission (2.4). */
function checkPermissions(items: readonly (readonly string[])[], context: z.RefinementCtx): void {
  for (const [index, item] of items.entries()) {
    const isRule = index > 0;
    if (isRule && item.length < 2) {
      context.addIssue({
        code: "custom",
        path: [index],
        message: "must be a path expression and at least one permission",
      });
    }
    for (const [position, value] of item.entries()) {
      if ((isRule && position === 0) || PERMISSION_VALUES.includes(value as (typeof PERMISSION_VALUES)[number]))
        continue;
      context.addIssue({ code: "custom", path: [index, position], message: "is not a known permission" });
    }
  }
}

function countExpressions([, ...rules]: readonly (readonly string[])[]): number {
  return rules.reduce((sum, [expression = ""]) => sum + expression.length, 0);
}

function isAbsolutePath(path: string): boolean {
  return path === "/" || (path.startsWith("/") && !path.startsWith("//") && isRelativePath(path));
}

/** A leading `/` is ignored (CONTRACT 7.3). */
function isRelativePath(path: string): boolean {
  if (/[\\\p{Cc}]/u.test(path)) return false;
  const segments = path.replace(/^\//, "").split("/");
  return segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

function isGroupHome(path: string): boolean {
  return isAbsolutePath(path.replace(/^\$\{SHARED\}/, ""));
}

/** Whether two accounts have the same settings, in whatever order. */
export function haveEqualSettings(one: AccountSettings, other: AccountSettings): boolean {
  const toText = (settings: AccountSettings): string => JSON.stringify(Object.entries(settings).sort());
  return toText(one) === toText(other);
}
