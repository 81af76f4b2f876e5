import type { ByteSource } from "../contracts/byte-source.ts";
import { toBatches } from "../contracts/member-batches.ts";
import type { StorageEntry } from "../contracts/storage-adapter.ts";
import type { ListingEntry } from "../schemas/listing.ts";

/**
 * Opens the JSON listing of a folder (2.1). It is written while it is read and keeps only one batch of members in
 * memory. Closing it ends the iteration of `members`.
 * @throws what the first step of `members` throws.
 */
export async function openJsonListing(members: AsyncIterable<StorageEntry>): Promise<ByteSource> {
  const batches = toBatches(members);
  const encoder = new TextEncoder();
  const first = await batches.next();
  let rest = encoder.encode(`{"content":[${first.done ? "]}" : toJson(first.value)}`);
  let isEmpty = first.done || first.value.length === 0;
  let isDone = first.done === true;

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

  return { readInto, close };
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
