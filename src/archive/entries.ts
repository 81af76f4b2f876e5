import { toByteSource } from "../contracts/byte-source.ts";
import { toBatches } from "../contracts/member-batches.ts";
import { hasCode, type StorageEntry, type StorageErrorCode, type StoredFile } from "../contracts/storage-adapter.ts";
import { isHttpError } from "../http/http-error.ts";
import { sortCooperatively } from "../platform/cooperative-sort.ts";
import { renameMembers, toSafeName } from "./entry-names.ts";
import type { OpenedFile, ZipEntry } from "./read-ahead.ts";

/**
 * The time of a folder that has none: the requested folder, if it is empty. Times in this file are milliseconds since
 * 1970.
 */
const EPOCH = 0;

/** Where the members of an archive come from: the part of an account's files that an archive needs. */
export interface ArchiveSource {
  list(segments: readonly string[]): AsyncIterable<StorageEntry>;
  read(segments: readonly string[]): Promise<StoredFile>;
  /**
   * Returns false if permissions deny reading a file. It does not access the storage; {@link ArchiveSource.read}
   * decides.
   */
  mayRead(segments: readonly string[]): Promise<boolean>;
}

/**
 * Receives the error when a member is omitted because the storage denies access to it. Operators should know, because
 * unlike a missing permission this is probably a mistake.
 */
export type OnDenied = (error: unknown) => void;

/**
 * Returns the entries of a folder and everything in it, for `createZip`. Names are full paths without the leading `/`
 * (`reports/2018/a.csv`). The folder's own entry comes first; the root has none (CONTRACT 3.4).
 *
 * The order is depth-first; each folder has its files first, then its folders, sorted by name (UTF-16 code units). So
 * equal trees give equal entries. Entries have the size and time of the listing. The consumer opens the files.
 *
 * Links are omitted, and so are files that may not be read and folders that may not be listed. A file that was removed
 * after the listing opens as `undefined`. Any other failure is thrown. Memory holds the members of one folder, and the
 * remaining folders of each level above it.
 *
 * @throws the error of listing the folder, before anything is sent.
 */
export async function openFolder(
  source: ArchiveSource,
  segments: readonly string[],
  onDenied: OnDenied,
): Promise<AsyncGenerator<ZipEntry>> {
  const name = segments.map((segment) => `${toSafeName(segment)}/`).join("");
  return walk(source, { segments, name }, await readMembers(source, segments), onDenied);
}

/** A chosen member of a folder. */
export type SelectedMember =
  | { readonly name: string; readonly kind: "folder" }
  | { readonly name: string; readonly kind: "file"; readonly size: number; readonly modified: Date };

/** Yields the entries of chosen members of a folder, as {@link openFolder} does, with names relative to the folder. */
export async function* walkMembers(
  source: ArchiveSource,
  segments: readonly string[],
  chosen: readonly SelectedMember[],
  onDenied: OnDenied,
): AsyncGenerator<ZipEntry> {
  const members: Members = { files: [], folders: [], newest: EPOCH };
  for (const { name, ...file } of chosen) {
    if (file.kind === "folder") members.folders.push({ name });
    else members.files.push({ name, size: file.size, modified: file.modified.getTime() });
  }
  yield* walk(source, { segments, name: "" }, await sort(members), onDenied);
}

/** Errors of a storage that concern one listed member only: the archive omits the member. */
const OMITTED: readonly StorageErrorCode[] = ["not-found", "not-a-file", "not-a-folder", "denied"];

interface Member {
  readonly name: string;
  /** Bytes; for files. */
  readonly size?: number;
  readonly modified?: number;
}

/** The members of a folder. Only the needed data is kept, as there may be 100,000 members. */
interface Members {
  readonly files: Member[];
  readonly folders: Member[];
  /** The latest time of a member: replaces the time of a folder whose own is not known. */
  newest: number;
}

interface Folder {
  readonly segments: readonly string[];
  /** The name of its entry, with a final `/`; empty for the folder that names are relative to. */
  readonly name: string;
  readonly modified?: number | undefined;
}

