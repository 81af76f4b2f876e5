import * as z from "zod";
import { KEY_PERMISSIONS } from "../contracts/api-keys.ts";

const MAX_LABEL_CHARACTERS = 200;

const labelSchema = z
  .string()
  .refine((text) => [...text].length <= MAX_LABEL_CHARACTERS, `must have at most ${MAX_LABEL_CHARACTERS} characters`)
  .refine((text) => !/\p{Cc}/u.test(text), "must not contain control characters");
const permissionsSchema = z
  .array(z.enum(KEY_PERMISSIONS, "must have known permissions"))
  .min(1, "must have at least one permission")
  .readonly();
const pathSchema = z.string().refine(isCanonical, 'must be "/", or an absolute path without a trailing "/"');

/** A key as accounts have it. An unknown member is an error: it could be one that forbids something. */
export const apiKeySchema = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{16}$/, "must be 16 lower-case hexadecimal digits"),
  label: labelSchema.exactOptional(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hexadecimal digits"),
  permissions: permissionsSchema.exactOptional(),
  path: pathSchema.exactOptional(),
  created_at: z.int().min(0, "must not be negative"),
  expires_at: z.int().min(0, "must not be negative").exactOptional(),
});

/** What a request describes a new key by. An unknown member is an error. */
export const newKeySchema = z.strictObject({
  label: labelSchema.exactOptional(),
  permissions: permissionsSchema.exactOptional(),
  path: pathSchema.exactOptional(),
  expires_in: z.int("must be a whole number of seconds").min(1, "must be at least 1").max(1e10).exactOptional(),
});

/** The forms of the page: one makes a key, one revokes it. Only the OpenAPI document uses them. */
export const keyFormSchema = z.strictObject({
  label: z.string().exactOptional(),
  permissions: z.array(z.enum(KEY_PERMISSIONS)).exactOptional(),
  path: z.string().exactOptional(),
  expires_in: z.string().exactOptional(),
});

/** The form that revokes one key. */
export const revokeFormSchema = z.strictObject({ action: z.literal("revoke") });

const shown = {
  id: z.string(),
  label: z.string(),
  /** `null`: all that the account has. */
  permissions: permissionsSchema.nullable(),
  path: z.string(),
  /** POSIX seconds. */
  created: z.int(),
  /** POSIX seconds; `null`: it does not expire. */
  expires: z.int().nullable(),
};

/** A key in a list. */
export const shownKeySchema = z.strictObject(shown);

/** The keys of an account. */
export const keyListSchema = z.strictObject({ content: z.array(shownKeySchema) });

/** The response to a new key: the only one that has the key itself. */
export const keyResultsSchema = z.strictObject({ results: z.array(z.strictObject({ ...shown, key: z.string() })) });

/** What a request describes a new key by. */
export type NewKeyBody = z.infer<typeof newKeySchema>;
/** A key in a list. */
export type ShownKey = z.infer<typeof shownKeySchema>;

/** Says in a few words what is wrong with the description of a key, without its values. */
export function describeKeyProblem({ issues: [issue] }: z.ZodError): string {
  if (issue === undefined) return "it is invalid";
  if (issue.code === "unrecognized_keys") return "it has an unknown member";
  const [name] = issue.path;
  if (name === undefined) return "it is no object";
  return `${String(name)} ${/^must /.test(issue.message) ? issue.message : "is invalid"}`;
}

function isCanonical(path: string): boolean {
  if (path === "/") return true;
  if (!path.startsWith("/") || /[\\\p{Cc}]/u.test(path)) return false;
  const segments = path.slice(1).split("/");
  return segments[0] !== "__svc__" && segments.every((segment) => !["", ".", ".."].includes(segment));
}
