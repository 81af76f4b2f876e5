import type { AccountFiles, RemovalKind } from "../account/files.ts";
import type { FileLocation } from "../contracts/events/envelope.ts";
import { isStorageError } from "../contracts/storage-adapter.ts";
import type { AccountContext } from "../request/context.ts";
import { emitEvent, toFileLocation } from "../request/emit-event.ts";

/** The files of an exchange, with events for what is made and removed. Transfers are told of by whoever sends and receives them. */
export function withEvents(context: AccountContext): AccountFiles {
  const { files, failureOf } = context;

  async function createFolder(segments: readonly string[]): Promise<void> {
    await creating(segments, () => files.createFolder(segments));
    emitEvent(context, { id: 40010, data: toFileLocation(context, segments) });
  }

  async function createFolderIfMissing(segments: readonly string[]): Promise<boolean> {
    const isNew = await creating(segments, () => files.createFolderIfMissing(segments));
    if (isNew) emitEvent(context, { id: 40010, data: toFileLocation(context, segments) });
    return isNew;
  }

  async function creating<T>(segments: readonly string[], create: () => Promise<T>): Promise<T> {
    try {
      return await create();
    } catch (error) {
      const isThere = isStorageError(error) && error.code === "already-exists";
      const data = { ...toFileLocation(context, segments), details: failureOf(error).message };
      emitEvent(context, { id: isThere ? 40030 : 40011, data });
      throw error;
    }
  }

  async function remove(
    segments: readonly string[],
    kind: RemovalKind,
    options?: Parameters<AccountFiles["remove"]>[2],
  ): Promise<void> {
    const isFolder = await meansFolder(segments, kind);
    const place: FileLocation = toFileLocation(context, segments);
    try {
      await files.remove(segments, kind, options);
    } catch (error) {
      emitEvent(context, { id: isFolder ? 40027 : 40013, data: { ...place, details: failureOf(error).message } });
      throw error;
    }
    emitEvent(context, { id: isFolder ? 40026 : 40012, data: place });
  }

  /** What is to be removed: what is there, and where nothing is, what was asked for. */
  async function meansFolder(segments: readonly string[], kind: RemovalKind): Promise<boolean> {
    const found = await files.kindOf(segments).catch(() => undefined);
    return found === undefined ? kind === "folder" || kind === "empty-folder" : found === "folder";
  }

  return { ...files, createFolder, createFolderIfMissing, remove };
}
