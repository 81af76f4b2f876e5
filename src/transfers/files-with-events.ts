import type { AccountTrash } from "../account/account-trash.ts";
import type { FileVersions } from "../account/file-versions.ts";
import type { AccountFiles, RemovalKind } from "../account/files.ts";
import type { AccountLock, NewLock } from "../account/locks/account-locks.ts";
import type { FileLocation } from "../contracts/events/envelope.ts";
import type { WriteTotals } from "../contracts/events/transfers.ts";
import { hasCode, type StorageEntry } from "../contracts/storage-adapter.ts";
import type { AttributeChanges } from "../contracts/storage-attributes.ts";
import type { AccountContext } from "../request/context.ts";
import { emitEvent, toFileLocation, toWriteTotals } from "../request/emit-event.ts";

/**
 * Adds events to an account's files: for folders created, files and folders removed, restored, copied and moved, and
 * versions. Uploads and downloads emit their events themselves.
 */
export function withEvents(context: AccountContext): AccountFiles {
  const { files, failureOf, config } = context;

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
      const exists = hasCode(error, "already-exists");
      const data = { ...toFileLocation(context, segments), details: failureOf(error).message };
      emitEvent(context, { id: exists ? 40030 : 40011, data });
      throw error;
    }
  }

  async function remove(
    segments: readonly string[],
    kind: RemovalKind,
    options?: Parameters<AccountFiles["remove"]>[2],
  ): Promise<void> {
    const isFolder = await removesFolder(segments, kind);
    const location: FileLocation = toFileLocation(context, segments);
    let trash: string | undefined;
    const onTrashed = (id: string): void => {
      trash = id;
      options?.onTrashed?.(id);
    };
    try {
      await files.remove(segments, kind, { ...options, onTrashed });
    } catch (error) {
      emitEvent(context, { id: isFolder ? 40027 : 40013, data: { ...location, details: failureOf(error).message } });
      throw error;
    }
    const data = { ...location, ...(trash !== undefined && { trash }) };
    emitEvent(context, { id: isFolder ? 40026 : 40012, data });
  }

  function createCopyOrMove(verb: "copy" | "move"): AccountFiles["copy"] {
    const [doneId, failedId] = verb === "move" ? ([40055, 40056] as const) : ([49001, 49002] as const);
    return async (from, to, options) => {
      const { path, real_path } = toFileLocation(context, to);
      const data = { ...toFileLocation(context, from), destination: path, destination_real_path: real_path };
      try {
        const placement = await files[verb](from, to, options);
        emitEvent(context, { id: doneId, data: { ...data, replaced: placement === "replaced" } });
        return placement;
      } catch (error) {
        emitEvent(context, { id: failedId, data: { ...data, details: failureOf(error).message } });
        throw error;
      }
    };
  }

  async function setAttributes(segments: readonly string[], changes: AttributeChanges): Promise<StorageEntry> {
    const location: FileLocation = toFileLocation(context, segments);
    try {
      const entry = await files.setAttributes(segments, changes);
      emitEvent(context, { id: 49006, data: location });
      return entry;
    } catch (error) {
      emitEvent(context, { id: 49007, data: { ...location, details: failureOf(error).message } });
      throw error;
    }
  }

  async function lock(segments: readonly string[], wanted: NewLock): Promise<AccountLock> {
    const { scope, depth } = wanted;
    const data = { ...toFileLocation(context, segments), scope, depth };
    try {
      const granted = await files.lock(segments, wanted);
      emitEvent(context, { id: 49003, data: { ...data, seconds: granted.seconds } });
      return granted;
    } catch (error) {
      emitEvent(context, { id: 49004, data: { ...data, details: failureOf(error).message } });
      throw error;
    }
  }

  async function unlock(segments: readonly string[], token: string): Promise<AccountLock> {
    const ended = await files.unlock(segments, token);
    const { scope, depth, root } = ended;
    emitEvent(context, { id: 49005, data: { ...toFileLocation(context, root.segments), scope, depth } });
    return ended;
  }

  function withTrashEvents(trash: AccountTrash): AccountTrash {
    return {
      ...trash,
      async restore(entry, to = entry.segments) {
        await trash.restore(entry, to);
        emitEvent(context, { id: 49111, data: { ...toFileLocation(context, to), trash: entry.id } });
      },
      async purge(entry) {
        await trash.purge(entry);
        const location: FileLocation = toFileLocation(context, entry.segments);
        emitEvent(context, { id: 49112, data: { ...location, trash: entry.id, reason: "account" } });
      },
    };
  }

  /** To replace a file by a version is an upload of it. */
  function withVersionEvents(versions: FileVersions): FileVersions {
    async function restore(...restoring: Parameters<FileVersions["restore"]>): Promise<StorageEntry> {
      const [segments, { id: version }] = restoring;
      const data = { ...toFileLocation(context, segments), version };
      const startedAt = config.clock();
      const toTotals = (count: number): WriteTotals => toWriteTotals(count, startedAt, config.clock());
      emitEvent(context, { id: 40021, data });
      try {
        const entry = await versions.restore(...restoring);
        emitEvent(context, { id: 40017, data: { ...data, ...toTotals(entry.size) } });
        return entry;
      } catch (error) {
        emitEvent(context, { id: 40022, data: { ...data, ...toTotals(0), details: failureOf(error).message } });
        throw error;
      }
    }

    async function purge(...[segments, version]: Parameters<FileVersions["purge"]>): Promise<void> {
      await versions.purge(segments, version);
      emitEvent(context, { id: 49113, data: { ...toFileLocation(context, segments), version: version.id } });
    }

    return { ...versions, restore, purge };
  }

  /** Whether a folder is to be removed, which the events depend on. If nothing exists, what was asked for decides. */
  async function removesFolder(segments: readonly string[], kind: RemovalKind): Promise<boolean> {
    const found = await files.kindOf(segments).catch(() => undefined);
    return found === undefined ? kind === "folder" || kind === "empty-folder" : found === "folder";
  }

  return {
    ...files,
    createFolder,
    createFolderIfMissing,
    remove,
    copy: createCopyOrMove("copy"),
    move: createCopyOrMove("move"),
    setAttributes,
    lock,
    unlock,
    ...(files.trash && { trash: withTrashEvents(files.trash) }),
    ...(files.versions && { versions: withVersionEvents(files.versions) }),
  };
}
