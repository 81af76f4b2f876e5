import {
  type ByteRange,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StoredFile,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { toCanonicalPath, toPathSegments } from "../contracts/storage-path.ts";
import { toFileContent } from "../storage/file-content.ts";
import { makeFolders } from "../storage/wrappers/folders.ts";
import { ignoreMissing } from "../storage/wrappers/list-folder.ts";

/**
 * The files of a storage by keys, as object stores name them: `reports/may.pdf` is the file `/reports/may.pdf`. Folders
 * are created when a file needs them, and are no files: nothing here removes or replaces one.
 */
export interface KeyedFiles {
  /** Returns the entry of a file; `undefined` if there is none, as for a key that no file can have. */
  find(key: string): Promise<StorageEntry | undefined>;
  /** @throws StorageError `not-found` */
  get(key: string): Promise<StorageEntry>;
  read(key: string, range?: ByteRange): Promise<StoredFile>;
  write(key: string, content: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<StorageEntry>;
  /** Copies or moves a file, and replaces a file at the new key. */
  copyOrMove(verb: "copy" | "move", from: string, to: string, signal?: AbortSignal): Promise<void>;
  /** Removes a file. A missing file is no error, unless there is a condition. */
  remove(key: string, conditions?: Pick<RemoveOptions, "ifMatch">): Promise<void>;
}

/** Creates the view of a storage by keys. */
export function createKeyedFiles(storage: StorageAdapter): KeyedFiles {
  async function find(key: string): Promise<StorageEntry | undefined> {
    const path = toFilePath(key);
    const entry = path === undefined ? undefined : await storage.stat(path);
    return entry?.kind === "file" ? entry : undefined;
  }

  async function get(key: string): Promise<StorageEntry> {
    const entry = await find(key);
    if (entry === undefined) throw new StorageError("not-found", `There is no file ${JSON.stringify(key)}.`);
    return entry;
  }

  /** Creates the folders of a path that are missing. */
  async function makeParent(path: string): Promise<void> {
    const parent = toCanonicalPath(toPathSegments(path).slice(0, -1));
    if (parent !== "/" && (await storage.stat(parent))?.kind !== "folder") await makeFolders(storage, parent);
  }

  async function write(key: string, content: AsyncIterable<Uint8Array>, options: WriteOptions = {}) {
    const path = creatable(key);
    await makeParent(path);
    return storage.write(path, content, options);
  }

  async function copyOrMove(verb: "copy" | "move", from: string, to: string, signal?: AbortSignal): Promise<void> {
    await get(from);
    const path = creatable(to);
    await makeParent(path);
    if ((await storage.stat(path))?.kind === "folder") {
      throw new StorageError("not-a-file", `There is a folder at ${JSON.stringify(to)}.`);
    }
    await storage[verb](findable(from), path, { kind: "file", replace: true, ...(signal && { signal }) });
  }

  async function remove(key: string, conditions: Pick<RemoveOptions, "ifMatch"> = {}): Promise<void> {
    const path = toFilePath(key);
    if (path === undefined && conditions.ifMatch === undefined) return;
    const removal = storage.remove(findable(key), { kind: "file", ...conditions });
    await (conditions.ifMatch === undefined ? removal.catch(ignoreMissing) : removal);
  }

  const read = async (key: string, range?: ByteRange) => storage.read(findable(key), range);

  return { find, get, read, write, copyOrMove, remove };
}

/** Returns the path of a file; `undefined` if no file can have the key. */
function toFilePath(key: string): string | undefined {
  const path = `/${key}`;
  try {
    return toPathSegments(path).length > 0 ? path : undefined;
  } catch {
    return undefined;
  }
}

function findable(key: string): string {
  const path = toFilePath(key);
  if (path === undefined) throw new StorageError("not-found", `No file can have the key ${JSON.stringify(key)}.`);
  return path;
}

function creatable(key: string): string {
  const path = toFilePath(key);
  if (path === undefined) throw new StorageError("bad-name", `No file can have the key ${JSON.stringify(key)}.`);
  return path;
}

/** Reads a file to its end. */
export async function readFileBytes(file: StoredFile): Promise<Uint8Array<ArrayBuffer>> {
  const content = toFileContent(file);
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content.chunks()) chunks.push(chunk);
    const bytes = new Uint8Array(chunks.reduce((sum, { byteLength }) => sum + byteLength, 0));
    chunks.reduce((at, chunk) => {
      bytes.set(chunk, at);
      return at + chunk.byteLength;
    }, 0);
    return bytes;
  } finally {
    await content.close();
  }
}
