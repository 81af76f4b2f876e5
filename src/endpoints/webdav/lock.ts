import type { AccountLock } from "../../account/locks/account-locks.ts";
import { isReserved } from "../../account/path.ts";
import { hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import { emptyReply, type HeaderFields, type Reply } from "../../http/reply.ts";
import { hasContent } from "../../http/request-body.ts";
import type { AccountContext } from "../../request/context.ts";
import { addSenderFromHeader } from "../../transfers/links/sent-file.ts";
import { storeFile } from "../../transfers/store-upload.ts";
import { readMetadata } from "../../uploads/metadata-header.ts";
import { parseDepth } from "../../webdav/depth.ts";
import { parseIf, tokensOf } from "../../webdav/if-header.ts";
import { type ActiveLock, writeLockResponse } from "../../webdav/live-properties.ts";
import { type LockRequest, parseLockBody } from "../../webdav/lock-body.ts";
import { requireLockToken } from "../../webdav/lock-token.ts";
import { xmlReply } from "../../webdav/multistatus.ts";
import { readXmlBody } from "../../webdav/read-xml-body.ts";
import { parseTimeout } from "../../webdav/timeout.ts";
import { toContentLocation, toHref } from "./resource.ts";

/** `LOCK` (RFC 4918 9.10): locks a file or folder, or a name that becomes an empty file. Without a body: refreshes. */
export async function lockResource(context: AccountContext): Promise<Reply> {
  const { request, config } = context;
  const seconds = parseTimeout(request.headers, config.webdav?.maxLockSeconds ?? 0);
  const body = parseLockBody(await readXmlBody(request));
  return body === undefined ? refresh(context, seconds) : lock(context, body, seconds);
}

/** `UNLOCK` (RFC 4918 9.11). */
export async function unlockResource(context: AccountContext): Promise<Reply> {
  const { request, files, path } = context;
  if (await hasContent(request)) throw createError("body-unexpected");
  const fields = await toFieldsOfLocked(context);
  await files.unlock(path.segments, requireLockToken(request.headers));
  return emptyReply(204, fields);
}

/**
 * The headers that name what a lock is about. It need not exist any more.
 * @throws StorageError `not-found` for the URL of a folder that names a file, and for the reserved name.
 */
async function toFieldsOfLocked(context: AccountContext): Promise<HeaderFields> {
  const { files, path } = context;
  const kind = await files.kindOf(path.segments);
  if (isReserved(path.segments) || (path.isFolder && kind === "file")) throw new StorageError("not-found");
  return toContentLocation(context, kind === "folder");
}

async function lock(context: AccountContext, { scope, owner }: LockRequest, seconds: number): Promise<Reply> {
  const { request, files, path } = context;
  const named = (await files.inspect(path.segments))?.entry;
  if (path.isFolder && named?.kind !== "folder") throw new StorageError("not-found");
  // A free name becomes a file, which has the name of its sender where a link asks for it.
  const segments = named === undefined ? addSenderFromHeader(context, path.segments) : path.segments;
  const entry = named ?? (await files.inspect(segments))?.entry;
  const isFolder = entry?.kind === "folder";
  const depth = isFolder ? parseDepth("LOCK", request.headers) : "0";
  // Not after the lock: a client could leave marks for any number of folders that do not exist.
  if (entry === undefined) await requireParent(context, segments);
  const granted = await files.lock(segments, { scope, owner, seconds, isFolder, depth });
  const isCreated = await createIfMissing(context, segments, granted);
  const fields = { ...toContentLocation(context, isFolder), "Lock-Token": `<${granted.token}>` };
  return xmlReply(isCreated ? 201 : 200, writeLockResponse([toActiveLock(context, granted)]), fields);
}

/**
 * Looks again, as the lock may have waited for a removal.
 * @throws the signal's reason if the client has left meanwhile.
 */
async function createIfMissing(
  context: AccountContext,
  segments: readonly string[],
  granted: AccountLock,
): Promise<boolean> {
  const { request, files } = context;
  if (!request.signal.aborted && (await files.inspect(segments)) !== undefined) return false;
  if (!request.signal.aborted && !granted.root.isFolder) return createFile(context, segments, granted);
  await files.unlock(segments, granted.token ?? "").catch(() => undefined);
  request.signal.throwIfAborted();
  throw new StorageError("not-found");
}

async function requireParent({ files }: AccountContext, segments: readonly string[]): Promise<void> {
  if (isReserved(segments)) throw createError("name-reserved");
  const kind = await files.kindOf(segments.slice(0, -1));
  if (kind !== "folder") throw new StorageError(kind === undefined ? "parent-missing" : "not-a-folder");
}

/**
 * Creates the empty file of a locked name. Returns false if a file was created meanwhile. If it fails, ends the lock.
 */
async function createFile(
  context: AccountContext,
  segments: readonly string[],
  { token = "" }: AccountLock,
): Promise<boolean> {
  const { request, config, files } = context;
  try {
    await storeFile(context, {
      segments,
      content: NO_CONTENT,
      toOptions: () => ({ size: 0, ifNoneMatch: "*", signal: request.signal }),
      metadata: config.metadataFields && readMetadata(request.headers, config.metadataFields),
    });
    return true;
  } catch (error) {
    if (hasCode(error, "precondition-failed")) return false;
    await files.unlock(segments, token).catch(() => undefined);
    throw error;
  }
}

const NO_CONTENT: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {
    // An empty file.
  },
};

/** A lock keeps its token when it is refreshed: Office and others go on with the first one. */
async function refresh(context: AccountContext, seconds: number): Promise<Reply> {
  const { request, files, path } = context;
  const fields = await toFieldsOfLocked(context);
  const [token, ...others] = tokensOf(parseIf(request.headers) ?? []);
  if (token === undefined) throw createError("lock-refresh-unnamed");
  const refreshed = others.length === 0 ? await files.refreshLock(path.segments, token, seconds) : undefined;
  if (refreshed === undefined) throw new StorageError("precondition-failed");
  return xmlReply(200, writeLockResponse([toActiveLock(context, refreshed)]), fields);
}

/** A lock as clients see it. */
export function toActiveLock(context: Pick<AccountContext, "root">, { root, ...shown }: AccountLock): ActiveLock {
  return { ...shown, root: toHref(context, root) };
}
