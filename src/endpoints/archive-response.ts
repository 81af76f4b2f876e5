import { toStoragePath } from "../account/path.ts";
import { type ArchiveSource, type Chosen, openFolder, walkMembers } from "../archive/entries.ts";
import { toSafeName } from "../archive/entry-names.ts";
import { planArchive } from "../archive/plan.ts";
import { createZip } from "../archive/zip.ts";
import { toBatches, toMembers } from "../contracts/member-batches.ts";
import { isStorageError, type StorageEntry, StorageError } from "../contracts/storage-adapter.ts";
import { toAttachment } from "../http/content-disposition.ts";
import { emptyResponse } from "../http/responses.ts";
import { mayPromise, noteBrokenPromise } from "./archive-promises.ts";
import { isCompressible } from "./compressible.ts";
import type { AccountExchange } from "./endpoint.ts";
import { onFailedRead } from "./told-source.ts";
import { type SourceAnswer, sendTold, tellArchive } from "./told-transfers.ts";

/**
 * The addressed folder as a ZIP archive: whole, with entries named by the account's full paths (4.2), or only `members` of it that
 * `chooseMember` has found fit, named relative to it (4.6; CONTRACT 3.4, 4.6). It saves as `<folder>.zip`, the root as `<account>.zip`.
 * A folder that is not there, or may not be listed, fails before the first byte; what is denied further below is left out.
 *
 * With stored files it has a `Content-Length`, unless it is too large to be walked beforehand; a member that has changed in between
 * breaks it off, and the next time no length is told.
 */
export async function archiveResponse(exchange: AccountExchange, members?: readonly Chosen[]): Promise<Response> {
  if (exchange.request.method !== "HEAD") return sendTold(exchange, tellArchive, () => openArchive(exchange, members));
  const { source, fields } = await openArchive(exchange, members);
  await source.close();
  return emptyResponse(200, fields);
}

async function openArchive(exchange: AccountExchange, members: readonly Chosen[] | undefined): Promise<SourceAnswer> {
  const { request, path, account, config, report } = exchange;
  const source = toArchiveSource(exchange);
  const walk =
    members === undefined
      ? await openFolder(source, path.segments, report).catch(withoutFolder)
      : walkMembers(source, path.segments, members, report);
  const compresses = config.archive.method === "deflate";
  const folder = toStoragePath(path.segments);
  const isPlanned = !compresses && mayPromise(account, folder);
  const { length, entries } = isPlanned
    ? await planArchive(walk, request.signal)
    : { length: undefined, entries: walk };
  const name = toSafeName(path.segments.at(-1) ?? account.name);
  const fields = {
    "Content-Type": "application/zip",
    "Content-Disposition": toAttachment(`${name}.zip`),
    "Content-Length": length?.toString(),
  };
  const options = { isPromised: length !== undefined, ...(compresses && { compresses: isCompressible }) };
  const zip = createZip(entries, options);
  if (length === undefined) return { source: zip, fields };
  return { source: onFailedRead(zip, () => noteBrokenPromise(account, folder)), fields };
}

/** What the permissions forbid is known without opening it; they are asked again when it is opened (SECURITY 19). */
function toArchiveSource({ files, account: { permissions }, request: { signal } }: AccountExchange): ArchiveSource {
  const readsAll = permissions.grantsEverywhere("read");

  async function* listFor(segments: readonly string[]): AsyncGenerator<readonly StorageEntry[]> {
    for await (const batch of toBatches(files.list(segments))) {
      // Nobody is left to send it to.
      signal.throwIfAborted();
      yield batch;
    }
  }

  return {
    list: (segments) => toMembers(() => listFor(segments)),
    read: (segments) => files.read(segments),
    mayRead: (segments) => readsAll || permissions.allows(toStoragePath(segments), "read"),
  };
}

/** A file's name with a trailing `/` is nothing (CONTRACT 2.5). */
function withoutFolder(error: unknown): never {
  const isFile = isStorageError(error) && error.code === "not-a-folder";
  throw isFile ? new StorageError("not-found", "a file, asked for as a folder", { cause: error }) : error;
}
