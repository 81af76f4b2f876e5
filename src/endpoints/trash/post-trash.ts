import type { AccountTrash, AccountTrashEntry } from "../../account/account-trash.ts";
import type { TrashDoneCode } from "../../contracts/pages/trash-texts.ts";
import { hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import { isMemberName } from "../../http/path-segment.ts";
import { emptyReply, type Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { createTrashCommandsSchema, TRASH_ACTIONS, type TrashCommand } from "../../schemas/trash.ts";
import { acquireTransfer } from "../../transfers/too-many-transfers.ts";
import { postKept, readKeptForm } from "../folders/kept-commands.ts";
import { type MemberOutcome, outcomesReply, problemsReply, toCommonStatus } from "../folders/member-outcomes.ts";
import { requireTrash, trashPage } from "./list-trash.ts";
import { toTrashPath } from "./trash-path.ts";

/** `POST /home/__svc__/trash`: restores entries or removes them for good, by JSON commands or the form of the page. */
export async function postTrash(context: AccountContext): Promise<Reply> {
  requireTrash(context);
  acquireTransfer(context);
  return postKept(context, {
    toSchema: createTrashCommandsSchema,
    run: async (own, commands) => (await runCommands(own, commands)).map(toOutcome),
    runForm: postForm,
    toRefusal: () => createError("trash-media-type"),
  });
}

/**
 * `DELETE /home/__svc__/trash`: removes everything for good that the account sees and may remove. If it may not remove
 * something, that stays, and the response is 403.
 */
export async function emptyTrash(context: AccountContext): Promise<Reply> {
  const trash = requireTrash(context);
  acquireTransfer(context);
  await purgeAll(trash);
  return emptyReply(204);
}

async function purgeAll(trash: AccountTrash): Promise<void> {
  let refusal: unknown;
  for await (const entry of trash.list()) {
    try {
      await trash.purge(entry);
    } catch (error) {
      // Another request may have ended it.
      if (hasCode(error, "not-found")) continue;
      if (!isHttpError(error) || error.failure !== "denied") throw error;
      refusal = error;
    }
  }
  if (refusal !== undefined) throw refusal;
}

/** The result for one target. */
interface TrashOutcome extends MemberOutcome {
  /** Absent: the account sees no such entry. */
  readonly entry?: AccountTrashEntry | undefined;
}

function toOutcome({ target, error }: TrashOutcome): MemberOutcome {
  return error === undefined ? { target } : { target, error };
}

/**
 * Runs commands in order. A failure does not stop the following ones. One walk finds all of their entries, unless they
 * say where each was.
 */
async function runCommands(
  context: AccountContext,
  commands: readonly TrashCommand[],
): Promise<readonly TrashOutcome[]> {
  const trash = requireTrash(context);
  const ids = commands.flatMap(({ target }) => target);
  const entries = await trash.find(ids, new Map(commands.flatMap(toFormerPath)));
  const outcomes: TrashOutcome[] = [];
  for (const { command, target, to } of commands) {
    for (const id of typeof target === "string" ? [target] : target) {
      const entry = entries.get(id);
      try {
        if (entry === undefined) throw new StorageError("not-found");
        await (command === "purge" ? trash.purge(entry) : trash.restore(entry, to === undefined ? to : toSegments(to)));
        outcomes.push({ target: id, entry });
      } catch (error) {
        outcomes.push({ target: id, entry, error: context.failureOf(error) });
      }
    }
  }
  return outcomes;
}

/** Where the entry of a command was, if it says so. Only a path that can be one helps to find the entry. */
function toFormerPath({ target, from }: TrashCommand): readonly (readonly [id: string, path: readonly string[]])[] {
  if (from === undefined || typeof target !== "string") return [];
  const names = toNames(from);
  return names.every(isMemberName) ? [[target, names]] : [];
}

/** The names of a decoded path. @throws HttpError `malformed` */
function toSegments(path: string): readonly string[] {
  const segments = toNames(path);
  if (!segments.every(isMemberName)) throw createError("path-invalid");
  return segments;
}

/** A `/` at the end is left out. */
function toNames(path: string): readonly string[] {
  return path.replace(/\/$/, "").split("/").slice(1);
}

async function postForm(context: AccountContext): Promise<Reply> {
  const { action, selected: target } = await readKeptForm(context, TRASH_ACTIONS);
  if (action === "purge-all") {
    await purgeAll(requireTrash(context));
    return redirectDone(context, "emptied");
  }
  if (target.length === 0) throw createError("items-missing");
  const command = action === "restore-members" ? "restore" : "purge";
  const outcomes = await runCommands(context, [{ command, target: [...target] }]);
  const failed = outcomes.flatMap(({ target: id, entry, error }) =>
    error === undefined ? [] : [{ name: entry?.segments.at(-1) ?? id.slice(0, 64), error }],
  );
  if (context.variant !== "html") return outcomesReply(context, outcomes.map(toOutcome));
  if (failed.length === 0) return redirectDone(context, command === "restore" ? "restored" : "purged");
  const errors = failed.map(({ error }) => error);
  const status = toCommonStatus(errors);
  return problemsReply(context, status, errors, () => trashPage(context, status, { problems: failed }));
}

/** Leads to the page, so that a reload does not send the form again. */
function redirectDone({ config }: AccountContext, done: TrashDoneCode): Reply {
  return emptyReply(303, { Location: `${toTrashPath(config.basePath)}?done=${done}` });
}
