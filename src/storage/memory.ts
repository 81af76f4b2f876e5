import type { ByteSource } from "../contracts/byte-source.ts";
import { toMembers } from "../contracts/member-batches.ts";
import {
  type ByteRange,
  type CreateFolderOptions,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StoredFile,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { toPathSegments } from "../contracts/storage-path.ts";
import { toStoredFile } from "../contracts/stored-file.ts";
import { isOfKind, meetsConditions } from "./conditions.ts";
import { receive } from "./content.ts";

/** Options of {@link createMemoryStorage}. */
export interface MemoryStorageOptions {
  /** Returns the modification time for changes, in milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
}

interface File {
  readonly kind: "file";
  readonly chunks: readonly Uint8Array[];
  readonly size: number;
  readonly modified: Date;
  readonly etag: string;
  readonly createdAs: number;
}

interface Folder {
  readonly kind: "folder";
  readonly members: Map<string, File | Folder>;
  modified: Date;
  /** Number of the last change of what a listing of the folder shows. */
  changedAs: number;
  readonly createdAs: number;
}

/** Where a member is, or can be created. */
interface Location {
  readonly parent: Folder;
  /** The folder with the parent; the root for members of the root. */
  readonly above: Folder;
  readonly name: string;
}

const MAX_NAME_BYTES = 255;
/** Content up to this size is copied immediately. Larger content becomes a source. */
const SMALL_BYTES = 65_536;
/** How many members are listed before the event loop continues. Nothing in this file waits otherwise. */
const BATCH_SIZE = 1024;

/**
 * Creates a storage in memory. It is lost with the process, and meant for tests, demonstrations and small temporary
 * trees. It runs on every runtime.
 *
 * The storage copies the bytes that it receives and returns. Conditions of writes are exact.
 */
export function createMemoryStorage({ clock = Date.now }: MemoryStorageOptions = {}): StorageAdapter {
  let versions = 0;
  /**
   * Number of members created so far. Members are kept in creation order, so a member created during a listing comes
   * after all existing ones.
   */
  let creations = 0;
  let changes = 0;
  /** Made when it is needed: Workers have no random numbers before the first request. */
  let id: string | undefined;
  const root = createEmptyFolder();

  function createEmptyFolder(): Folder {
    creations += 1;
    return { kind: "folder", members: new Map(), modified: new Date(clock()), changedAs: 0, createdAs: creations };
  }

  function find(segments: readonly string[]): File | Folder | undefined {
    let found: File | Folder | undefined = root;
    for (const name of segments) found = found?.kind === "folder" ? found.members.get(name) : undefined;
    return found;
  }

  /** Returns where the member at a path is, or can be created. */
  function findParent(segments: string[]): Location {
    const name = segments.pop() ?? "";
    if (!isValidName(name)) throw new StorageError("bad-name");
    let [parent, above] = [root, root];
    for (const segment of segments) {
      const next = parent.members.get(segment);
      if (next === undefined) throw new StorageError("parent-missing");
      if (next.kind === "file") throw new StorageError("not-a-folder");
      [above, parent] = [parent, next];
    }
    return { parent, above, name };
  }

  /** Notes a change of a folder's members. The folder around it shows the new time. */
  function noteChange({ parent, above }: Location, modified: Date): void {
    changes += 1;
    parent.modified = modified;
    parent.changedAs = changes;
    above.changedAs = changes;
  }

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const segments = toPathSegments(path);
    const found = find(segments);
    return found && toEntry(segments.at(-1) ?? "", found);
  }

  async function* listBatches(path: string): AsyncGenerator<readonly StorageEntry[]> {
    const folder = find(toPathSegments(path));
    if (folder === undefined) throw new StorageError("not-found");
    if (folder.kind === "file") throw new StorageError("not-a-folder");
    const latest = creations;
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
    const folder = find(toPathSegments(path));
    if (folder?.kind !== "folder") return undefined;
    id ??= crypto.randomUUID();
    return `${id}-${folder.createdAs}-${folder.changedAs}`;
  }

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    const segments = toPathSegments(path);
    const file = find(segments);
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
    const location = checkTarget(toPathSegments(path), options);
    const { parent, name } = location;
    const modified = new Date(clock());
    versions += 1;
    const etag = `"${modified.getTime().toString(16)}-${versions.toString(16)}"`;
    const createdAs = parent.members.get(name)?.createdAs ?? ++creations;
    const file: File = { kind: "file", chunks, size: byteLength(chunks), modified, etag, createdAs };
    parent.members.set(name, file);
    noteChange(location, modified);
    return toEntry(name, file);
  }

  function checkTarget(segments: string[], options: WriteOptions): Location {
    if (find(segments)?.kind === "folder") throw new StorageError("not-a-file");
    const location = findParent(segments);
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
    if (find(segments) !== undefined) throw new StorageError("already-exists");
    const location = findParent(segments);
    const folder = createEmptyFolder();
    location.parent.members.set(location.name, folder);
    noteChange(location, folder.modified);
  }

  async function remove(path: string, conditions: RemoveOptions = {}): Promise<void> {
    const segments = toPathSegments(path);
    if (segments.length === 0) throw new StorageError("denied", "The root folder cannot be removed.");
    const found = find(segments);
    if (found === undefined || !isOfKind(found.kind, conditions)) throw new StorageError("not-found");
    if (!meetsConditions(found.kind === "file" ? found.etag : undefined, conditions)) {
      throw new StorageError("precondition-failed");
    }
    const location = findParent(segments);
    location.parent.members.delete(location.name);
    noteChange(location, new Date(clock()));
  }

  return { stat, list, listingTag, read, write, createFolder, remove };
}

/** Accepts the names that a disk accepts, so that the service behaves the same on both. */
function isValidName(name: string): boolean {
  return !/[\0\p{Cs}]/u.test(name) && new TextEncoder().encode(name).byteLength <= MAX_NAME_BYTES;
}

function toEntry(name: string, found: File | Folder): StorageEntry {
  if (found.kind === "folder") return { name, kind: "folder", size: 0, modified: found.modified };
  return { name, kind: "file", size: found.size, modified: found.modified, etag: found.etag };
}

function byteLength(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
}

/** Returns a copy of the bytes, or a source for large content. */
function toContent(chunks: readonly Uint8Array[], start: number, end: number): Uint8Array | ByteSource {
  const fill = createFiller(chunks, start, end);
  if (end - start > SMALL_BYTES) return { readInto: async (buffer) => fill(buffer), close: async () => undefined };
  const bytes = new Uint8Array(end - start);
  fill(bytes);
  return bytes;
}

/** Creates a function that copies the next bytes into a buffer. It returns the number of bytes, 0 at the end. */
function createFiller(chunks: readonly Uint8Array[], start: number, end: number): (buffer: Uint8Array) => number {
  let index = 0;
  let before = 0;
  let position = start;

  return (buffer) => {
    let filled = 0;
    for (let chunk = chunks[index]; chunk !== undefined && position < end; chunk = chunks[index]) {
      const most = Math.min(end - position, buffer.byteLength - filled);
      const part = chunk.subarray(position - before, position - before + most);
      buffer.set(part, filled);
      filled += part.byteLength;
      position += part.byteLength;
      if (filled === buffer.byteLength) break;
      before += chunk.byteLength;
      index += 1;
    }
    return filled;
  };
}
