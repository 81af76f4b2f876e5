import type { ByteSource } from "../contracts/byte-source.ts";
import { toBatches } from "../contracts/member-batches.ts";
import type { StorageEntry } from "../contracts/storage-adapter.ts";
import type { ListingEntry } from "../schemas/listing.ts";

/** The JSON listing of a folder. */
export interface JsonListing {
  readonly source: ByteSource;
  /** Whether all members are read. Otherwise the listing holds the folder open until it is read or closed. */
  readonly isComplete: boolean;
}

/** How many characters of a listing are read before it is sent. */
const BEGIN_LENGTH = 65_536;

/**
 * Opens the JSON listing of a folder (2.1). Its beginning is read at once, the rest while it is sent: of the rest it
 * keeps only one batch of members in memory. Closing it ends the iteration of `members`.
 * @throws what the first steps of `members` throw.
 */
export async function openJsonListing(members: AsyncIterable<StorageEntry>): Promise<JsonListing> {
  const batches = toBatches(members);
  const encoder = new TextEncoder();
  let isEmpty = true;
  let isDone = false;
  let begin = '{"content":[';
  while (!isDone && begin.length < BEGIN_LENGTH) begin += await nextText();
  let rest = encoder.encode(begin);

  async function readInto(buffer: Uint8Array): Promise<number> {
    while (rest.byteLength === 0 && !isDone) rest = encoder.encode(await nextText());
    const part = rest.subarray(0, buffer.byteLength);
    buffer.set(part);
    rest = rest.subarray(part.byteLength);
    return part.byteLength;
  }

  async function nextText(): Promise<string> {
    const next = await batches.next();
    if (next.done) {
      isDone = true;
      return "]}";
    }
    if (next.value.length === 0) return "";
    const separator = isEmpty ? "" : ",";
    isEmpty = false;
    return separator + toJson(next.value);
  }

  async function close(): Promise<void> {
    isDone = true;
    rest = new Uint8Array(0);
    await batches.return?.();
  }

  return { source: { readInto, close }, isComplete: isDone };
}

function toJson(members: readonly StorageEntry[]): string {
  return members.map((member) => toText(toListingEntry(member))).join();
}

/** Converts a member to its entry in the JSON listing (2.1). */
function toListingEntry({ name, kind, modified, size }: StorageEntry): ListingEntry {
  const isFolder = kind === "folder";
  return { name, is_directory: isFolder, modified: modified.getTime() / 1000, size: isFolder ? 0 : size };
}

/** Writes an entry as JSON. This takes half the time of `JSON.stringify` for the object. */
function toText({ name, is_directory, modified, size }: ListingEntry): string {
  return `{"name":${JSON.stringify(name)},"is_directory":${is_directory},"modified":${toNumber(modified)},"size":${toNumber(size)}}`;
}

/** Writes a number as JSON. It is `null` if the storage does not know the time of a member. */
function toNumber(value: number): string {
  return Number.isFinite(value) ? `${value}` : "null";
}
