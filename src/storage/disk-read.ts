import { constants, fstatSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { type ByteRange, StorageError, type StoredFile } from "../contracts/storage-adapter.ts";
import { toStorageError } from "./disk-errors.ts";
import type { OpenFolder } from "./disk-folder.ts";
import { toEntry } from "./disk-members.ts";
import { isKeepable } from "./disk-names.ts";

/** A quarter less processor time than 64 KiB chunks; larger ones gain less than that, and are memory (docs/decisions/0007-memory.md). */
const CHUNK_BYTES = 131_072;

/** Opens a member for reading. Entry and bytes come from one handle, which every way out of the body closes. */
export async function readMember(folder: OpenFolder, name: string, range?: ByteRange): Promise<StoredFile> {
  if (!isKeepable(name)) throw new StorageError("not-found");
  const handle = await folder.openFile(name, constants.O_RDONLY);
  try {
    // Sync: what was just opened is known without asking the device.
    const entry = toEntry(name, fstatSync(handle.fd, { bigint: true }));
    if (entry === undefined) throw new StorageError("not-found", `${name} is neither file nor folder.`);
    if (entry.kind !== "file") throw new StorageError("not-a-file");
    const start = Math.min(range?.offset ?? 0, entry.size);
    const end = Math.min(start + (range?.length ?? entry.size), entry.size);
    if (start === end) await handle.close();
    return { entry, body: toBody(handle, start, end) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function toBody(handle: FileHandle, start: number, end: number): ReadableStream<Uint8Array> {
  let position = start;

  async function readChunk(): Promise<Uint8Array> {
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, end - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) throw new StorageError("unavailable", "The file became shorter while it was read.");
    position += bytesRead;
    if (position === end) await handle.close();
    return buffer.subarray(0, bytesRead);
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (position === end) controller.close();
      },
      async pull(controller) {
        try {
          controller.enqueue(await readChunk());
          if (position === end) controller.close();
        } catch (error) {
          // Also when the body was cancelled while this read was on its way.
          await handle.close();
          throw toStorageError(error);
        }
      },
      // Waits for a read on its way: a descriptor closed under it could already be another file's.
      cancel: () => handle.close(),
    },
    // Nothing is read ahead.
    { highWaterMark: 0 },
  );
}
