import * as z from "zod";
import { accountSettingsSchema } from "../../schemas/account.ts";
import { toStoreKey } from "../store.ts";

/** A session as the store keeps it. */
export type StoredSession = z.infer<typeof storedSessionSchema>;
/** The record of an account's last password change. */
export type StoredGeneration = z.infer<typeof storedGenerationSchema>;

const storedSessionSchema = z.strictObject({
  username: z.string().min(1),
  settings: accountSettingsSchema,
  created: z.number(),
  seen: z.number(),
  generation: z.string().exactOptional(),
  /**
   * The account's versions at login and after each password change since. The session is valid while one of them is
   * current. Absent if the authentication method gives no versions.
   */
  versions: z.array(z.string()).exactOptional(),
});

/** Marks that a password change ended the account's earlier sessions. Kept for as long as one of these could live. */
const storedGenerationSchema = z.strictObject({
  generation: z.string(),
  /** The key of the session that stays valid after the change. Absent if none does. */
  kept: z.string().exactOptional(),
});

/** Parses a session's text; `undefined` for text that this module did not write. */
export function parseSession(text: string): StoredSession | undefined {
  try {
    return storedSessionSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Parses the record of a password change; `undefined` for anything else. */
export function parseGeneration(stored: unknown): StoredGeneration | undefined {
  return stored === undefined ? undefined : storedGenerationSchema.safeParse(stored).data;
}

/** Returns the key of a session. A reader of the store cannot derive the ID, and so cannot log in with it. */
export function toSessionKey(id: string): string {
  return toStoreKey("session", id);
}

/** Returns the key of an account's last password change. */
export function toGenerationKey(username: string): string {
  return toStoreKey("generation", username);
}

/** Returns the key of a session's end marker. */
export function toEndKey(sessionKey: string): string {
  return `ended-${sessionKey}`;
}
