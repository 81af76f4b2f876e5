import { toMembers } from "../contracts/member-batches.ts";
import {
  type ByteRange,
  type CreateFolderOptions,
  type Placement,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StoredFile,
  type TransferOptions,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { toPathSegments } from "../contracts/storage-path.ts";
import { toStoredFile } from "../contracts/stored-file.ts";
import { isOfKind, meetsConditions } from "./conditions.ts";
import { receive } from "./content.ts";
import { createMemoryAttributes } from "./memory/attributes.ts";
import { byteLength, toContent } from "./memory/content.ts";
import { copyInMemory, moveInMemory } from "./memory/copy-and-move.ts";
import { createMemoryTree, type File, type Folder, type Location } from "./memory/tree.ts";
import { createMemoryUploads } from "./memory/uploads.ts";
import { NO_PROPERTIES } from "./properties.ts";

/** Options of {@link createMemoryStorage}. */
export interface MemoryStorageOptions {
  /** Returns the modification time for changes, in milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
}

/** How many members are listed before the event loop continues. Nothing in this file waits otherwise. */
const BATCH_SIZE = 1024;

/**
 * Creates a storage in memory. It is lost with the process, and meant for tests, demonstrations and small temporary
 * trees. It runs on every runtime.
 *
 * The storage copies the bytes that it receives and returns. Conditions of writes are exact.
 */
export function createMemoryStorage({ clock = Date.now }: MemoryStorageOptions = {}): StorageAdapter {
  const tree = createMemoryTree(clock);
  /** Made when it is needed: Workers have no random numbers before the first request. */
  let id: string | undefined;

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const segments = toPathSegments(path);
    const found = tree.find(segments);
    return found && toEntry(segments.at(-1) ?? "", found);
  }

  async function* listBatches(path: string): AsyncGenerator<readonly StorageEntry[]> {
    const folder = tree.find(toPathSegments(path));
    if (folder === undefined) throw new StorageError("not-found");
    if (folder.kind === "file") throw new StorageError("not-a-folder");
    const latest = tree.nextCreation();
    let batch: StorageEntry[] = [];
    for (const [name, member] of folder.members) {
      // Skips members created since the start. Otherwise a member that was removed and created again would appear
      // twice, and the listing of a growing folder would never end.
      if (member.createdAs > latest) break;
      batch.push(toEntry(name, member));
      if (batch.length < BATCH_SIZE) continue;
      yield batch;
      batch = [];
    }
    yield batch;
  }

  const list = (path: string): AsyncIterable<StorageEntry> => toMembers(() => listBatches(path));

  async function listingTag(path: string): Promise<string | undefined> {
    const folder = tree.find(toPathSegments(path));
    if (folder?.kind !== "folder") return undefined;
    id ??= crypto.randomUUID();
    return `${id}-${folder.createdAs}-${folder.changedAs}`;
  }

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    const segments = toPathSegments(path);
    const file = tree.find(segments);
    if (file === undefined) throw new StorageError("not-found");
    if (file.kind === "folder") throw new StorageError("not-a-file");
    const start = Math.min(range?.offset ?? 0, file.size);
    const end = Math.min(start + (range?.length ?? file.size), file.size);
    return toStoredFile(toEntry(segments.at(-1) ?? "", file), toContent(file.chunks, start, end));
  }

  async function write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options: WriteOptions = {},
  ): Promise<StorageEntry> {
    options.signal?.throwIfAborted();
    checkTarget(toPathSegments(path), options);
    const chunks: Uint8Array[] = [];
    for await (const chunk of receive(content, options)) chunks.push(new Uint8Array(chunk));
    options.signal?.throwIfAborted();
    return putFile(checkTarget(toPathSegments(path), options), chunks, options.modified);
  }

  function putFile(location: Location, chunks: readonly Uint8Array[], modified = tree.now()): StorageEntry {
    const previous = location.parent.members.get(location.name);
    const file: File = {
      kind: "file",
      chunks,
      size: byteLength(chunks),
      modified,
      etag: tree.nextEtag(modified),
      properties: previous?.properties ?? NO_PROPERTIES,
      createdAs: previous?.createdAs ?? tree.nextCreation(),
    };
    tree.put(location, file);
    return toEntry(location.name, file);
  }

  function checkTarget(segments: string[], options: WriteOptions): Location {
    if (tree.find(segments)?.kind === "folder") throw new StorageError("not-a-file");
    const location = tree.locate(segments);
    const file = location.parent.members.get(location.name);
    if (!meetsConditions(file?.kind === "file" ? file.etag : undefined, options)) {
      throw new StorageError("precondition-failed");
    }
    return location;
  }

  async function createFolder(path: string, { owner }: CreateFolderOptions = {}): Promise<void> {
    if (owner?.user !== undefined || owner?.group !== undefined)
      throw new StorageError("denied", "Folders in memory have no owner.");
    const segments = toPathSegments(path);
    if (tree.find(segments) !== undefined) throw new StorageError("already-exists");
    tree.put(tree.locate(segments), tree.createFolder());
  }

  async function remove(path: string, conditions: RemoveOptions = {}): Promise<void> {
    const segments = toPathSegments(path);
    if (segments.length === 0) throw new StorageError("denied", "The root folder cannot be removed.");
    const found = tree.find(segments);
    if (found === undefined || !isOfKind(found.kind, conditions)) throw new StorageError("not-found");
    if (!meetsConditions(found.kind === "file" ? found.etag : undefined, conditions)) {
      throw new StorageError("precondition-failed");
    }
    tree.remove(tree.locate(segments));
  }

  const copy = async (from: string, to: string, options: TransferOptions = {}): Promise<Placement> =>
    copyInMemory(tree, from, to, options);

  const move = async (from: string, to: string, options: TransferOptions = {}): Promise<Placement> =>
    moveInMemory(tree, from, to, options);

  const attributes = createMemoryAttributes(tree, toEntry);
  const uploads = createMemoryUploads({ tree, checkTarget, putFile });

  return { stat, list, listingTag, read, write, createFolder, remove, copy, move, attributes, uploads };
}

function toEntry(name: string, found: File | Folder): StorageEntry {
  const { modified } = found;
  const properties = found.properties.size > 0 && ({ hasProperties: true } as const);
  if (found.kind === "folder") return { name, kind: "folder", size: 0, modified, ...properties };
  return { name, kind: "file", size: found.size, modified, etag: found.etag, ...properties };
}
