import { z } from "zod";

/** The commands of a folder that are built in (4.3). */
export const COMMANDS = ["delete", "create-folder", "create-folder-if-missing"] as const;

/** How many commands one request may hold, and how many targets they may have in all, unless the service says otherwise (CONTRACT 4.5). */
const MAX_TARGETS = 1000;

/** A built-in command on one member (4.3). */
const builtInSchema = z.strictObject({ command: z.enum(COMMANDS), target: z.string() });

/** A trigger of one of these names, on one member or several (4.3). */
function createTriggerSchema(names: readonly string[]) {
  return z.strictObject({ command: z.enum(names), target: z.union([z.string(), z.array(z.string()).min(1)]) });
}

/** The body of `POST /home/<folder>/` (4.3), where there are triggers of these names. */
export function createCommandsRequestSchema(triggers: readonly string[], maxTargets = MAX_TARGETS) {
  return z.strictObject({
    commands: z
      .array(triggers.length === 0 ? builtInSchema : z.union([builtInSchema, createTriggerSchema(triggers)]))
      .min(1)
      .max(maxTargets)
      .refine((commands) => countTargets(commands) <= maxTargets),
  });
}

/** What became of one target; `message` is null for a success (4.3). */
const outcomeSchema = z.strictObject({ target: z.string(), message: z.string().nullable() });

/** The 200 answer: every command succeeded (CONTRACT 4.5). */
export const commandsResponseSchema = z.strictObject({ results: z.array(outcomeSchema) });

/** The 422 answer: at least one command failed (4.3). */
export const commandsErrorSchema = z.strictObject({ errors: z.array(outcomeSchema) });

/** One command of a folder: built in, or a trigger. */
export type Command = BuiltInCommand | z.infer<ReturnType<typeof createTriggerSchema>>;
export type BuiltInCommand = z.infer<typeof builtInSchema>;
export type CommandOutcome = z.infer<typeof outcomeSchema>;

/** Whether a command is built in: any other is a trigger's. */
export function isBuiltInCommand(command: Command): command is BuiltInCommand {
  return (COMMANDS as readonly string[]).includes(command.command);
}

function countTargets(commands: readonly { readonly target: string | readonly string[] }[]): number {
  return commands.reduce((sum, { target }) => sum + (typeof target === "string" ? 1 : target.length), 0);
}
