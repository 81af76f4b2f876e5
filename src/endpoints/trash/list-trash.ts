import type { AccountTrash, AccountTrashEntry } from "../../account/account-trash.ts";
import { toStoragePath } from "../../account/path.ts";
import { TRASH_DONE_CODES } from "../../contracts/pages/trash-texts.ts";
import { createError } from "../../http/errors.ts";
import { emptyReply, HTML_FIELDS, JSON_FIELDS, type Reply, sourceReply } from "../../http/reply.ts";
import { inBatches } from "../../platform/in-batches.ts";
import type { AccountContext } from "../../request/context.ts";
import type { TrashBody } from "../../schemas/trash.ts";
import { acquireTransfer } from "../../transfers/too-many-transfers.ts";
import { openJsonContent } from "../../views/json-listing.ts";
import { toPageFields } from "../../views/page.ts";
import { openTrashPage, type TrashPage } from "../../views/trash-page.ts";
import { holdOpenFolder } from "../folders/hold-open-folder.ts";
import { withNavigation } from "../session-navigation.ts";
import { toTrashPath } from "./trash-path.ts";

/** How many entries are rendered at a time. */
const BATCH = 64;

/** The trash of the account. Below a link there is none. */
export function requireTrash({ files, scheme }: Pick<AccountContext, "files" | "scheme">): AccountTrash {
  if (files.trash === undefined || scheme === "link") throw createError("not-found");
  return files.trash;
}

/**
 * `GET` and `HEAD /home/__svc__/trash`: what was removed from folders that the account may list, the newest first. It
 * is read while it is sent, and counts as a transfer.
 */
export async function listTrash(context: AccountContext): Promise<Reply> {
  const { request, variant, target } = context;
  const trash = requireTrash(context);
  if (request.method === "HEAD") {
    return emptyReply(200, variant === "html" ? { ...toPageFields(context), ...HTML_FIELDS } : JSON_FIELDS);
  }
  acquireTransfer(context);
  if (variant === "html") {
    const given = new URLSearchParams(target.query).get("done");
    return trashPage(context, 200, { done: TRASH_DONE_CODES.find((code) => code === given) });
  }
  const list = await openJsonContent(toBatches(trash), JSON.stringify);
  const { source, fields } = await holdOpenFolder(context, list, JSON_FIELDS);
  return sourceReply(200, context.transferPermit.releaseAfter(source), fields);
}

/** The page of the trash, with what a form has done. */
export async function trashPage(
  context: AccountContext,
  status: number,
  report: Pick<TrashPage, "done" | "problems">,
): Promise<Reply> {
  const { config, root, transferPermit } = context;
  const entries = toBatches(requireTrash(context));
  const maxSelected = config.limits.maxCommands;
  const list = { ...report, entries, path: toTrashPath(config.basePath), home: root, maxSelected };
  const page = await openTrashPage(await withNavigation(context), list);
  const { source, fields } = await holdOpenFolder(context, page, { ...toPageFields(context), ...HTML_FIELDS });
  return sourceReply(status, transferPermit.releaseAfter(source), fields);
}

async function* toBatches(trash: AccountTrash): AsyncGenerator<readonly TrashBody[], void> {
  for await (const batch of inBatches(trash.list(), BATCH)) yield batch.map(toBody);
}

function toBody({ id, segments, kind, size, removed }: AccountTrashEntry): TrashBody {
  return {
    id,
    path: toStoragePath(segments),
    name: segments.at(-1) ?? "",
    is_directory: kind === "folder",
    size: kind === "folder" ? 0 : size,
    removed: removed.getTime() / 1000,
  };
}
