import { toByteSource } from "../contracts/byte-source.ts";
import { toBatches } from "../contracts/member-batches.ts";
import {
  isStorageError,
  type StorageEntry,
  type StorageErrorCode,
  type StoredFile,
} from "../contracts/storage-adapter.ts";
import { isHttpError } from "../http/http-error.ts";
import { sortCooperatively } from "../platform/cooperative-sort.ts";
import { renameMembers, toSafeName } from "./entry-names.ts";
import type { OpenedFile, ZipEntry } from "./read-ahead.ts";

/** The time of what has none: an empty folder that was asked for itself. Times are in milliseconds since 1970 here. */
const EPOCH = 0;

/** Where the members of an archive come from: the part of an account's files that is needed for it. */
export interface ArchiveSource {
  list(segments: readonly string[]): AsyncIterable<StorageEntry>;
  read(segments: readonly string[]): Promise<StoredFile>;
  /** Whether the account may read a file, as far as that can be told without looking: {@link ArchiveSource.read} decides. */
  mayRead(segments: readonly string[]): boolean;
}

/** Learns of a member that is left out since the storage itself denies it: nobody meant that, so an operator should know. */
export type OnDenied = (error: unknown) => void;

/**
 * A folder with all that is under it, for `createZip`: named by the full path without the leading `/` (`reports/2018/a.csv`), the
 * folder's own entry first, but for the root, which has none (CONTRACT 3.4).
 *
 * Depth first, in each folder its files and then its folders by name (UTF-16 code units): the same tree gives the same entries. Links
 * are left out, and what may not be read, or not be listed, with all under it. Entries have size and time as they were listed; files
 * are opened by whoever takes them, and one that has gone since it was listed opens as nothing, as if the listing had come later. Any
 * other failure is thrown. Held are the members of one folder, and the folders waiting on the way to it.
 *
 * @throws what listing the folder throws, before there is anything to send.
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
export type Chosen =
  | { readonly name: string; readonly kind: "folder" }
  | { readonly name: string; readonly kind: "file"; readonly size: number; readonly modified: Date };

/** The same of some members of a folder, named relative to it, in the order of their names. */
export async function* walkMembers(
  source: ArchiveSource,
  segments: readonly string[],
  chosen: readonly Chosen[],
  onDenied: OnDenied,
): AsyncGenerator<ZipEntry> {
  const members: Members = { files: [], folders: [], newest: EPOCH };
  for (const { name, ...file } of chosen) {
    if (file.kind === "folder") members.folders.push({ name });
    else members.files.push({ name, size: file.size, modified: file.modified.getTime() });
  }
  yield* walk(source, { segments, name: "" }, await sort(members), onDenied);
}

/** Why a storage may refuse a member that has just been listed, without any harm to the rest. */
const LEFT_OUT: readonly StorageErrorCode[] = ["not-found", "not-a-file", "not-a-folder", "denied"];

interface Member {
  readonly name: string;
  /** Bytes; for files. */
  readonly size?: number;
  readonly modified?: number;
}

/** What is under a folder, no more of it than is needed: there may be 100,000. */
interface Members {
  readonly files: Member[];
  readonly folders: Member[];
  /** When the latest of them was changed: stands for the time of a folder whose own is not known. */
  newest: number;
}

interface Folder {
  readonly segments: readonly string[];
  /** Its entry's name with the `/` at the end; empty for where names begin. */
  readonly name: string;
  readonly modified?: number | undefined;
}

async function* walk(
  source: ArchiveSource,
  top: Folder,
  itsMembers: Members,
  onDenied: OnDenied,
): AsyncGenerator<ZipEntry> {
  const levels: Iterator<Folder>[] = [];
  let folder: Folder | undefined = top;
  let members: Members | undefined = itsMembers;
  for (;;) {
    if (members !== undefined) {
      const { modified = members.newest } = folder;
      if (folder.name !== "") yield { name: folder.name, modified: new Date(modified), size: 0 };
      const renamed = await renameMembers([...members.files, ...members.folders].map(({ name }) => name));
      // Each is let go as it is taken: the archive's directory grows meanwhile.
      const files = members.files.reverse();
      for (let file = files.pop(); file !== undefined; file = files.pop()) {
        const segments = [...folder.segments, file.name];
        if (!source.mayRead(segments)) continue;
        const { size = 0, modified = EPOCH } = file;
        const name = `${folder.name}${renamed.get(file.name) ?? file.name}`;
        yield { name, size, modified: new Date(modified), open: () => openFile(source, segments, onDenied) };
      }
      levels.push(toFolders(folder, members.folders, renamed));
    }
    folder = takeNext(levels);
    if (folder === undefined) return;
    members = await unlessLeftOut(readMembers(source, folder.segments), onDenied);
  }
}

async function openFile(
  source: ArchiveSource,
  segments: readonly string[],
  onDenied: OnDenied,
): Promise<OpenedFile | undefined> {
  const file = await unlessLeftOut(source.read(segments), onDenied);
  if (file === undefined) return undefined;
  const { size, modified } = file.entry;
  // Where there is a source, the stream is not even to be made.
  return { size, modified, source: file.source ?? toByteSource(file.body) };
}

/** The folders in a folder, made one by one. */
function* toFolders(
  { segments, name }: Folder,
  folders: Members["folders"],
  renamed: ReadonlyMap<string, string>,
): Generator<Folder> {
  for (const { name: own, modified } of folders) {
    yield { segments: [...segments, own], name: `${name}${renamed.get(own) ?? own}/`, modified };
  }
}

/** The next folder of the deepest level that has one. */
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

function addMember(members: Members, { name, kind, size, modified }: StorageEntry): void {
  if (kind === "link") return;
  const time = modified.getTime();
  if (kind === "file") members.files.push({ name, size, modified: time });
  else members.folders.push({ name, modified: time });
  if (time > members.newest) members.newest = time;
}

/** A storage's own order may be another one on the next day. */
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

/** What a member comes to; `undefined` where it is to be left out: it has gone, another kind has its name, or it is denied. */
async function unlessLeftOut<T>(reading: Promise<T>, onDenied: OnDenied): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isHttpError(error) && error.failure === "denied") return undefined;
    if (!isStorageError(error) || !LEFT_OUT.includes(error.code)) throw error;
    if (error.code === "denied") onDenied(error);
    return undefined;
  }
}