async function* walk(
  source: ArchiveSource,
  top: Folder,
  topMembers: Members,
  onDenied: OnDenied,
): AsyncGenerator<ZipEntry> {
  const levels: Iterator<Folder>[] = [];
  let folder: Folder | undefined = top;
  let members: Members | undefined = topMembers;
  for (;;) {
    if (members !== undefined) {
      const { modified = members.newest } = folder;
      if (folder.name !== "") yield { name: folder.name, modified: new Date(modified), size: 0 };
      const renamed = await renameMembers([...members.files, ...members.folders].map(({ name }) => name));
      // Each file is released as it is taken, because the archive's directory grows meanwhile.
      const files = members.files.reverse();
      for (let file = files.pop(); file !== undefined; file = files.pop()) {
        const segments = [...folder.segments, file.name];
        if (!(await source.mayRead(segments))) continue;
        const { size = 0, modified = EPOCH } = file;
        const name = `${folder.name}${renamed.get(file.name) ?? file.name}`;
        yield { name, size, modified: new Date(modified), open: () => openFile(source, segments, onDenied) };
      }
      levels.push(toFolders(folder, members.folders, renamed));
    }
    folder = takeNext(levels);
    if (folder === undefined) return;
    members = await unlessOmitted(readMembers(source, folder.segments), onDenied);
  }
}

async function openFile(
  source: ArchiveSource,
  segments: readonly string[],
  onDenied: OnDenied,
): Promise<OpenedFile | undefined> {
  const file = await unlessOmitted(source.read(segments), onDenied);
  if (file === undefined) return undefined;
  const { size, modified } = file.entry;
  // `body` is a getter that creates a stream: it is not touched if there is a source.
  return { size, modified, source: file.source ?? toByteSource(file.body) };
}

/** Yields the folders in a folder one by one, so that their paths do not take memory all together. */
function* toFolders(
  { segments, name }: Folder,
  folders: Members["folders"],
  renamed: ReadonlyMap<string, string>,
): Generator<Folder> {
  for (const { name: own, modified } of folders) {
    yield { segments: [...segments, own], name: `${name}${renamed.get(own) ?? own}/`, modified };
  }
}

/** Takes the next folder from the deepest level that has one left. */
function takeNext(levels: Iterator<Folder>[]): Folder | undefined {
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const next = level.next();
    if (!next.done) return next.value;
    levels.pop();
  }
  return undefined;
}

async function readMembers(source: ArchiveSource, segments: readonly string[]): Promise<Members> {
  const members: Members = { files: [], folders: [], newest: EPOCH };
  for await (const batch of toBatches(source.list(segments))) {
    for (const entry of batch) addMember(members, entry);
  }
  return sort(members);
}

/** Links are left out, also those that the storage follows: the same file could be there several times. */
function addMember(members: Members, { name, kind, isFollowed, size, modified }: StorageEntry): void {
  if (kind === "link" || isFollowed) return;
  const time = modified.getTime();
  if (kind === "file") members.files.push({ name, size, modified: time });
  else members.folders.push({ name, modified: time });
  if (time > members.newest) members.newest = time;
}

/** Sorts the members, because the order of a storage can change. */
async function sort({ files, folders, newest }: Members): Promise<Members> {
  return {
    files: await sortCooperatively(files, compareNames),
    folders: await sortCooperatively(folders, compareNames),
    newest,
  };
}

function compareNames({ name: one }: Member, { name: other }: Member): number {
  return one < other ? -1 : Number(one > other);
}

/**
 * Returns `undefined` if the member must be omitted: it no longer exists, its kind has changed, or access is denied.
 */
async function unlessOmitted<T>(reading: Promise<T>, onDenied: OnDenied): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isHttpError(error) && error.failure === "denied") return undefined;
    if (!hasCode(error, ...OMITTED)) throw error;
    if (error.code === "denied") onDenied(error);
    return undefined;
  }
}
