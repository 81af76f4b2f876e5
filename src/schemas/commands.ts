import * as z from "zod";

/** The built-in commands of a folder (4.3). */
export const COMMANDS = ["delete", "create-folder", "create-folder-if-missing"] as const;

/**
 * Maximum number of commands in one request, and of all their targets, unless the service has another limit (CONTRACT
 * 4.5).
 */
const MAX_TARGETS = 1000;

/** A built-in command on one member (4.3). */
const builtInSchema = z.strictObject({ command: z.enum(COMMANDS), target: z.string() });

/** A trigger with one of these names, on one or more members (4.3). */
function createTriggerSchema(names: readonly string[]) {
  return z.strictObject({ command: z.enum(names), target: z.union([z.string(), z.array(z.string()).min(1)]) });
}

/** The body of `POST /home/<folder>/` (4.3), for a service with triggers of these names. */
export function createCommandsRequestSchema(triggers: readonly string[], maxTargets = MAX_TARGETS) {
  return z.strictObject({
    commands: z
      .array(triggers.length === 0 ? builtInSchema : z.union([builtInSchema, createTriggerSchema(triggers)]))
      .min(1)
      .max(maxTargets)
      .refine((commands) => countTargets(commands) <= maxTargets),
  });
}

/** The result for one target; `message` is `null` if the command succeeded (4.3). */
const outcomeSchema = z.strictObject({ target: z.string(), message: z.string().nullable() });

/** The body of a 200 response: every command succeeded (CONTRACT 4.5). */
export const commandsResponseSchema = z.strictObject({ results: z.array(outcomeSchema) });

/** The body of a 422 response: at least one command failed (4.3). */
export const commandsErrorSchema = z.strictObject({ errors: z.array(outcomeSchema) });

/** One command of a folder: a built-in one, or a trigger. */
export type Command = BuiltInCommand | z.infer<ReturnType<typeof createTriggerSchema>>;
export type BuiltInCommand = z.infer<typeof builtInSchema>;
export type CommandOutcome = z.infer<typeof outcomeSchema>;

/** Whether a command is built in; any other command is a trigger. */
export function isBuiltInCommand(command: Command): command is BuiltInCommand {
  return (COMMANDS as readonly string[]).includes(command.command);
}

function countTargets(commands: readonly { readonly target: string | readonly string[] }[]): number {
  return commands.reduce((sum, { target }) => sum + (typeof target === "string" ? 1 : target.length), 0);
}
