import * as z from "zod";
import { linkOptionsSchema, linkSchema } from "./links.ts";

/** The built-in commands that need only a member of a folder (4.3). */
const MEMBER_COMMANDS = ["delete", "purge", "create-folder", "create-folder-if-missing"] as const;

/** The built-in commands that copy or move a member of a folder. */
const COPY_OR_MOVE_COMMANDS = ["move", "copy"] as const;

/** The command that makes links to members of a folder, if the service has links. */
const LINK_COMMAND = "create-link";

/** The built-in commands that exist below a link (SHARING 1.3). */
const VISITOR_COMMANDS: readonly string[] = ["delete", "create-folder", "create-folder-if-missing", "copy"];

/** All built-in commands. */
export const COMMANDS = [...MEMBER_COMMANDS, ...COPY_OR_MOVE_COMMANDS, LINK_COMMAND] as const;

/**
 * Maximum number of commands in one request, and of all their targets, unless the service has another limit (CONTRACT
 * 4.5).
 */
const MAX_TARGETS = 1000;

/** One or more targets of a command. */
export const targetsSchema = z.union([z.string(), z.array(z.string()).min(1)]);

/** A built-in command on one member (4.3). */
const memberSchema = z.strictObject({ command: z.enum(MEMBER_COMMANDS), target: z.string() });

/**
 * A copy or a move of one member. `destination` is a decoded path: with a leading `/` from the account's root,
 * otherwise from the addressed folder. With a `/` at its end it is the folder for the member, which keeps its name.
 */
const copyOrMoveSchema = z.strictObject({
  command: z.enum(COPY_OR_MOVE_COMMANDS),
  target: z.string(),
  destination: z.string(),
  /** Whether the member replaces what is at its new path. */
  overwrite: z.boolean().default(false),
});

/** A new link to one or more members, each of them as the options say (SHARING 3.5). */
const linkCommandSchema = z.strictObject({
  command: z.literal(LINK_COMMAND),
  target: targetsSchema,
  options: linkOptionsSchema.exactOptional(),
});

/** A trigger with one of these names, on one or more members (4.3). */
function createTriggerSchema(names: readonly string[]) {
  return z.strictObject({ command: z.enum(names), target: targetsSchema });
}

/** The body of a request with commands of one kind. `maxTargets`: of all commands together. */
export function createCommandsSchema<T extends z.ZodType<{ readonly target: string | readonly string[] }>>(
  command: T,
  maxTargets: number,
) {
  return z.strictObject({
    commands: z
      .array(command)
      .min(1)
      .max(maxTargets)
      .refine((commands) => countTargets(commands) <= maxTargets),
  });
}

/** What decides on the commands of a service. */
export interface CommandsOptions {
  /** The names of its triggers. */
  readonly triggers: readonly string[];
  /** Default: 1,000. */
  readonly maxTargets?: number;
  /** Whether it has links. Default: false. */
  readonly hasLinks?: boolean;
}

/** The body of `POST /home/<folder>/` (4.3). */
export function createCommandsRequestSchema({ triggers, maxTargets = MAX_TARGETS, hasLinks = false }: CommandsOptions) {
  const command = z.union([
    memberSchema,
    copyOrMoveSchema,
    ...(hasLinks ? [linkCommandSchema] : []),
    ...(triggers.length === 0 ? [] : [createTriggerSchema(triggers)]),
  ]);
  return createCommandsSchema(command, maxTargets);
}

/** The result for one target; `message` is `null` if the command succeeded (4.3). */
const outcomeSchema = z.strictObject({ target: z.string(), message: z.string().nullable() });

/** The body of a 200 response: every command succeeded (CONTRACT 4.5). */
export const commandsResponseSchema = z.strictObject({ results: z.array(outcomeSchema) });

/** The body of a 422 response: at least one command failed (4.3). */
export const commandsErrorSchema = z.strictObject({ errors: z.array(outcomeSchema) });

/** A link that was made. Only services with links have it. */
const withLink = { link: linkSchema.exactOptional() };
/** The ID of the entry in the trash, if the target was moved there. Only services with a trash have it. */
const withTrash = { trash: z.string().exactOptional() };
const completeOutcomeSchema = outcomeSchema.extend({ ...withLink, ...withTrash });

/** Creates the bodies of the responses of a service that may have links and a trash: 200, and 422. */
export function createOutcomeSchemas({ hasLinks, hasTrash }: { hasLinks: boolean; hasTrash: boolean }) {
  const outcome = outcomeSchema.extend({ ...(hasLinks && withLink), ...(hasTrash && withTrash) });
  return {
    CommandResults: z.strictObject({ results: z.array(outcome) }),
    CommandErrors: z.strictObject({ errors: z.array(outcome) }),
  };
}

/** One command of a folder: a built-in one, or a trigger. */
export type Command = BuiltInCommand | z.infer<ReturnType<typeof createTriggerSchema>>;
export type BuiltInCommand = MemberCommand | LinkCommand;
/** A built-in command that changes one member. */
export type MemberCommand = z.infer<typeof memberSchema> | CopyOrMoveCommand;
export type CopyOrMoveCommand = z.infer<typeof copyOrMoveSchema>;
export type LinkCommand = z.infer<typeof linkCommandSchema>;
export type CommandOutcome = z.infer<typeof completeOutcomeSchema>;

/** Whether a command makes links. */
export function isLinkCommand(command: Command): command is LinkCommand {
  return command.command === LINK_COMMAND;
}

/** Whether another command is built in; if not, it is a trigger. */
export function isMemberCommand(command: Exclude<Command, LinkCommand>): command is MemberCommand {
  return (COMMANDS as readonly string[]).includes(command.command);
}

/** Whether a command exists below a link. */
export function isVisitorCommand(command: string): boolean {
  return VISITOR_COMMANDS.includes(command);
}

function countTargets(commands: readonly { readonly target: string | readonly string[] }[]): number {
  return commands.reduce((sum, { target }) => sum + (typeof target === "string" ? 1 : target.length), 0);
}
