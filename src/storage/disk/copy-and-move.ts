import {
  type Placement,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StorageErrorCode,
  type TransferOptions,
} from "../../contracts/storage-adapter.ts";
import type { AttributeChanges, Properties } from "../../contracts/storage-attributes.ts";
import { nameOf, toCanonicalPath, toPathSegments } from "../../contracts/storage-path.ts";
import { checkSeparatePaths, checkSource } from "../conditions.ts";
import { moveByCopying } from "../fallbacks.ts";
import { hardLinkFile } from "./copies/hard-link-file.ts";
import { copyMember } from "./copy.ts";
import { mapErrorCode, mapSystemErrors, systemCode, toStorageError } from "./errors.ts";
import type { FolderTree } from "./folder-tree.ts";
import { toEntry } from "./list.ts";
import { moveMember } from "./move.ts";
import { type LookUpOptions, type OpenFolder, withFolder } from "./open-folder.ts";
import { readProperties } from "./properties.ts";
import { changeMember } from "./times.ts";
import type { Durability } from "./write.ts";

/** What copies, moves and changes of times use of a disk storage. */
export interface DiskAccess {
  readonly tree: FolderTree;
  readonly durability: Durability;
  stat(path: string): Promise<StorageEntry | undefined>;
  /** Follows the symlinks of a path, if the storage does. */
  locate(segments: readonly string[]): Promise<readonly string[]>;
  /** Opens the parent folder of a path. Returns it with the last name of the path. */
  openParent(path: string, ifRoot: StorageErrorCode): Promise<{ parent: OpenFolder; name: string }>;
  /** Returns a member of a folder or, if the member is a symlink to follow, the entry of its target. */
  followed(segments: readonly string[], member: StorageEntry, options?: LookUpOptions): Promise<StorageEntry>;
  /** Called after a folder was moved, with where it was and where it is. Not waited for. */
  onFolderMoved(from: readonly string[], to: readonly string[]): Promise<void>;
  /** The storage itself. */
  self(): StorageAdapter;
}

/** Creates the copies, moves and attributes of a disk storage. */
export function createDiskCopyAndMove({
  tree,
  durability,
  stat,
  locate,
  openParent,
  followed,
  onFolderMoved,
  self,
}: DiskAccess): Pick<StorageAdapter, "copy" | "move" | "attributes"> {
  /** Checks also where followed symlinks lead: what is replaced is removed, and with it a source in it. */
  async function checkPaths(from: string, to: string, locateSource: typeof locateMember): Promise<void> {
    checkSeparatePaths(from, to);
    checkSeparatePaths(toCanonicalPath(await locateSource(from)), toCanonicalPath(await locateMember(to)));
  }

  /** Follows the symlinks of a path, also the last name. */
  function locateTarget(path: string): Promise<readonly string[]> {
    return locate(toPathSegments(path));
  }

  /** Follows the symlinks of a path, but not the last name. */
  async function locateMember(path: string): Promise<readonly string[]> {
    const segments = toPathSegments(path);
    return [...(await locate(segments.slice(0, -1))), ...segments.slice(-1)];
  }

  async function copy(from: string, to: string, options: TransferOptions = {}): Promise<Placement> {
    await checkPaths(from, to, locateTarget);
    options.signal?.throwIfAborted();
    const kind = checkSource(await stat(from), options).kind === "folder" ? "folder" : "file";
    const mayShare = kind === "file" && options.mayShare === true && options.replace !== true;
    const source = await openMember(from);
    return withFolder(source.parent, async (folder) => {
      const target = await openParent(to, "denied");
      return withFolder(target.parent, async (parent) => {
        const [here, there] = [
          { folder, name: source.name },
          { folder: parent, name: target.name },
        ];
        const isHardLink = mayShare && (await hardLinkFile(here, there, options));
        const copyTo = async (): Promise<Placement> => {
          const how = { ...options, isValidName: tree.isValidName, durability };
          return copyMember(here, there, kind, { ...how, properties: await properties(from) });
        };
        const placement = isHardLink ? "created" : await mapSystemErrors(copyTo());
        if (durability === "fsync") await parent.sync();
        return placement;
      });
    });
  }

  async function move(from: string, to: string, options: TransferOptions = {}): Promise<Placement> {
    await checkPaths(from, to, locateMember);
    options.signal?.throwIfAborted();
    const segments = toPathSegments(from);
    const name = segments.pop() ?? "";
    if (!tree.isValidName(name)) throw new StorageError("not-found");
    const source = mapErrorCode(tree.open(await locate(segments)), "not-a-folder", "not-found");
    return withFolder(source, async (folder) => {
      if ((await folder.lookUp(name)) === undefined) throw new StorageError("not-found");
      const target = await openParent(to, "denied");
      return withFolder(target.parent, async (parent) => {
        let isFolder = false;
        const follow = (entry: StorageEntry) => {
          isFolder = entry.kind === "folder";
          return followed(segments, entry, { hasLock: true });
        };
        const [here, there] = [
          { folder, name },
          { folder: parent, name: target.name },
        ];
        const placement = await moveMember(here, there, options, follow, durability === "fsync");
        if (durability === "fsync") await Promise.all([folder.sync(), parent.sync()]);
        if (isFolder) void onFolderMoved(await locateMember(from), await locateMember(to));
        return placement;
      });
    }).catch((error: unknown) => {
      // The places are on different devices.
      if (systemCode(error) !== "EXDEV") throw toStorageError(error);
      return moveByCopying(self(), from, to, options);
    });
  }

  /** Opens the folder that has a member. The name of the root is `.`. */
  async function openMember(path: string): Promise<{ readonly parent: OpenFolder; readonly name: string }> {
    const located = await locate(toPathSegments(path));
    const name = located.at(-1) ?? ".";
    if (name !== "." && !tree.isValidName(name)) throw new StorageError("not-found");
    const parent = await mapErrorCode(tree.open(located.slice(0, -1)), "not-a-folder", "not-found");
    return { parent, name };
  }

  async function properties(path: string): Promise<Properties> {
    const { parent, name } = await openMember(path);
    return withFolder(parent, async (folder) => {
      const stats = await folder.lookUp(name);
      const kind = stats && toEntry(name, stats)?.kind;
      if (stats === undefined || kind === undefined || kind === "link") throw new StorageError("not-found");
      return readProperties(folder, stats);
    });
  }

  async function change(path: string, changes: AttributeChanges): Promise<StorageEntry> {
    const { parent, name } = await openMember(path);
    const entry = await withFolder(parent, (folder) => changeMember(folder, name, changes, durability === "fsync"));
    return { ...entry, name: nameOf(path) };
  }

  return { copy, move, attributes: { properties, change } };
}
