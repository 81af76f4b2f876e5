import mime from "mime";
import type { Account } from "../../account/account.ts";
import { toStoragePath } from "../../account/path.ts";
import { isChangedError } from "../../archive/content.ts";
import { type ArchiveSource, type Chosen, openFolder, walkMembers } from "../../archive/entries.ts";
import { toSafeName } from "../../archive/entry-names.ts";
import { planArchive } from "../../archive/plan.ts";
import { createZip } from "../../archive/zip.ts";
import { type ByteSource, tap } from "../../contracts/byte-source.ts";
import { toBatches, toMembers } from "../../contracts/member-batches.ts";
import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import { toAttachment } from "../../http/content-disposition.ts";
import { emptyResponse } from "../../http/responses.ts";
import type { AccountContext } from "../../request/context.ts";
import { archiveEvents, type SourceResponse, sendTracked } from "../../transfers/transfer-events.ts";
import { throwNotListed } from "../trailing-slash.ts";

/** So much of an archive is read before it is answered. */
const BEGIN_BYTES = 65_536;
const NOTHING = new Uint8Array(0);

/**
 * The addressed folder as a ZIP archive: whole, with entries named by the account's full paths (4.2), or only `members` of it that
 * `chooseMember` has found fit, named relative to it (4.6; CONTRACT 3.4, 4.6). It saves as `<folder>.zip`, the root as `<account>.zip`.
 * A folder that is not there, or may not be listed, fails before the first byte; what is denied further below is left out.
 *
 * With stored files it has a `Content-Length`, unless it is too large to be walked beforehand, or its first part cannot be read as it was promised. A member
 * that turns out to have changed further on breaks it off, and the next time no length is told.
 */
export async function archiveResponse(context: AccountContext, members?: readonly Chosen[]): Promise<Response> {
  if (context.request.method !== "HEAD")
    return sendTracked(context, archiveEvents, () => openArchive(context, members));
  // HEAD is no transfer: no file is read for it.
  const { source, fields } = await openArchive(context, members, async (zip) => zip);
  await source.close();
  return emptyResponse(200, fields);
}

async function openArchive(
  context: AccountContext,
  members: readonly Chosen[] | undefined,
  begin: typeof readBegin = readBegin,
): Promise<SourceResponse> {
  const { path, account, config } = context;
  const { signal } = context.request;
  const compresses = config.archive.method === "deflate";
  const folder = toStoragePath(path.segments);
  const name = toSafeName(path.segments.at(-1) ?? account.name);
  const fields = { "Content-Type": "application/zip", "Content-Disposition": toAttachment(`${name}.zip`) };
  if (!compresses && canAnnounceLength(account, folder)) {
    const { length, entries } = await planArchive(await walk(context, members), signal);
    const isLengthAnnounced = length !== undefined;
    try {
      const source = await begin(createZip(entries, { isLengthAnnounced }), signal);
      if (!isLengthAnnounced) return { source, fields };
      const tapped = tap(source, { onError: () => noteWrongLength(account, folder) });
      return { source: tapped, fields: { ...fields, "Content-Length": `${length}` } };
    } catch (error) {
      if (!isChangedError(error) || !isLengthAnnounced) throw error;
      noteWrongLength(account, folder);
    }
  }
  const zip = createZip(await walk(context, members), compresses ? { compresses: isCompressible } : {});
  return { source: await begin(zip, signal), fields };
}

function walk(context: AccountContext, members: readonly Chosen[] | undefined) {
  const { path, report } = context;
  const source = toArchiveSource(context);
  if (members !== undefined) return walkMembers(source, path.segments, members, report);
  return openFolder(source, path.segments, report).catch(throwNotListed);
}

/** The same source, of which a first part has been read: what fails there can still be answered with its status. It is closed when its client has gone meanwhile. */
async function readBegin(source: ByteSource, signal: AbortSignal): Promise<ByteSource> {
  const buffer = new Uint8Array(BEGIN_BYTES);
  let begin = buffer.subarray(0, await untilGone(source.readInto(buffer), source, signal));

  async function readInto(into: Uint8Array): Promise<number> {
    if (begin.byteLength === 0) return source.readInto(into);
    const part = begin.subarray(0, into.byteLength);
    into.set(part);
    begin = begin.byteLength > part.byteLength ? begin.subarray(part.byteLength) : NOTHING;
    return part.byteLength;
  }

  return { readInto, close: () => source.close() };
}

/** What a source reads, unless its client goes before: a storage may never answer. */
async function untilGone(reading: Promise<number>, source: ByteSource, signal: AbortSignal): Promise<number> {
  let leave = (): void => undefined;
  const gone = new Promise<never>((_, reject) => {
    leave = () => {
      source.close().catch(() => undefined);
      reject(signal.reason);
    };
  });
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await Promise.race([reading, gone]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** What the permissions forbid is known without opening it; they are asked again when it is opened (SECURITY 19). */
function toArchiveSource({ files, account: { permissions }, request: { signal } }: AccountContext): ArchiveSource {
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

/** Types that are compressed as they are, and some of those that look like it. */
const COMPRESSED =
  /^(?:image\/(?!svg|bmp|x-ms-bmp|tiff)|video\/|audio\/(?!wav|x-wav|x-aiff|midi)|font\/woff|application\/(?:zip|gzip|x-7z|x-rar|vnd\.rar|x-bzip|x-xz|zstd|java-archive|epub|pdf|vnd\.openxmlformats|vnd\.oasis|vnd\.android\.package|x-apple-diskimage))/;

/** Whether the content of a file is worth compressing, by its name: images, video and archives are compressed already. */
function isCompressible(name: string): boolean {
  return !COMPRESSED.test(mime.getType(name) ?? "");
}

/** So many folders of an account are remembered. */
const MAX_FOLDERS = 100;

const broken = new WeakMap<Account, Set<string>>();

/** Whether the length of a folder's archive may be told beforehand: not where that could not be kept the last time. */
function canAnnounceLength(account: Account, folder: string): boolean {
  return broken.get(account)?.has(folder) !== true;
}

/**
 * Remembers that an archive did not become as long as promised: a member was changed, or removed, or the storage does not give it out. Whoever
 * tries again gets what can be read, without a length.
 */
function noteWrongLength(account: Account, folder: string): void {
  const folders = broken.get(account) ?? new Set();
  broken.set(account, folders);
  folders.add(folder);
  const [oldest] = folders;
  if (folders.size > MAX_FOLDERS && oldest !== undefined) folders.delete(oldest);
}
