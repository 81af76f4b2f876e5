import * as z from "zod";
import { createCommandsSchema, targetsSchema } from "./commands.ts";

/** What the commands of the trash do. */
export const TRASH_COMMANDS = ["restore", "purge"] as const;
/** The actions of its form. */
export const TRASH_ACTIONS = ["restore-members", "purge-members", "purge-all"] as const;

/** An entry of the trash in a response. */
export const trashEntrySchema = z.strictObject({
  id: z.string(),
  /** Where it was, below the account's root. */
  path: z.string(),
  name: z.string(),
  is_directory: z.boolean(),
  /** Bytes; 0 for folders. */
  size: z.int().min(0),
  /** POSIX seconds. */
  removed: z.number(),
});

/** The JSON response of `GET /home/__svc__/trash`. */
export const trashListSchema = z.strictObject({ content: z.array(trashEntrySchema) });

/** A command of the trash. Its targets are IDs of entries. */
const commandSchema = z
  .strictObject({
    command: z.enum(TRASH_COMMANDS),
    target: targetsSchema,
    /** The `path` of one entry: it is found without a search through the trash. */
    from: z.string().startsWith("/").exactOptional(),
    /** Another path for one entry that is restored. */
    to: z.string().startsWith("/").exactOptional(),
  })
  .refine(({ target, from, to }) => (from === undefined && to === undefined) || typeof target === "string")
  .refine(({ command, to }) => to === undefined || command === "restore");

/** The body of `POST /home/__svc__/trash`. `maxTargets`: of all commands together. */
export function createTrashCommandsSchema(maxTargets: number) {
  return createCommandsSchema(commandSchema, maxTargets);
}

/** The form of the page. */
export const trashFormSchema = z.strictObject({
  action: z.enum(TRASH_ACTIONS),
  "selected-members": z.array(z.string()).exactOptional(),
});

/** An entry of the trash in a response. */
export type TrashBody = z.infer<typeof trashEntrySchema>;
/** A command of the trash. */
export type TrashCommand = z.infer<typeof commandSchema>;
