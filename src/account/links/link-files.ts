import { isStorageError, type StorageEntry, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { AccountFiles } from "../files.ts";
import type { LinkRights } from "./link-account.ts";

/**
 * Restricts the files of a link's account to what the link shows and permits: a file link has its file alone, a drop
 * folder shows nothing, and files are replaced only by links that may also delete them (SHARING 1, 6.1, 6.2).
 */
export function withLinkRights(files: AccountFiles, rights: LinkRights): AccountFiles {
  const careful = withoutReplacing(files);
  if (!rights.isFolder) return toFileLinkFiles(careful, rights.path.at(-1) ?? "");
  return isDropFolder(rights) ? toDropFolderFiles(careful) : careful;
}

/** Whether a link takes files and never tells what is there (SHARING 6.2). */
export function isDropFolder({ isFolder, permissions }: Pick<LinkRights, "isFolder" | "permissions">): boolean {
  const reading = ["allow-read", "allow-list", "allow-traverse"] as const;
  return isFolder && !reading.some((permission) => permissions.includes(permission));
}

/** A file is replaced only where it may be deleted too. */
function withoutReplacing(files: AccountFiles): AccountFiles {
  const { uploads } = files;

  /** Throws if a write would replace a file that may not be deleted. Returns whether it must not replace one. */
  async function checkNew(segments: readonly string[]): Promise<boolean> {
    if (await files.may(segments, "delete-file")) return false;
    if ((await files.may(segments, "write")) && (await files.kindOf(segments)) === "file") {
      throw createError("link-replacement-denied");
    }
    return true;
  }

  async function write(
    segments: readonly string[],
    content: AsyncIterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<StorageEntry> {
    if (!(await checkNew(segments))) return files.write(segments, content, options);
    try {
      return await files.write(segments, content, { ...options, ifNoneMatch: "*" });
    } catch (error) {
      const isTaken = isStorageError(error) && error.code === "precondition-failed";
      if (!isTaken || options?.ifNoneMatch !== undefined || options?.ifMatch !== undefined) throw error;
      throw createError("link-replacement-denied", { cause: error });
    }
  }

  return {
    ...files,
    write,
    ...(uploads && {
      uploads: {
        ...uploads,
        async create(upload) {
          if (upload.note.concat !== "partial") await checkNew(upload.note.path);
          return uploads.create(upload);
        },
        async checkCompletion(upload) {
          await checkNew(upload.note.path);
          return uploads.checkCompletion(upload);
        },
        async complete(upload, options) {
          if (!(await checkNew(upload.note.path))) return uploads.complete(upload, options);
          const note = { ...upload.note, ifNoneMatch: "*" as const };
          return uploads.complete({ ...upload, note }, options);
        },
        async join(parts, upload) {
          if (!(await checkNew(upload.note.path))) return uploads.join(parts, upload);
          return uploads.join(parts, { ...upload, note: { ...upload.note, ifNoneMatch: "*" } });
        },
      },
    }),
  };
}

/** The root has the file, and there is nothing else. */
function toFileLinkFiles(files: AccountFiles, name: string): AccountFiles {
  async function listFile(): Promise<readonly StorageEntry[]> {
    const found = (await files.may([name], "read")) ? await files.inspect([name]) : undefined;
    return found?.entry.kind === "file" ? [found.entry] : [];
  }

  return withRootOnly(files, {
    listRoot: listFile,
    isShown: ([first, ...rest]) => first === undefined || (first === name && rest.length === 0),
    toRefusal: () => new StorageError("not-found"),
  });
}

/** Nothing tells what is in the folder, nor whether something is. */
function toDropFolderFiles(files: AccountFiles): AccountFiles {
  async function listNothing(): Promise<readonly StorageEntry[]> {
    if ((await files.kindOf([])) !== "folder") throw new StorageError("not-found");
    return [];
  }

  return withRootOnly(files, {
    listRoot: listNothing,
    isShown: (segments) => segments.length === 0,
    toRefusal: () => createError("denied"),
  });
}

interface Visibility {
  readonly listRoot: () => Promise<readonly StorageEntry[]>;
  readonly isShown: (segments: readonly string[]) => boolean;
  /** The error of what would read something that is not shown. */
  readonly toRefusal: () => Error;
}

/** Replaces everything that tells what is there. */
function withRootOnly(files: AccountFiles, { listRoot, isShown, toRefusal }: Visibility): AccountFiles {
  const { listingTag: _, ...others } = files;

  function requireShown(segments: readonly string[]): void {
    if (!isShown(segments)) throw toRefusal();
  }

  async function* listMembers(segments: readonly string[]): AsyncGenerator<StorageEntry> {
    if (segments.length > 0) throw toRefusal();
    yield* await listRoot();
  }

  return {
    ...others,
    kindOf: async (segments) => (isShown(segments) ? files.kindOf(segments) : undefined),
    inspect: async (segments) => (isShown(segments) ? files.inspect(segments) : undefined),
    list: listMembers,
    async checkListing(segments) {
      for await (const _member of listMembers(segments)) return;
    },
    async listedKinds(segments) {
      if (segments.length > 0) throw toRefusal();
      return "all";
    },
    async stat(segments, operation) {
      if (operation === "read") requireShown(segments);
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
  };
}
