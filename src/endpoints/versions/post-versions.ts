import type { VersionDoneCode } from "../../contracts/pages/version-texts.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import { emptyReply, type Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { createVersionCommandsSchema, VERSION_ACTIONS, type VersionCommand } from "../../schemas/versions.ts";
import { acquireTransfer } from "../../transfers/too-many-transfers.ts";
import { postKept, readKeptForm } from "../folders/kept-commands.ts";
import { type MemberOutcome, outcomesReply, problemsReply, toCommonStatus } from "../folders/member-outcomes.ts";
import { versionsPage } from "./list-versions.ts";
import { requireVersions, toVersionListPath } from "./version-path.ts";

/**
 * `POST /home/__svc__/versions?path=<path>`: replaces a file by one of its versions, or removes versions for good, by
 * JSON commands or the form of the page.
 */
export async function postVersions(context: AccountContext): Promise<Reply> {
  requireVersions(context);
  acquireTransfer(context);
  return postKept(context, {
    toSchema: createVersionCommandsSchema,
    run: runCommands,
    runForm: postForm,
    toRefusal: () => createError("versions-media-type"),
  });
}

async function runCommands(
  context: AccountContext,
  commands: readonly VersionCommand[],
): Promise<readonly MemberOutcome[]> {
  const { segments, versions } = requireVersions(context);
  const { signal } = context.request;
  const outcomes: MemberOutcome[] = [];
  for (const { command, target } of commands) {
    for (const id of typeof target === "string" ? [target] : target) {
      try {
        const version = await versions.find(segments, id);
        if (version === undefined) throw new StorageError("not-found");
        await (command === "purge"
          ? versions.purge(segments, version)
          : versions.restore(segments, version, { signal }));
        outcomes.push({ target: id });
      } catch (error) {
        outcomes.push({ target: id, error: context.failureOf(error) });
      }
    }
  }
  return outcomes;
}

async function postForm(context: AccountContext): Promise<Reply> {
  const { action, selected: target } = await readKeptForm(context, VERSION_ACTIONS);
  if (target.length === 0) throw createError("items-missing");
  const command = action === "restore-members" ? "restore" : "purge";
  const outcomes = await runCommands(context, [{ command, target: [...target] }]);
  if (context.variant !== "html") return outcomesReply(context, outcomes);
  const problems = outcomes.flatMap(({ error }) => error ?? []);
  if (problems.length === 0) return redirectDone(context, command === "restore" ? "restored" : "purged");
  const status = toCommonStatus(problems);
  return problemsReply(context, status, problems, () => versionsPage(context, status, { problems }));
}

/** Leads to the page, so that a reload does not send the form again. */
function redirectDone(context: AccountContext, done: VersionDoneCode): Reply {
  const path = toVersionListPath(context.config.basePath, requireVersions(context).segments);
  return emptyReply(303, { Location: `${path}&done=${done}` });
}
