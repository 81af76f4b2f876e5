import type { Account } from "../../account/account.ts";
import { toStoragePath } from "../../account/path.ts";
import { isChangedError } from "../../archive/content.ts";
import { type ArchiveSource, openFolder, type SelectedMember, walkMembers } from "../../archive/entries.ts";
import { toSafeName } from "../../archive/entry-names.ts";
import { planArchive } from "../../archive/plan.ts";
import { createZip } from "../../archive/zip.ts";
import { type ByteSource, tap } from "../../contracts/byte-source.ts";
import { toBatches, toMembers } from "../../contracts/member-batches.ts";
import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import { toAttachment } from "../../http/content-disposition.ts";
import { findMediaType } from "../../http/media-types/by-name.ts";
import type { HeaderFields, Reply } from "../../http/reply.ts";
import { emptyReply } from "../../http/reply.ts";
import { type BoundedMap, createBoundedMap } from "../../platform/bounded-map.ts";
import type { AccountContext } from "../../request/context.ts";
import { archiveEvents, type SourceResponse, sendTracked } from "../../transfers/download-events.ts";
import { tooManyArchives } from "../../transfers/too-many-transfers.ts";
import { toUploadHolder } from "../../transfers/uploads/limits.ts";
import { throwNotListed } from "../trailing-slash.ts";

/** How many bytes of an archive are read before the response starts. */
const FIRST_PART_BYTES = 65_536;
const NOTHING = new Uint8Array(0);

/**
 * Responds with a folder as a ZIP archive. Without `members` it holds the complete folder, with entries named by the
 * account's full paths (4.2). With `members`, which `chooseMember` has checked, entries are named relative to the
 * folder (4.6; CONTRACT 3.4, 4.6). Its file name is `<folder>.zip`, or `<account>.zip` for the root; the
 * root of a link has the name of what the link leads to. A folder that does not exist or may not be listed fails before
 * the first byte; what is denied further below is left out.
 *
 * An archive without compression has a `Content-Length`, unless the folder is too large to be walked beforehand, or its
 * first part cannot be read with the planned length. If a member has changed when it is read later, the response breaks
 * off, and the next archive of the folder has no length.
 */
export async function archiveReply(context: AccountContext, members?: readonly SelectedMember[]): Promise<Reply> {
  if (context.request.method === "HEAD") return headReply(context);
  return sendTracked(context, archiveEvents, () => openArchive(context, members));
}

/** HEAD is no transfer: it reads no file, and does not walk the folder. So it has no length. */
async function headReply(context: AccountContext): Promise<Reply> {
  const { files, path } = context;
  await files.checkListing(path.segments).catch(throwNotListed);
  return emptyReply(200, toFields(context));
}

function toFields(context: AccountContext): HeaderFields {
  const name = toSafeName(context.path.segments.at(-1) ?? toRootName(context));
  return { "Content-Type": "application/zip", "Content-Disposition": toAttachment(`${name}.zip`) };
}

/** An archive by a link must not reveal the name of the link's account. */
function toRootName({ account, link }: AccountContext): string {
  return link === undefined ? account.name : (link.record.path.at(-1) ?? "files");
}

async function openArchive(
  context: AccountContext,
  members: readonly SelectedMember[] | undefined,
): Promise<SourceResponse> {
  const closing = new AbortController();
  const signal = AbortSignal.any([context.request.signal, closing.signal]);
  const { source, fields } = await openZip(context, members, signal);
  // A host may cancel the response and leave the signal of the request as it is.
  return { source: tap(source, { onClose: () => closing.abort() }), fields };
}

async function openZip(
  context: AccountContext,
  members: readonly SelectedMember[] | undefined,
  signal: AbortSignal,
): Promise<SourceResponse> {
  const { path, account, config } = context;
  const compresses = config.archive.method === "deflate";
  const folder = toStoragePath(path.segments);
  const fields = toFields(context);
  if (!compresses && canAnnounceLength(account, folder)) {
    const { length, entries } = await planArchive(await walk(context, members, signal), signal);
    const isLengthAnnounced = length !== undefined;
    try {
      const source = await readFirstPart(createZip(entries, { isLengthAnnounced }), signal);
      if (!isLengthAnnounced) return { source, fields };
      const tapped = tap(source, { onError: () => noteWrongLength(account, folder) });
      return { source: tapped, fields: { ...fields, "Content-Length": `${length}` } };
    } catch (error) {
      if (!isChangedError(error) || !isLengthAnnounced) throw error;
      noteWrongLength(account, folder);
    }
  }
  const zip = createZip(await walk(context, members, signal), compresses ? { compresses: isCompressible } : {});
  return { source: await readFirstPart(zip, signal), fields };
}

async function walk(context: AccountContext, members: readonly SelectedMember[] | undefined, signal: AbortSignal) {
  const { path, report, walks } = context;
  const holdMembers = createMemberCount(context);
  holdMembers(path.segments, members ?? []);
  const turn = walks.start(toUploadHolder(context), signal);
  const source = toArchiveSource(context, holdMembers, turn);
  const entries =
    members === undefined
      ? await openFolder(source, path.segments, report).catch(throwNotListed)
      : walkMembers(source, path.segments, members, report);
  return endAfter(entries, turn);
}

