import { createError } from "../../http/errors.ts";
import type { HttpError } from "../../http/http-error.ts";
import { isMemberName } from "../../http/path-segment.ts";
import type { AccountContext } from "../../request/context.ts";
import { createSenderNaming } from "../../transfers/links/sent-file.ts";
import { FORM_ACTIONS, type FormFields, SHARE_ACTION } from "../../uploads/form.ts";
import type { FormUpload } from "../../uploads/form-files.ts";
import { parseSender } from "../../uploads/sender.ts";
import { hasSharing } from "../links/own-links.ts";
import { copyOrMoveMember, toDestinationIn } from "./copy-or-move-member.ts";
import { makeFolder } from "./make-folder.ts";
import { attemptAll, type MemberOutcome } from "./member-outcomes.ts";
import { ownTriggers, runTrigger } from "./run-trigger.ts";

/** A form that was read to its end. */
export interface ReceivedForm extends FormFields {
  /** The results of its files, if the action stores files. */
  readonly uploads: readonly FormUpload[];
}

/** What a form may do below a link (SHARING 1.3). */
const LINK_ACTIONS: readonly string[] = [
  "create-folder",
  "upload-file",
  "delete-members",
  "download-members",
  "copy-members",
] satisfies readonly (typeof FORM_ACTIONS)[number][];

/**
 * Returns a function that decides whether an action exists. Below a link it throws HttpError `link-action-unsupported`
 * for one that does not.
 */
export function createActionCheck(context: AccountContext): (action: string) => boolean {
  const actions: ReadonlySet<string> = new Set([
    ...FORM_ACTIONS,
    ...(hasSharing(context) ? [SHARE_ACTION] : []),
    ...ownTriggers(context).keys(),
  ]);
  if (context.link === undefined) return (action) => actions.has(action);
  return (action) => {
    if (!LINK_ACTIONS.includes(action)) throw createError("link-action-unsupported");
    return true;
  };
}

/** What the user has forgotten in the form. */
export function findOmission(form: ReceivedForm): HttpError | undefined {
  const { action, newFolders, members, newNames, destinations, uploads } = form;
  switch (action) {
    case "rename-member":
      return members.length === 1 && newNames.length === 1 ? undefined : createError("new-name-missing");
    case "move-members":
    case "copy-members":
      if (destinations.length !== 1 || destinations[0] === "") return createError("destination-missing");
      break;
    case SHARE_ACTION:
      return members.length === 1 ? undefined : createError("share-one-item");
    case "create-folder":
      return newFolders.length === 1 ? undefined : createError("folder-name-missing");
    case "upload-file":
      return uploads.length > 0 ? undefined : createError("files-missing");
  }
  return members.length > 0 ? undefined : createError("items-missing");
}

/** Runs the action of a form on its members. Its files are stored already. */
export async function runFormAction(context: AccountContext, form: ReceivedForm): Promise<readonly MemberOutcome[]> {
  const { path, files, failureOf } = context;
  const {
    action,
    newFolders,
    members,
    newNames: [newName = ""],
    destinations: [destination = ""],
    senders: [sender],
    uploads,
  } = form;
  switch (action) {
    case "create-folder":
      return attemptAll(context, newFolders, (name) => makeFolder(context, [...path.segments, name]));
    case "upload-file":
      return uploads.map(({ name, error }) =>
        error === undefined ? { target: name } : { target: name, error: failureOf(error) },
      );
    case "delete-members":
      return attemptAll(context, members, (name) => files.remove([...path.segments, name], "any"));
    case "purge-members":
      return attemptAll(context, members, (name) => files.remove([...path.segments, name], "any", { permanent: true }));
    case "rename-member":
      return attemptAll(context, members, (name) => rename(context, name, newName));
    case "move-members":
      return attemptAll(context, members, (name) =>
        copyOrMoveMember(context, "move", name, toDestinationIn(path.segments, name, destination)),
      );
    case "copy-members": {
      const toOwn = createSenderNaming(context, () => parseSender(sender));
      return attemptAll(context, members, (name) =>
        copyOrMoveMember(context, "copy", name, toOwn(toDestinationIn(path.segments, name, destination))),
      );
    }
  }
  const trigger = ownTriggers(context).get(action);
  if (trigger === undefined) throw createError("form-action-unknown");
  return attemptAll(context, members, (name) => runTrigger(context, action, trigger, name));
}

async function rename(context: AccountContext, name: string, newName: string): Promise<void> {
  if (!isMemberName(newName)) throw createError("name-invalid");
  await copyOrMoveMember(context, "move", name, [...context.path.segments, newName]);
}
