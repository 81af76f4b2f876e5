import * as z from "zod";
import { toAccountIdentity } from "../contracts/account-name.ts";
import { LINK_PERMISSIONS } from "../contracts/links.ts";
import { accountSettingsSchema } from "../schemas/account.ts";

/** A link as it is kept: in its own token, or in the store. */
export type LinkRecord = z.infer<typeof recordSchema>;

const recordSchema = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{32}$/),
  username: z.string().min(1),
  /** The `uuid` of the account. Absent: it has none, so that its name identifies it. */
  uuid: z.string().min(1).exactOptional(),
  /** Present if no authentication method can look the account up: these settings count for the life of the link. */
  settings: accountSettingsSchema.exactOptional(),
  /** Segments below the account's root. */
  path: z.array(z.string().min(1)).readonly(),
  isFolder: z.boolean(),
  permissions: z.array(z.enum(LINK_PERMISSIONS)).min(1).readonly(),
  /** POSIX seconds. */
  created: z.int(),
  /** POSIX seconds. */
  expires: z.int(),
  /** A PHC string. */
  passwordHash: z.string().exactOptional(),
  maxUses: z.int().min(1).exactOptional(),
  maxFileBytes: z.int().min(1).exactOptional(),
  askName: z.literal(true).exactOptional(),
  label: z.string().exactOptional(),
});

/** What identifies an account: an account made again under the name of a deleted one is another one. */
export interface LinkAccount {
  readonly name: string;
  /** The name again if the account has no identifier of its own. */
  readonly uuid: string;
}

/** What a record has of the account that makes the link. */
export function toRecordedAccount({ name, uuid }: LinkAccount): Pick<LinkRecord, "username" | "uuid"> {
  return { username: name, ...(uuid !== name && { uuid }) };
}

/** Returns a function that says whether an account has made a link. */
export function isLinkOf(account: LinkAccount): (record: LinkRecord) => boolean {
  return ({ username: name, uuid = name }) => toAccountIdentity({ name, uuid }) === toAccountIdentity(account);
}

/** What a token has of a kept link: the rest is in the store. */
const referenceSchema = z.strictObject({ id: recordSchema.shape.id, expires: recordSchema.shape.expires });

/** The content of a token. */
export type LinkToken = z.infer<typeof tokenSchema>;

const tokenSchema = z.union([
  z.strictObject({ v: z.literal(1), kept: referenceSchema }),
  z.strictObject({ v: z.literal(1), free: recordSchema }),
]);

/** Parses the text of a token; `undefined` for a format that this version does not know. */
export function parseLinkToken(text: string): LinkToken | undefined {
  return parse(tokenSchema, text);
}

/** Parses the record of a kept link; `undefined` for a text that this module did not write. */
export function parseLinkRecord(text: string): LinkRecord | undefined {
  return parse(recordSchema, text);
}

function parse<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
