import type { FileVersions } from "../../account/file-versions.ts";
import { toUrlPath } from "../../account/path.ts";
import { VERSION_DONE_CODES } from "../../contracts/pages/version-texts.ts";
import { hasCode, type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import { emptyReply, HTML_FIELDS, JSON_FIELDS, type Reply, sourceReply } from "../../http/reply.ts";
import { inBatches } from "../../platform/in-batches.ts";
import type { AccountContext } from "../../request/context.ts";
import type { VersionBody } from "../../schemas/versions.ts";
import { acquireTransfer } from "../../transfers/too-many-transfers.ts";
import { openJsonContent } from "../../views/json-listing.ts";
import { toPageFields } from "../../views/page.ts";
import { openVersionsPage, type VersionsPage } from "../../views/versions-page.ts";
import { holdOpenFolder } from "../folders/hold-open-folder.ts";
import { withNavigation } from "../session-navigation.ts";
import { requireVersions, toVersionListPath } from "./version-path.ts";

/** How many versions are rendered at a time. */
const BATCH = 64;

/**
 * `GET` and `HEAD /home/__svc__/versions?path=<path>`: the versions of a file that the account may read, the newest
 * first. They are read while they are sent, which counts as a transfer.
 */
export async function listVersions(context: AccountContext): Promise<Reply> {
  const { request, variant, target, transferPermit } = context;
  const { segments, versions } = requireVersions(context);
  const file = await requireFile(context, segments);
  if (request.method === "HEAD") {
    return emptyReply(200, variant === "html" ? { ...toPageFields(context), ...HTML_FIELDS } : JSON_FIELDS);
  }
  acquireTransfer(context);
  if (variant === "html") {
    const given = new URLSearchParams(target.query).get("done");
    return sendPage(context, 200, file, { done: VERSION_DONE_CODES.find((code) => code === given) });
  }
  const list = await openJsonContent(toBatches(versions, segments), JSON.stringify);
  const { source, fields } = await holdOpenFolder(context, list, JSON_FIELDS);
  return sourceReply(200, transferPermit.releaseAfter(source), fields);
}

/** What the page shows of the last form. */
export type VersionsReport = Pick<VersionsPage, "done" | "problems">;

/** The page with the versions of a file, and what a form has done. */
export async function versionsPage(context: AccountContext, status: number, report: VersionsReport): Promise<Reply> {
  return sendPage(context, status, await requireFile(context, requireVersions(context).segments), report);
}

async function sendPage(
  context: AccountContext,
  status: number,
  { size, modified }: StorageEntry,
  report: VersionsReport,
): Promise<Reply> {
  const { config, root, files, transferPermit } = context;
  const { segments, versions } = requireVersions(context);
  const folder = segments.slice(0, -1);
  const path = toVersionListPath(config.basePath, segments);
  const page = await openVersionsPage(await withNavigation(context), {
    ...report,
    versions: toBatches(versions, segments),
    file: {
      name: segments.at(-1) ?? "",
      url: `${root}${toUrlPath({ segments, isFolder: false })}`,
      size,
      modified: modified.getTime() / 1000,
    },
    path,
    folder: { url: `${root}${toUrlPath({ segments: folder, isFolder: true })}`, name: folder.at(-1) },
    toUrl: (id) => path.replace("?", `/${encodeURIComponent(id)}?`),
    actions: { restore: await files.may(segments, "write"), purge: await files.may(segments, "delete-file") },
  });
  const { source, fields } = await holdOpenFolder(context, page, { ...toPageFields(context), ...HTML_FIELDS });
  return sourceReply(status, transferPermit.releaseAfter(source), fields);
}

/** The entry of a file that the account may read. What is no file has no versions: that is `not-found`. */
async function requireFile({ files }: AccountContext, segments: readonly string[]): Promise<StorageEntry> {
  const entry = await files.stat(segments, "read").catch((error: unknown) => {
    if (hasCode(error, "not-a-file")) return undefined;
    throw error;
  });
  if (entry === undefined) throw new StorageError("not-found");
  return entry;
}

async function* toBatches(
  versions: FileVersions,
  segments: readonly string[],
): AsyncGenerator<readonly VersionBody[], void> {
  for await (const batch of inBatches(versions.list(segments), BATCH)) {
    yield batch.map(({ id, modified, size }) => ({ id, modified: modified.getTime() / 1000, size }));
  }
}
