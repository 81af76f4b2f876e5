import type { Triggers } from "../../config/trigger-config.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { HttpError } from "../../http/http-error.ts";
import type { Reply } from "../../http/reply.ts";
import { readJsonBody } from "../../http/request-body.ts";
import { memoize } from "../../platform/memoize.ts";
import type { AccountContext } from "../../request/context.ts";
import {
  type BuiltInCommand,
  type Command,
  createCommandsRequestSchema,
  isBuiltInCommand,
} from "../../schemas/commands.ts";
import { tooManyTransfers } from "../../transfers/too-many-transfers.ts";
import { attemptAll, type MemberOutcome, toOutcomesReply } from "./member-outcomes.ts";
import { ownTriggers, runTrigger } from "./run-trigger.ts";
import { toDestination, transferMember } from "./transfer-member.ts";

/**
 * `POST /home/<folder>/` with a JSON body: runs folder commands in order (4.3, CONTRACT 4.5). All of them are checked
 * before the first one runs. A failure does not stop the following ones.
 */
export async function postCommands(context: AccountContext): Promise<Reply> {
  const { request, path, files, config } = context;
  const { maxJsonBytes, maxCommands } = config.limits;
  const triggers = ownTriggers(context);
  const toTooLarge = (): HttpError => toMalformed(maxCommands);
  const body = await readJsonBody(request, {
    maxBytes: maxJsonBytes,
    maxMembers: maxCommands,
    toTooLarge,
    onAnnounced,
    onLarge,
  });
  const commands = parseCommands(body, triggers, maxCommands);
  if ((await files.kindOf(path.segments)) !== "folder") throw new StorageError("not-found");

  const outcomes: MemberOutcome[] = [];
  for (const command of commands) {
    const targets = typeof command.target === "string" ? [command.target] : command.target;
    outcomes.push(...(await attemptAll(context, targets, (target) => run(context, triggers, command, target))));
  }
  return toOutcomesReply(outcomes);

  /**
   * Rejects a body before it is read if there are not enough permits for its announced length. Acquires no permits for
   * this length: otherwise idle clients could take all of them.
   */
  function onAnnounced(bytes: number): void {
    if (!context.transferPermit.canAcquire(toPermits(bytes))) onLarge(bytes);
  }

  /**
   * Counts a large body among the transfers, because it is held in memory: this bounds the memory of all bodies
   * together.
   */
  function onLarge(bytes: number): void {
    if (!context.transferPermit.acquire(toPermits(bytes))) throw tooManyTransfers();
  }
}

/** How many bytes of a body in memory count as one transfer. No other transfer holds more. */
const BYTES_PER_PERMIT = 64 * 1024;

function toPermits(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_PERMIT);
}

const NAMES_SEPARATOR = " ";
/** Enough for some thousand triggers. Making a schema for each request would cost more than the request itself. */
const MAX_NAMES_CHARACTERS = 100_000;
const toSchema = memoize(
  (key) => {
    const [maxCommands, ...names] = key.split(NAMES_SEPARATOR);
    return createCommandsRequestSchema(names, Number(maxCommands));
  },
  { maxCharacters: MAX_NAMES_CHARACTERS },
);

/** Parses the body. A trigger that the account does not have is as unknown as any other name. */
function parseCommands(body: unknown, triggers: Triggers, maxCommands: number): readonly Command[] {
  const parsed = toSchema([maxCommands, ...triggers.keys()].join(NAMES_SEPARATOR)).safeParse(body);
  if (!parsed.success) throw toMalformed(maxCommands);
  return parsed.data.commands;
}

/** Also the error for a body that is too large for the schema: most likely its list of commands is too long. */
function toMalformed(maxCommands: number): HttpError {
  return createError("commands-malformed", { values: { max: maxCommands } });
}

async function run(context: AccountContext, triggers: Triggers, command: Command, target: string): Promise<void> {
  if (isBuiltInCommand(command)) return runBuiltIn(context, command, target);
  const trigger = triggers.get(command.command);
  if (trigger !== undefined) await runTrigger(context, command.command, trigger, target);
}

async function runBuiltIn(context: AccountContext, command: BuiltInCommand, target: string): Promise<void> {
  const { files, path } = context;
  const member = [...path.segments, target];
  switch (command.command) {
    case "move":
    case "copy":
      return transferMember(
        context,
        command.command,
        target,
        toDestination(path.segments, target, command.destination),
        command.overwrite,
      );
    case "delete":
      return files.remove(member, "any");
    case "create-folder":
      return files.createFolder(member);
    case "create-folder-if-missing":
      await files.createFolderIfMissing(member);
  }
}
