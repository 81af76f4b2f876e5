import type { ByteSource } from "../../contracts/byte-source.ts";
import { toBatches, toMembers } from "../../contracts/member-batches.ts";
import {
  type ByteRange,
  type Placement,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StoredFile,
  type TransferOptions,
  type WriteOptions,
} from "../../contracts/storage-adapter.ts";
import { nameOf, parentOf, toPathSegments } from "../../contracts/storage-path.ts";
import { toFileSource, toStoredFile } from "../../contracts/stored-file.ts";
import { createByteCollector } from "../../platform/byte-collector.ts";
import { checkParent, checkSeparatePaths, isOfKind, meetsConditions } from "../conditions.ts";
import { isUnread, noteUnread } from "../wrappers/dry-runs.ts";

/** What is at a path. */
interface Member {
  /** Where the storage has it. Absent: it is new. */
  readonly origin?: string | undefined;
  /** It is a copy, or in one: it has no links, and no tag, because the tag of the original is not its own. */
  readonly isCopy?: boolean | undefined;
  /** Its entry, under any name, as soon as it is known. */
  entry?: StorageEntry | undefined;
  /** The content of a new file, as far as it is held. */
  readonly bytes?: Uint8Array | undefined;
  /** What was changed in a folder, by name. `undefined`: it was removed. */
  readonly members: Map<string, Member | undefined>;
}

/** How many members with changes, or with changes in them, are held. */
const MAX_HELD = 100_000;
/** How many bytes of new files are held: enough for the records of a trash and of versions. */
const MAX_HELD_BYTES = 4_194_304;
/** Of larger files no byte is held. */
const MAX_FILE_BYTES = 65_536;
/** No file has this tag. */
const NO_TAG = '""';
const NO_MEMBERS: Member["members"] = new Map();

/**
 * Returns a storage that looks like another one, and keeps its changes to itself: the other one is only read. It is for
 * one dry run, whose changes come one after the other.
 *
 * It fails as the other one does, but for what only that one knows: names that it does not keep, a full disk. What is
 * more than it holds is `too-large`. It has neither properties nor uploads.
 */