type Turn = ReturnType<AccountContext["walks"]["start"]>;

/** The same entries. Other archives go on after them at once. */
async function* endAfter<T>(entries: AsyncIterable<T>, turn: Turn): AsyncGenerator<T> {
  try {
    yield* entries;
  } finally {
    turn.end();
  }
}

/** The bytes of an archive without members: its first part. */
const ARCHIVE_BYTES = FIRST_PART_BYTES;
/** The bytes of a member, in addition to three bytes for each code unit of its path: in UTF-8 it may need as many. */
const MEMBER_BYTES = 400;

/** Acquires a permit for the bytes of some members of a folder. */
type HoldMembers = (folder: readonly string[], members: readonly { readonly name: string }[]) => void;

/**
 * Counts the members of an archive, which the service holds until the archive ends: first those of the folder that it
 * reads, then their records in the ZIP directory. The function throws HttpError `unavailable` if the archives and pages
 * of the account take too many bytes.
 */
function createMemberCount({ pagePermit }: AccountContext): HoldMembers {
  let bytes = ARCHIVE_BYTES;

  return function holdMembers(folder, members) {
    const eachBytes = MEMBER_BYTES + 3 * toStoragePath(folder).length;
    for (const { name } of members) bytes += eachBytes + 3 * name.length;
    if (pagePermit.acquire(bytes)) return;
    // Not later: ending the walk may take long, and a refused archive must not block others meanwhile.
    pagePermit.release();
    throw tooManyArchives();
  };
}

/**
 * Reads the first part of a source ahead, so that a failure there can still decide the status of the response. Returns
 * a source that starts with this part. Closes the source if the client disconnects meanwhile.
 */
async function readFirstPart(source: ByteSource, signal: AbortSignal): Promise<ByteSource> {
  const buffer = new Uint8Array(FIRST_PART_BYTES);
  let begin = buffer.subarray(0, await unlessAborted(source.readInto(buffer), source, signal));

  async function readInto(into: Uint8Array): Promise<number> {
    if (begin.byteLength === 0) return source.readInto(into);
    const part = begin.subarray(0, into.byteLength);
    into.set(part);
    begin = begin.byteLength > part.byteLength ? begin.subarray(part.byteLength) : NOTHING;
    return part.byteLength;
  }

  return { readInto, close: () => source.close() };
}

/** Waits for a read until the client disconnects, because the storage may never respond. */
async function unlessAborted(reading: Promise<number>, source: ByteSource, signal: AbortSignal): Promise<number> {
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      source.close().catch(() => undefined);
      reject(signal.reason);
    };
  });
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([reading, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Answers from the permissions alone whether a file may be read. They are checked again when it is opened (SECURITY
 * 19).
 */
function toArchiveSource({ files }: AccountContext, holdMembers: HoldMembers, turn: Turn): ArchiveSource {
  async function* listFor(segments: readonly string[]): AsyncGenerator<readonly StorageEntry[]> {
    await turn.next();
    for await (const batch of toBatches(files.list(segments, undefined, "long"))) {
      holdMembers(segments, batch);
      yield batch;
      await turn.next();
    }
  }

  return {
    list: (segments) => toMembers(() => listFor(segments)),
    read: (segments) => files.read(segments),
    mayRead: files.mayRead,
  };
}

/** Media types whose formats are compressed already. */
const COMPRESSED =
  /^(?:image\/(?!svg|bmp|x-ms-bmp|tiff)|video\/|audio\/(?!wav|x-wav|x-aiff|midi)|font\/woff|application\/(?:zip|gzip|x-7z|x-rar|vnd\.rar|x-bzip|x-xz|zstd|java-archive|epub|pdf|vnd\.openxmlformats|vnd\.oasis|vnd\.android\.package|x-apple-diskimage))/;

/**
 * Whether compressing a file pays off, judging by its name. Not for images, video and archives, which are compressed.
 */
function isCompressible(name: string): boolean {
  return !COMPRESSED.test(findMediaType(name) ?? "");
}

/** For how many folders of an account a wrong length is noted. */
const MAX_FOLDERS = 100;

const wrongLengths = new WeakMap<Account, BoundedMap<string, true>>();

/** Whether the archive of a folder may have a `Content-Length`: not if the length was wrong the last time. */
function canAnnounceLength(account: Account, folder: string): boolean {
  return wrongLengths.get(account)?.get(folder) !== true;
}

/**
 * Notes that an archive did not reach its announced length: a member was changed or removed, or the storage failed to
 * read it. The client's next attempt gets what can be read, without a length.
 */
function noteWrongLength(account: Account, folder: string): void {
  const folders = wrongLengths.get(account) ?? createBoundedMap<string, true>(MAX_FOLDERS);
  wrongLengths.set(account, folders);
  folders.set(folder, true);
}
