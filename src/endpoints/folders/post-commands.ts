import type { Triggers } from "../../config/trigger-config.ts";
import { createError } from "../../http/errors.ts";
import type { HttpError } from "../../http/http-error.ts";
import { prefersDryRun } from "../../http/preferences.ts";
import type { Reply } from "../../http/reply.ts";
import { readJsonBody } from "../../http/request-body.ts";
import { memoize } from "../../platform/memoize.ts";
import type { AccountContext } from "../../request/context.ts";
import {
  type Command,
  createCommandsRequestSchema,
  isLinkCommand,
  isMemberCommand,
  isVisitorCommand,
  type LinkCommand,
  type MemberCommand,
} from "../../schemas/commands.ts";
import type { LinkBody } from "../../schemas/links.ts";
import { countBody } from "../../transfers/held-bodies.ts";
import { isInDropFolder } from "../../transfers/links/drop-folder.ts";
import { addSenderFromHeader, asksForSender } from "../../transfers/links/sent-file.ts";
import { readSender } from "../../uploads/sender.ts";
import { createHashOnce, type LinkTools } from "../links/make-link.ts";
import { checkOwnLink, describeLink, hasSharing, makeOwnLink, requireLinks } from "../links/own-links.ts";
import { runOnce } from "../repeats/run-once.ts";
import { chooseMember } from "./choose-member.ts";
import { copyOrMoveMember, toDestination } from "./copy-or-move-member.ts";
import { runDry } from "./dry-run.ts";
import { makeFolder, requireFolder } from "./make-folder.ts";
import { attempt, type MemberOutcome, outcomesReply } from "./member-outcomes.ts";
import { ownTriggers, runTrigger } from "./run-trigger.ts";

/**
 * `POST /home/<folder>/` with a JSON body: runs folder commands in order (4.3, CONTRACT 4.5). All of them are checked
 * before the first one runs. A failure does not stop the following ones.
 */
export async function postCommands(context: AccountContext): Promise<Reply> {
  const { request, config } = context;
  const { maxJsonBytes, maxCommands } = config.limits;
  const triggers = ownTriggers(context);
  const toTooLarge = (): HttpError => toMalformed(maxCommands);
  const body = await readJsonBody(request, {
    maxBytes: maxJsonBytes,
    maxMembers: maxCommands,
    toTooLarge,
    ...countBody(context),
  });
  const commands = parseCommands(body, triggers, maxCommands, hasSharing(context));
  // A link neither moves nor has triggers or links of its own (SHARING 1.3).
  const isUnknown = context.link !== undefined && !commands.every(({ command }) => isVisitorCommand(command));
  if (isUnknown) throw toMalformed(maxCommands);
  if (prefersDryRun(request)) return runDry(context, (own) => runCommands(own, commands, triggers, true));
  return runOnce(context, body, (own) => runCommands(own, commands, triggers));
}

async function runCommands(
  context: AccountContext,
  commands: readonly Command[],
  triggers: Triggers,
  isDryRun = false,
): Promise<Reply> {
  await requireFolder(context);
  if (asksForSender(context) && commands.some(({ command }) => command === "copy")) readSender(context.request.headers);

  const hash = createHashOnce((password) => requireLinks(context).hasher.hash(password));
  const making: LinkMaking = { hash, ...(isDryRun && { checked: 0 }) };
  const outcomes: MemberOutcome[] = [];
  for (const command of commands) {
    const targets = typeof command.target === "string" ? [command.target] : command.target;
    const results = isLinkCommand(command)
      ? createLinks(context, targets, making, command.options)
      : runOnTargets(context, command, targets, { triggers, isDryRun });
    outcomes.push(...(await results));
  }
  return outcomesReply(context, outcomes);
}

const NAMES_SEPARATOR = " ";
const HAS_LINKS = "links";
/** Enough for some thousand triggers. Making a schema for each request would cost more than the request itself. */
const MAX_NAMES_CHARACTERS = 100_000;
const toSchema = memoize(
  (key) => {
    const [maxTargets, links, ...triggers] = key.split(NAMES_SEPARATOR);
    return createCommandsRequestSchema({ triggers, maxTargets: Number(maxTargets), hasLinks: links === HAS_LINKS });
  },
  { maxCharacters: MAX_NAMES_CHARACTERS },
);

