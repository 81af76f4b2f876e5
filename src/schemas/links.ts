import * as z from "zod";
import { LINK_PERMISSIONS } from "../contracts/links.ts";

const MAX_PASSWORD_BYTES = 1024;
const MAX_LABEL_CHARACTERS = 200;

/** What a request describes a new link by, without its path (SHARING 3). An unknown member is an error. */
export const linkOptionsSchema = z.strictObject({
  permissions: z
    .array(z.enum(LINK_PERMISSIONS, "must have known permissions"))
    .min(1, "must have at least one permission")
    .exactOptional(),
  expires_in: z.int("must be a whole number of seconds").min(1, "must be at least 1").exactOptional(),
  password: z
    .string()
    .min(1, "must not be empty")
    .refine((text) => new TextEncoder().encode(text).byteLength <= MAX_PASSWORD_BYTES, "must have at most 1024 bytes")
    .refine((text) => !text.includes("\0"), "must not contain NUL")
    .exactOptional(),
  max_uses: z.int("must be a whole number").min(1, "must be at least 1").max(1_000_000).exactOptional(),
  max_file_bytes: z.int("must be a whole number of bytes").min(1, "must be at least 1").exactOptional(),
  ask_name: z.boolean().exactOptional(),
  label: z
    .string()
    .refine((text) => [...text].length <= MAX_LABEL_CHARACTERS, `must have at most ${MAX_LABEL_CHARACTERS} characters`)
    .exactOptional(),
});

/** What a request describes a new link by. */
export const newLinkSchema = linkOptionsSchema.extend({ path: z.string().startsWith("/", "must begin with /") });

/** The form of the page, which has the same fields, and that of the button which withdraws all links. */
export const linkFormSchema = newLinkSchema
  .partial({ path: true })
  .extend({ action: z.literal("withdraw-all").exactOptional() });

/** The form that withdraws one link. */
export const withdrawFormSchema = z.strictObject({ action: z.literal("withdraw") });

/** The form that sends the password of a link. */
export const unlockFormSchema = z.strictObject({ password: z.string() });

/** A link in a response (SHARING 3.2). */
export const linkSchema = z.strictObject({
  id: z.string(),
  path: z.string(),
  is_directory: z.boolean(),
  url: z.string(),
  file_url: z.string().nullable(),
  permissions: z.array(z.enum(LINK_PERMISSIONS)).readonly(),
  created: z.int(),
  expires: z.int(),
  has_password: z.boolean(),
  uses: z.int(),
  max_uses: z.int().nullable(),
  max_file_bytes: z.int().nullable(),
  ask_name: z.boolean(),
  label: z.string(),
});

/** The response to a new link. */
export const linkResultsSchema = z.strictObject({ results: z.array(linkSchema) });

/** The links of an account. */
export const linkListSchema = z.strictObject({ content: z.array(linkSchema) });

/** What a request describes a new link by, without its path. */
export type LinkOptionsBody = z.infer<typeof linkOptionsSchema>;
/** What a request describes a new link by. */
export type NewLinkBody = z.infer<typeof newLinkSchema>;
/** A link in a response. */
export type LinkBody = z.infer<typeof linkSchema>;

/** Says in a few words what is wrong with the description of a link. It quotes no value: one is a password. */
export function describeLinkProblem({ issues: [issue] }: z.ZodError): string {
  if (issue === undefined) return "it is invalid";
  if (issue.code === "unrecognized_keys") return "it has an unknown member";
  const name = issue.path[0];
  return name === undefined
    ? "it is no object"
    : `${String(name)} ${/^must /.test(issue.message) ? issue.message : "is invalid"}`;
}
