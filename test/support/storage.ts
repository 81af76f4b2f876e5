import { type StorageAdapter, type StorageEntry, StorageError } from "../../src/contracts/storage-adapter.ts";

/** Stores files by their storage paths, with the parents; a path that ends in `/` is a folder. */
export async function fillStorage(
  storage: StorageAdapter,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const names = path.split("/").slice(1, -1);
    for (let depth = 1; depth <= names.length; depth++) {
      const folder = `/${names.slice(0, depth).join("/")}`;
      if ((await storage.stat(folder)) === undefined) await storage.createFolder(folder);
    }
    if (!path.endsWith("/")) await storage.write(path, chunksOf(content));
  }
}

async function* chunksOf(content: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield typeof content === "string" ? new TextEncoder().encode(content) : content;
}

/** A storage with some of its verbs replaced. */
export function overrideStorage(base: StorageAdapter, own: Partial<StorageAdapter>): StorageAdapter {
  return {
    stat: (path) => base.stat(path),
    list: (path) => base.list(path),
    read: (path, range) => base.read(path, range),
    write: (path, content, options) => base.write(path, content, options),
    createFolder: (path, options) => base.createFolder(path, options),
    remove: (path, options) => base.remove(path, options),
    copy: (from, to, options) => base.copy(from, to, options),
    move: (from, to, options) => base.move(from, to, options),
    ...(base.attributes && { attributes: base.attributes }),
    ...own,
  };
}

/** A storage that reports links at some paths, as a disk would. They can be removed and replaced. */
export function withLinks(base: StorageAdapter, paths: readonly string[]): StorageAdapter {
  const links = new Set(paths);
  const toEntry = (path: string): StorageEntry => ({
    name: path.slice(path.lastIndexOf("/") + 1),
    kind: "link",
    size: 0,
    modified: new Date(0),
  });

  async function* list(path: string): AsyncGenerator<StorageEntry> {
    for (const link of links) {
      if (link.slice(0, Math.max(1, link.lastIndexOf("/"))) === path) yield toEntry(link);
    }
    yield* base.list(path);
  }

  return overrideStorage(base, {
    list,
    stat: async (path) => (links.has(path) ? toEntry(path) : base.stat(path)),
    async read(path, range) {
      if (links.has(path)) throw new StorageError("not-found");
      return base.read(path, range);
    },
    async write(path, content, options) {
      links.delete(path);
      return base.write(path, content, options);
    },
    async createFolder(path, options) {
      if (links.has(path)) throw new StorageError("already-exists");
      return base.createFolder(path, options);
    },
    async remove(path, options) {
      if (links.has(path) && options?.kind === "folder") throw new StorageError("not-found");
      if (!links.delete(path)) await base.remove(path, options);
    },
  });
}

/** What a large folder's storage was asked for. */
export interface LargeFolder {
  /** Members handed out so far. */
  taken: number;
  /** Whether the listing was ended. */
  ended: boolean;
}

/** A storage whose every folder has `size` members, made as they are taken. */
export function withLargeFolder(base: StorageAdapter, size: number): StorageAdapter & { readonly folder: LargeFolder } {
  const folder: LargeFolder = { taken: 0, ended: false };
  async function* list(): AsyncGenerator<StorageEntry> {
    try {
      for (let index = 0; index < size; index++) {
        folder.taken++;
        yield { name: `member-${index}.txt`, kind: "file", size: index, modified: new Date(1_700_000_000_000 + index) };
      }
    } finally {
      folder.ended = true;
    }
  }
  return { ...overrideStorage(base, { list }), folder };
}
