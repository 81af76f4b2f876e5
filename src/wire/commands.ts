import { z } from "zod";

/** How many commands one request may hold (CONTRACT 4.5). */
const MAX_COMMANDS = 1000;

/** One command of a folder; its target is the name of a member (4.3). */
const commandSchema = z.strictObject({
  command: z.enum(["delete", "create-folder", "create-folder-if-missing"]),
  target: z.string(),
});

/** The body of `POST /home/<folder>/` (4.3). */
export const commandsRequestSchema = z.strictObject({ commands: z.array(commandSchema).min(1).max(MAX_COMMANDS) });

/** What became of one target; `message` is null for a success (4.3). */
const outcomeSchema = z.strictObject({ target: z.string(), message: z.string().nullable() });

/** The 200 answer: every command succeeded (CONTRACT 4.5). */
export const commandsResponseSchema = z.strictObject({ results: z.array(outcomeSchema) });

/** The 422 answer: at least one command failed (4.3). */
export const commandsErrorSchema = z.strictObject({ errors: z.array(outcomeSchema) });

export type Command = z.infer<typeof commandSchema>;
export type CommandOutcome = z.infer<typeof outcomeSchema>;
