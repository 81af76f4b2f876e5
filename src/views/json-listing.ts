import type { StorageEntry } from "../contracts/storage-adapter.ts";
import type { ListingEntry } from "../schemas/listing.ts";
import type { FoundMember } from "./member-order.ts";
import { openTextSource, type TextSource } from "./text-source.ts";

/** What a JSON listing needs of a member. A time that is a number is milliseconds since 1970. */
type ListedMember = Pick<StorageEntry, "name" | "kind" | "size"> & { readonly modified: Date | number };

/**
 * Opens the JSON listing of a folder (2.1). If it has a length, all members are read; otherwise it holds the folder
 * open until it is read or closed. Closing it ends the iteration of `batches`.
 * @throws what the first steps of `batches` throw.
 */
export async function openJsonListing(batches: AsyncIterator<readonly ListedMember[]>): Promise<TextSource> {
  return openJsonContent(batches, (member) => toText(toListingEntry(member)));
}

/** Options of {@link openJsonContent}. */
interface JsonContentOptions {
  /** Returns what follows the list: members that begin with a comma. */
  readonly toEnd?: () => string;
  /** The number of characters that are made before the text is sent. */
  readonly beginLength?: number;
}

/** As {@link openJsonListing}, for any list. `toJson` returns an item as JSON. */
export async function openJsonContent<T>(
  batches: AsyncIterator<readonly T[]>,
  toJson: (item: T) => string,
  { toEnd = () => "", beginLength }: JsonContentOptions = {},
): Promise<TextSource> {
  let position: "begin" | "first" | "later" | "end" = "begin";

  async function next(): Promise<string | undefined> {
    if (position === "end") return undefined;
    if (position === "begin") {
      position = "first";
      return '{"content":[';
    }
    const { done, value } = await batches.next();
    if (done) {
      position = "end";
      return `]${toEnd()}}`;
    }
    if (value.length === 0) return "";
    const separator = position === "first" ? "" : ",";
    position = "later";
    return separator + value.map((item) => toJson(item)).join();
  }

  async function close(): Promise<void> {
    await batches.return?.();
  }

  return openTextSource({ next, close }, beginLength);
}

/** Opens the JSON of a search, which is sent while it goes on. `isTruncated` is asked at its end. */
export async function openJsonSearch(
  batches: AsyncIterator<readonly FoundMember[]>,
  isTruncated: () => boolean,
): Promise<TextSource> {
  const toJson = (found: FoundMember): string =>
    `${toText(toListingEntry(found)).slice(0, -1)},"path":${JSON.stringify(found.path)}}`;
  return openJsonContent(batches, toJson, { toEnd: () => `,"truncated":${isTruncated()}`, beginLength: 1 });
}

/** Converts a member to its entry in the JSON listing (2.1). */
function toListingEntry({ name, kind, modified, size }: ListedMember): ListingEntry {
  const isFolder = kind === "folder";
  return { name, is_directory: isFolder, modified: Number(modified) / 1000, size: isFolder ? 0 : size };
}

/** Writes an entry as JSON. This takes half the time of `JSON.stringify` for the object. */
function toText({ name, is_directory, modified, size }: ListingEntry): string {
  return `{"name":${JSON.stringify(name)},"is_directory":${is_directory},"modified":${toNumber(modified)},"size":${toNumber(size)}}`;
}

/** Writes a number as JSON. It is `null` if the storage does not know the time of a member. */
function toNumber(value: number): string {
  return Number.isFinite(value) ? `${value}` : "null";
}
