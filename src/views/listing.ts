import type { StorageEntry } from "../contracts/storage-adapter.ts";
import type { ListingEntry } from "../wire/listing.ts";

/** How many members are turned into one chunk of the JSON listing. */
const MEMBERS_PER_CHUNK = 256;

/**
 * The JSON listing of a folder (2.1), made as it is read: whatever the number of members, only a few are held.
 * Cancelling it ends the iteration of `members`.
 */
export function streamJsonListing(members: AsyncIterator<StorageEntry>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let separator = '{"content":[';

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    let text = "";
    for (let count = 0; count < MEMBERS_PER_CHUNK; count++) {
      const next = await members.next();
      if (next.done === true) {
        controller.enqueue(encoder.encode(`${text}${separator === "," ? "" : separator}]}`));
        controller.close();
        return;
      }
      text += separator + JSON.stringify(toListingEntry(next.value));
      separator = ",";
    }
    controller.enqueue(encoder.encode(text));
  }

  async function cancel(): Promise<void> {
    await members.return?.();
  }

  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

/** One member as the JSON listing shows it (2.1). */
function toListingEntry({ name, kind, modified, size }: StorageEntry): ListingEntry {
  const isFolder = kind === "folder";
  return { name, is_directory: isFolder, modified: modified.getTime() / 1000, size: isFolder ? 0 : size };
}
