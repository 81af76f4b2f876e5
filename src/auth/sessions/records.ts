import { z } from "zod";
import { accountSettingsSchema } from "../../schemas/account.ts";
import { toStoreKey } from "../store.ts";

/** A session as the store has it. */
export type StoredSession = z.infer<typeof storedSessionSchema>;
/** The record of an account's last change of password. */
export type StoredGeneration = z.infer<typeof storedGenerationSchema>;

const storedSessionSchema = z.strictObject({
  username: z.string().min(1),
  settings: accountSettingsSchema,
  created: z.number(),
  seen: z.number(),
  generation: z.string().exactOptional(),
  /** One of them must be the account's: that of the login, and those of changes of password since. Absent: its method has none. */
  versions: z.array(z.string()).exactOptional(),
});

/** What a change of password leaves for the account's sessions, kept for as long as one of them could live. */
const storedGenerationSchema = z.strictObject({
  generation: z.string(),
  /** Key of the one session that outlives the change. Absent: none does. */
  kept: z.string().exactOptional(),
});

/** Reads a session's text: what is not what we have written is none. */
export function parseSession(text: string): StoredSession | undefined {
  try {
    return storedSessionSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Reads the record of a change of password; `undefined` for what is none. */
export function parseGeneration(stored: unknown): StoredGeneration | undefined {
  return stored === undefined ? undefined : storedGenerationSchema.safeParse(stored).data;
}

/** The key of a session: whoever reads the store learns no ID to log in with. */
export function toSessionKey(id: string): string {
  return toStoreKey("session", id);
}

/** The key of an account's last change of password. */
export function toGenerationKey(username: string): string {
  return toStoreKey("generation", username);
}

/** The key of the mark that a session is ended. */
export function toEndKey(sessionKey: string): string {
  return `ended-${sessionKey}`;
}