export function createOverlay(storage: StorageAdapter): StorageAdapter {
  const root: Member = { origin: "/", members: new Map() };
  let [held, heldBytes] = [0, 0];
  /** The time of all that is new. */
  const now = new Date();

  function memberOf({ origin, isCopy, members }: Member, name: string): Member | undefined {
    if (members.has(name)) return members.get(name);
    if (origin === undefined) return undefined;
    return { origin: origin === "/" ? `/${name}` : `${origin}/${name}`, isCopy, members: new Map() };
  }

  /** Returns what may be at a path: only the storage knows whether its origin exists. */
  function look(path: string): Member | undefined {
    let found: Member | undefined = root;
    for (const name of toPathSegments(path)) found = found && memberOf(found, name);
    return found;
  }

  function count(): void {
    held += 1;
    if (held > MAX_HELD) throw new StorageError("too-large");
  }

  function hold<T extends Member | undefined>({ members }: Member, name: string, member: T): T {
    if (!members.has(name)) count();
    members.set(name, member);
    return member;
  }

  /** Puts something at a path whose parent is a folder. */
  function put(path: string, member: Member | undefined): void {
    let folder = root;
    for (const name of toPathSegments(parentOf(path))) folder = hold(folder, name, memberOf(folder, name) as Member);
    hold(folder, nameOf(path), member);
  }

  function toCopy(member: Member): Member {
    const copied = Array.from(member.members, ([name, one]) => {
      count();
      return [name, one && toCopy(one)] as const;
    });
    return { ...member, isCopy: true, members: new Map(copied) };
  }

  async function toEntry(name: string, member: Member): Promise<StorageEntry | undefined> {
    const { origin, isCopy } = member;
    if (origin !== undefined) member.entry ??= await storage.stat(origin);
    return member.entry && toShown(name, member.entry, isCopy);
  }

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const found = look(path);
    return found && toEntry(nameOf(path), found);
  }

  async function* listBatches(path: string): AsyncGenerator<readonly StorageEntry[]> {
    const found = look(path);
    if (found === undefined) throw new StorageError("not-found");
    if (found.entry?.kind === "file") throw new StorageError("not-a-folder");
    const { origin, isCopy } = found;
    const changed = new Map(found.members);
    if (origin !== undefined) {
      for await (const batch of toBatches(storage.list(origin))) {
        yield batch.flatMap((entry) => (changed.has(entry.name) ? [] : (toShown(entry.name, entry, isCopy) ?? [])));
      }
    }
    for (const [name, member] of changed) {
      const entry = member && (await toEntry(name, member));
      if (entry !== undefined) yield [entry];
    }
  }

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    const found = look(path);
    const entry = await stat(path);
    if (entry === undefined || entry.kind === "link") throw new StorageError("not-found");
    if (entry.kind === "folder") throw new StorageError("not-a-file");
    const { origin, bytes = new Uint8Array(0) } = found as Member;
    const part = range ? bytes.subarray(range.offset, range.offset + range.length) : bytes;
    const opened = toStoredFile(entry, origin ? toLateSource(() => storage.read(origin, range)) : part);
    noteUnread(opened);
    return opened;
  }

  /** Returns the size of content, and its bytes if they are held. */
  async function receive(
    content: AsyncIterable<Uint8Array>,
    { signal, size: announced }: WriteOptions,
  ): Promise<{ readonly size: number; readonly bytes: Uint8Array | undefined }> {
    const collector = createByteCollector();
    let size = 0;
    for await (const chunk of content) {
      signal?.throwIfAborted();
      size += chunk.byteLength;
      if (size <= MAX_FILE_BYTES && !isUnread(chunk.buffer)) collector.add(chunk);
    }
    if (announced !== undefined && announced !== size) throw new StorageError("incomplete");
    const bytes = collector.bytes();
    if (bytes.byteLength < size || heldBytes > MAX_HELD_BYTES) return { size, bytes: undefined };
    heldBytes += size;
    return { size, bytes };
  }

  async function write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options: WriteOptions = {},
  ): Promise<StorageEntry> {
    options.signal?.throwIfAborted();
    const found = await stat(path);
    if (found?.kind === "folder") throw new StorageError("not-a-file");
    await checkParent({ stat }, path);
    // A copy has no tag, but is there. A link counts as missing.
    const etag = found?.kind === "file" ? (found.etag ?? NO_TAG) : undefined;
    if (!meetsConditions(etag, options)) throw new StorageError("precondition-failed");
    const { size, bytes } = await receive(content, options);
    const { modified = now } = options;
    const entry = { name: nameOf(path), kind: "file", size, modified, etag: `"${crypto.randomUUID()}"` } as const;
    put(path, { entry, bytes, members: NO_MEMBERS });
    return entry;
  }

  async function createFolder(path: string): Promise<void> {
    if (await stat(path)) throw new StorageError("already-exists");
    await checkParent({ stat }, path);
    put(path, { entry: { name: "", kind: "folder", size: 0, modified: now }, members: new Map() });
  }

  async function remove(path: string, options: RemoveOptions = {}): Promise<void> {
    if (path === "/") throw new StorageError("denied");
    await requireEntry(path, options);
    put(path, undefined);
  }

  function createCopyOrMove(verb: "copy" | "move"): StorageAdapter["copy"] {
    return async (from, to, options = {}): Promise<Placement> => {
      checkSeparatePaths(from, to);
      options.signal?.throwIfAborted();
      const entry = await requireEntry(from, options);
      if (entry.kind === "link" && verb === "copy") throw new StorageError("not-found");
      await checkParent({ stat }, to);
      const replaced = await stat(to);
      if (replaced && !options.replace) throw new StorageError("already-exists");
      const found: Member = { ...(look(from) as Member), entry };
      put(to, verb === "copy" ? toCopy(found) : found);
      if (verb === "move") put(from, undefined);
      return replaced ? "replaced" : "created";
    };
  }

  async function requireEntry(path: string, options: RemoveOptions | TransferOptions): Promise<StorageEntry> {
    const entry = await stat(path);
    if (entry === undefined || !isOfKind(entry.kind, options)) throw new StorageError("not-found");
    if (!meetsConditions(entry.etag, options)) throw new StorageError("precondition-failed");
    return entry;
  }

  return {
    stat,
    list: (path) => toMembers(() => listBatches(path)),
    read,
    write,
    createFolder,
    remove,
    copy: createCopyOrMove("copy"),
    move: createCopyOrMove("move"),
  };
}

/** Returns how an entry looks, also in a copy. */
function toShown(name: string, entry: StorageEntry, isCopy?: boolean): StorageEntry | undefined {
  if (!isCopy) return { ...entry, name };
  const { etag: _, ...others } = entry;
  return entry.kind === "link" ? undefined : { ...others, name };
}

/** A source that opens its file when it is first read: a copy in a dry run never reads it. */
function toLateSource(open: () => Promise<StoredFile>): ByteSource {
  let opening: Promise<ByteSource> | undefined;
  return {
    async readInto(buffer) {
      opening ??= open().then(toFileSource);
      return (await opening).readInto(buffer);
    },
    close: async () => (await opening)?.close(),
  };
}
