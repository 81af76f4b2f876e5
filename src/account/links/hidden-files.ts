import { type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { InspectedEntry } from "../file-attributes.ts";
import type { AccountFiles } from "../files.ts";

/**
 * The files of a link to one file: the root has that file, and nothing else is there. The folder
 * around the file stays hidden.
 */
export function toFileLinkFiles(files: AccountFiles, name: string): AccountFiles {
  const isOwn = ([first, ...rest]: readonly string[]): boolean => first === name && rest.length === 0;
  const { uploads } = files;

  async function listFile(): Promise<readonly StorageEntry[]> {
    const found = (await files.may([name], "read")) ? await files.inspect([name]) : undefined;
    return found?.entry.kind === "file" ? [found.entry] : [];
  }

  async function inspectRoot(): Promise<InspectedEntry> {
    const [file] = await listFile();
    const modified = file?.modified ?? new Date(0);
    return { entry: { name: "", kind: "folder", size: 0, modified }, isVisible: file !== undefined };
  }

  function requireOwn(segments: readonly string[]): void {
    if (!isOwn(segments)) throw createError("denied");
  }

  return {
    ...toHiddenFiles(files, {
      listRoot: listFile,
      inspectRoot,
      isShown: isOwn,
      toRefusal: () => new StorageError("not-found"),
    }),
    async write(segments, content, options) {
      requireOwn(segments);
      return files.write(segments, content, options);
    },
    createFolder: refuse,
    createFolderIfMissing: refuse,
    ...(uploads && {
      uploads: {
        ...uploads,
        async checkPermission(note) {
          // A partial upload has the folder as its path, and no name yet.
          requireOwn(note.concat === "partial" ? [...note.path, name] : note.path);
          return uploads.checkPermission(note);
        },
      },
    }),
  };
}

/** The files of a drop folder. Nothing reveals what is in it, or whether something is (SHARING 6.2). */
export function toDropFolderFiles(files: AccountFiles): AccountFiles {
  const { uploads } = files;

  async function listNothing(): Promise<readonly StorageEntry[]> {
    if ((await files.kindOf([])) !== "folder") throw new StorageError("not-found");
    return [];
  }

  const hidden = toHiddenFiles(files, {
    listRoot: listNothing,
    inspectRoot: () => files.inspect([]),
    isShown: () => false,
    toRefusal: () => createError("denied"),
  });

  return {
    ...hidden,
    async stat(segments, operation) {
      if (operation !== "write" || !(await files.may(segments, "write"))) throw createError("denied");
      return undefined;
    },
    write: (segments, content, options) => files.write(segments, content, { ...options, ifNoneMatch: "*" }),
    ...(uploads && {
      uploads: {
        ...uploads,
        async checkPermission(note) {
          const isAllowed = note.concat === "partial" || (await files.may(note.path, "write"));
          if (!isAllowed) throw createError("denied");
          return uploads.checkPermission(note);
        },
        complete: (upload, options) =>
          uploads.complete({ ...upload, note: { ...upload.note, ifNoneMatch: "*" } }, options),
        join: (parts, upload) => uploads.join(parts, { ...upload, note: { ...upload.note, ifNoneMatch: "*" } }),
      },
    }),
  };
}

interface Visibility {
  readonly listRoot: () => Promise<readonly StorageEntry[]>;
  readonly inspectRoot: () => Promise<InspectedEntry | undefined>;
  /** Whether something other than the root is shown. It may also be changed then. */
  readonly isShown: (segments: readonly string[]) => boolean;
  /** The error of what would read something that is not shown. */
  readonly toRefusal: () => Error;
}

async function refuse(): Promise<never> {
  throw createError("denied");
}

/** Hides everything that is not shown from every method that could reveal it by its result or its error. */
function toHiddenFiles(files: AccountFiles, visibility: Visibility): AccountFiles {
  const { listRoot, inspectRoot, isShown, toRefusal } = visibility;
  const { listingTag: _, ...others } = files;
  const isRoot = (segments: readonly string[]): boolean => segments.length === 0;

  function requireShown(segments: readonly string[]): void {
    if (!isShown(segments)) throw toRefusal();
  }

  function requireChangeable(segments: readonly string[]): void {
    if (!isShown(segments)) throw createError("denied");
  }

  async function* listMembers(segments: readonly string[]): AsyncGenerator<StorageEntry> {
    if (!isRoot(segments)) throw toRefusal();
    yield* await listRoot();
  }

  return {
    ...others,
    kindOf: async (segments) => (isRoot(segments) || isShown(segments) ? files.kindOf(segments) : undefined),
    async inspect(segments) {
      if (isRoot(segments)) return inspectRoot();
      return isShown(segments) ? files.inspect(segments) : undefined;
    },
    list: listMembers,
    async checkListing(segments) {
      for await (const _member of listMembers(segments)) return;
    },
    async listedKinds(segments) {
      if (!isRoot(segments)) throw toRefusal();
      return "all";
    },
    async stat(segments, operation) {
      (operation === "read" ? requireShown : requireChangeable)(segments);
      return files.stat(segments, operation);
    },
    async read(segments, range) {
      requireShown(segments);
      return files.read(segments, range);
    },
    async properties(segments) {
      requireShown(segments);
      return files.properties(segments);
    },
    async setAttributes(segments, changes) {
      requireChangeable(segments);
      return files.setAttributes(segments, changes);
    },
    async remove(segments, kind, options) {
      requireChangeable(segments);
      return files.remove(segments, kind, options);
    },
    copy: refuse,
    move: refuse,
    async lock(segments, lock) {
      requireChangeable(segments);
      return files.lock(segments, lock);
    },
    async refreshLock(segments, token, seconds) {
      requireChangeable(segments);
      return files.refreshLock(segments, token, seconds);
    },
    async unlock(segments, token) {
      requireChangeable(segments);
      return files.unlock(segments, token);
    },
    locksOf: async (segments) => (isShown(segments) ? files.locksOf(segments) : []),
    tokensOf: async (segments) => (isShown(segments) ? files.tokensOf(segments) : []),
    async requireUnlocked(segments) {
      requireChangeable(segments);
      return files.requireUnlocked(segments);
    },
  };
}
