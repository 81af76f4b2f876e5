import type { Operation } from "../contracts/account.ts";
import { toBatches, toMembers } from "../contracts/member-batches.ts";
import {
  type ListOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
} from "../contracts/storage-adapter.ts";
import type { HttpError } from "../http/http-error.ts";
import { type FairQueue, runSteps, type Urgency } from "../platform/fair-queue.ts";
import { isReserved, RESERVED_NAME, toStoragePath } from "./path.ts";

/** The listings of the folders of an account. */
export interface FolderListings {
  /**
   * Lists the members of a folder. An account that may `traverse` but not `list` gets only the folders. The first step
   * throws the errors of the storage. With `options`, members that are not needed may be missing. A `long` listing is a
   * part of long work, such as an archive. The first steps of others are `short`, of one listing at a time.
   */
  list(segments: readonly string[], options?: ListOptions, urgency?: Urgency): AsyncIterable<StorageEntry>;
  /** Throws what the first step of {@link FolderListings.list} throws, and reads no further. */
  checkListing(segments: readonly string[]): Promise<void>;
  /**
   * Returns which members a listing has: files and folders, or folders only. Throws if the account may not list the
   * folder; the storage is not asked.
   */
  listedKinds(segments: readonly string[]): Promise<"all" | "folders">;
  /**
   * Returns a tag that changes with the listing that this account gets, or `undefined` if there is none. Absent if the
   * storage has no tags.
   */
  listingTag?(segments: readonly string[]): Promise<string | undefined>;
}

/** What listings use of an account. */
export interface ListingSource {
  /** The storage as the account sees it. */
  readonly tree: StorageAdapter;
  readonly allows: (segments: readonly string[], operation: Operation) => Promise<boolean>;
  readonly refusalOf: (segments: readonly string[]) => HttpError;
  readonly queue: FairQueue;
  /** The account's key in the queue. */
  readonly key: string;
}

/** Lists the members of a folder, as {@link FolderListings.list} does. */
export function listFolder(
  source: ListingSource,
  segments: readonly string[],
  options: ListOptions | undefined,
  urgency: Urgency = "short",
): AsyncIterable<StorageEntry> {
  return toMembers(() => listBatches(source, segments, urgency, options));
}

/** Throws what the first step of a listing throws. */
export async function checkFolder(source: ListingSource, segments: readonly string[]): Promise<void> {
  await readFirst(listBatches(source, segments, "long"));
}

/** Returns which members a listing has. @throws StorageError `not-found`, or the refusal of the account. */
export async function findListedKinds(source: ListingSource, segments: readonly string[]): Promise<"all" | "folders"> {
  if (isReserved(segments)) throw new StorageError("not-found");
  if (await source.allows(segments, "list")) return "all";
  if (await source.allows(segments, "traverse")) return "folders";
  throw source.refusalOf(segments);
}

/** Returns the tag of a listing; `undefined` if there is none, or the account may not list the folder. */
export async function findListingTag(source: ListingSource, segments: readonly string[]): Promise<string | undefined> {
  const tag = await source.tree.listingTag?.(toStoragePath(segments));
  if (tag === undefined || isReserved(segments)) return undefined;
  if (await source.allows(segments, "list")) return `${tag}-all`;
  return (await source.allows(segments, "traverse")) ? `${tag}-folders` : undefined;
}

async function* listBatches(
  source: ListingSource,
  segments: readonly string[],
  urgency: Urgency,
  options?: ListOptions,
): AsyncGenerator<readonly StorageEntry[]> {
  const { tree, queue, key } = source;
  const showsFiles = (await findListedKinds(source, segments)) === "all";
  const isRoot = segments.length === 0;
  const isShown = ({ name, kind }: StorageEntry): boolean =>
    (kind === "folder" || (showsFiles && kind === "file")) && !(isRoot && name === RESERVED_NAME);
  const batches = toBatches(tree.list(toStoragePath(segments), toStorageOptions(options, showsFiles, isRoot)));
  const steps = runSteps(batches, queue.begin(key, urgency));
  for await (const batch of steps) yield batch.every(isShown) ? batch : batch.filter(isShown);
}

/** The limit of the storage also counts members that are not shown: any number of files, and the reserved name. */
function toStorageOptions(
  options: ListOptions | undefined,
  showsFiles: boolean,
  isRoot: boolean,
): ListOptions | undefined {
  if (options === undefined || !showsFiles) return undefined;
  return isRoot ? { ...options, limit: options.limit + 1 } : options;
}

/** Returns the first value of a source, and ends it. */
export async function readFirst<T>(source: AsyncIterable<T>): Promise<T | undefined> {
  for await (const value of source) return value;
  return undefined;
}