/** Parses the body. A trigger that the account does not have is as unknown as any other name. */
function parseCommands(body: unknown, triggers: Triggers, maxCommands: number, hasLinks: boolean): readonly Command[] {
  const links = hasLinks ? HAS_LINKS : "";
  const parsed = toSchema([maxCommands, links, ...triggers.keys()].join(NAMES_SEPARATOR)).safeParse(body);
  if (!parsed.success) throw toMalformed(maxCommands);
  return parsed.data.commands;
}

/** Also the error for a body that is too large for the schema: most likely its list of commands is too long. */
function toMalformed(maxCommands: number): HttpError {
  return createError("commands-malformed", { values: { max: maxCommands } });
}

/** What a command needs in addition to its target. */
interface CommandTools {
  readonly triggers: Triggers;
  readonly isDryRun: boolean;
  /** Called with the ID of the entry if the target was moved to the trash. */
  readonly onTrashed: (id: string) => void;
}

/** Runs a command on each of its targets. A failure does not stop the following ones. */
async function runOnTargets(
  context: AccountContext,
  command: Exclude<Command, LinkCommand>,
  targets: readonly string[],
  tools: Omit<CommandTools, "onTrashed">,
): Promise<readonly MemberOutcome[]> {
  const outcomes: MemberOutcome[] = [];
  for (const target of targets) {
    let entry: Pick<MemberOutcome, "trash"> = {};
    const onTrashed = (trash: string): void => {
      // Below a link there is no trash to restore it from, and the entry of a dry run is not there.
      if (context.link === undefined && !tools.isDryRun) entry = { trash };
    };
    const outcome = await attempt(context, target, () => run(context, command, target, { ...tools, onTrashed }));
    outcomes.push({ ...outcome, ...entry });
  }
  return outcomes;
}

async function run(
  context: AccountContext,
  command: Exclude<Command, LinkCommand>,
  target: string,
  tools: CommandTools,
): Promise<void> {
  if (isMemberCommand(command)) return runBuiltIn(context, command, target, tools);
  const { triggers, isDryRun } = tools;
  const trigger = triggers.get(command.command);
  if (isDryRun) await chooseMember(context, target);
  else if (trigger !== undefined) await runTrigger(context, command.command, trigger, target);
}

/** How the links of a request are made: the same object for all of its commands. */
interface LinkMaking extends Pick<LinkTools, "hash"> {
  /** How many links a dry run would have made so far. Absent: it is none. */
  checked?: number;
}

/** Makes a link to each of some members, or only checks it. */
async function createLinks(
  context: AccountContext,
  targets: readonly string[],
  making: LinkMaking,
  options: LinkCommand["options"] = {},
): Promise<readonly MemberOutcome[]> {
  const outcomes: MemberOutcome[] = [];
  for (const target of targets) {
    let link: LinkBody | undefined;
    const outcome = await attempt(context, target, async () => {
      const path = [...context.path.segments, target];
      const { hash, checked } = making;
      if (checked !== undefined) {
        await checkOwnLink(context, path, options, { hash, checkedAfter: checked });
        making.checked = checked + 1;
        return;
      }
      const made = await makeOwnLink(context, path, options, hash);
      link = await describeLink(context, made);
    });
    outcomes.push(link === undefined ? outcome : { ...outcome, link });
  }
  return outcomes;
}

async function runBuiltIn(
  context: AccountContext,
  command: MemberCommand,
  target: string,
  { onTrashed }: Pick<CommandTools, "onTrashed">,
): Promise<void> {
  const { files, path } = context;
  const member = [...path.segments, target];
  switch (command.command) {
    case "move":
    case "copy": {
      const to = toDestination(path.segments, target, command.destination);
      const own = command.command === "copy" ? addSenderFromHeader(context, to) : to;
      return copyOrMoveMember(context, command.command, target, own, command.overwrite);
    }
    case "delete":
    case "purge": {
      const permanent = command.command === "purge";
      return files.remove(member, "any", permanent ? { permanent } : { onTrashed });
    }
    case "create-folder":
      return makeFolder(context, member);
    case "create-folder-if-missing":
      if (isInDropFolder(context)) await makeFolder(context, member);
      else await files.createFolderIfMissing(member);
  }
}
