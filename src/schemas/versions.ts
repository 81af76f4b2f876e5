import * as z from "zod";
import { createCommandsSchema, targetsSchema } from "./commands.ts";

/** What the commands of the versions of a file do. */
export const VERSION_COMMANDS = ["restore", "purge"] as const;
/** The actions of their form. */
export const VERSION_ACTIONS = ["restore-members", "purge-members"] as const;

/** A version of a file in a response. */
export const versionSchema = z.strictObject({
  id: z.string(),
  /** When this content was stored, in POSIX seconds. */
  modified: z.number(),
  /** Bytes. */
  size: z.int().min(0),
});

/** The JSON response of `GET /home/__svc__/versions`. */
export const versionListSchema = z.strictObject({ content: z.array(versionSchema) });

/** A command of the versions of a file. Its targets are IDs of versions. */
const commandSchema = z.strictObject({ command: z.enum(VERSION_COMMANDS), target: targetsSchema });

/** The body of `POST /home/__svc__/versions`. `maxTargets`: of all commands together. */
export function createVersionCommandsSchema(maxTargets: number) {
  return createCommandsSchema(commandSchema, maxTargets);
}

/** The form of the page. */
export const versionFormSchema = z.strictObject({
  action: z.enum(VERSION_ACTIONS),
  "selected-members": z.array(z.string()).exactOptional(),
});

/** A version of a file in a response. */
export type VersionBody = z.infer<typeof versionSchema>;
/** A command of the versions of a file. */
export type VersionCommand = z.infer<typeof commandSchema>;
