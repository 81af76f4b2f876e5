import { hasCode, isStorageError, type StorageAdapter, StorageError } from "../contracts/storage-adapter.ts";
import { isPrefix } from "../contracts/storage-path.ts";
import { createFolderStorage } from "../storage/folder-storage.ts";
import { mountStorage } from "../storage/mount.ts";
import type { Account } from "./account.ts";
import { ensureFolder } from "./ensure-folder.ts";
import { toStoragePath } from "./path.ts";

export { createLocationError, isMountEntry, isWayEntry } from "../storage/mount.ts";

/**
 * Creates the storage as the account sees it: its home folder, with the virtual folders mounted over it. If the real
 * folder of a virtual one is missing, the virtual one is empty, and the first member that is created in it creates the
 * real folder.
 */
export function mountAccount({ home, virtualFolders }: Account, storage: StorageAdapter): StorageAdapter {
  if (!virtualFolders.some(({ virtual }) => virtual.length === 0)) return mountFolders(home, virtualFolders, storage);
  // A link to a virtual folder has it as its root, and no tree can be mounted over its own root.
  const top = "root";
  const lower = virtualFolders.map(({ virtual, real }) => ({ virtual: [top, ...virtual], real }));
  return createFolderStorage(mountFolders(home, lower, storage), [top]);
}

function mountFolders(
  home: readonly string[],
  virtualFolders: Account["virtualFolders"],
  storage: StorageAdapter,
): StorageAdapter {
  const root = createFolderStorage(storage, home);
  if (virtualFolders.length === 0) return root;
  const mounts = virtualFolders.map(
    ({ virtual, real }) => [toStoragePath(virtual), createFolderStorage(storage, real)] as const,
  );
  const tree = mountStorage({ ...Object.fromEntries(mounts), "/": root });
  const realFolders = new Map(virtualFolders.map(({ virtual, real }) => [toStoragePath(virtual), real]));

  async function ensureParent(path: string): Promise<void> {
    const real = realFolders.get(path.slice(0, path.lastIndexOf("/")));
    if (real !== undefined) await ensureRealFolder(storage, real);
  }

  const { uploads } = tree;
  const { join } = uploads ?? {};

  return {
    ...tree,
    ...(uploads && {
      uploads: {
        ...uploads,
        async create(key, path, draft) {
          await ensureParent(path);
          return uploads.create(key, path, draft);
        },
        ...(join && {
          async join(keys, path, options) {
            await ensureParent(path);
            return join(keys, path, options);
          },
        }),
      },
    }),
    async write(path, content, options) {
      await ensureParent(path);
      return tree.write(path, content, options);
    },
    async createFolder(path, options) {
      await ensureParent(path);
      await tree.createFolder(path, options);
    },
    async copy(from, to, options) {
      await ensureParent(to);
      return tree.copy(from, to, options);
    },
    async move(from, to, options) {
      await ensureParent(to);
      return tree.move(from, to, options);
    },
  };
}

/** Rejects with StorageError `denied` if there is something else than a folder. */
async function ensureRealFolder(storage: StorageAdapter, real: readonly string[]): Promise<void> {
  try {
    await ensureFolder(storage, real);
  } catch (cause) {
    if (!isStorageError(cause) || hasCode(cause, "unavailable", "no-space")) throw cause;
    const message = `The real folder ${toStoragePath(real)} of a virtual folder is missing and cannot be created.`;
    throw new StorageError("denied", message, { cause });
  }
}

/** Returns the storage's path for a path of the account. */
export function toRealPath(account: Account, segments: readonly string[]): string {
  return toStoragePath(toRealSegments(account, segments));
}

/**
 * Returns the segments of the storage's path for a path of the account. It belongs to the deepest virtual folder around
 * it; of two at the same path, to the last one.
 */
export function toRealSegments(
  { home, virtualFolders }: Pick<Account, "home" | "virtualFolders">,
  segments: readonly string[],
): readonly string[] {
  const enclosing = virtualFolders.filter(({ virtual }) => isPrefix(virtual, segments));
  const deepest = enclosing.reduce((best, one) => (one.virtual.length >= best.virtual.length ? one : best), {
    virtual: [] as readonly string[],
    real: home,
  });
  return [...deepest.real, ...segments.slice(deepest.virtual.length)];
}
