import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import { createIncrementalDigest, type IncrementalDigest } from "../../platform/incremental-digest.ts";
import { type FileContent, toFileContent } from "../file-content.ts";
import { isUnread } from "../wrappers/dry-runs.ts";

/** Whether two files of a storage have the same bytes. Reads no further than to the first difference. */
export async function haveSameBytes(storage: StorageAdapter, one: string, other: string): Promise<boolean> {
  return withContent(storage, one, (content) => hasBytes(storage, other, content.chunks()));
}

/** Whether a file has exactly these bytes. Reads no further than to the first difference. */
export async function hasBytes(
  storage: StorageAdapter,
  path: string,
  expected: AsyncIterable<Uint8Array>,
): Promise<boolean> {
  return withContent(storage, path, async (content) => {
    const chunks = content.chunks();
    let rest: Uint8Array = new Uint8Array(0);
    for await (const chunk of expected) {
      for (let at = 0; at < chunk.byteLength; ) {
        if (rest.byteLength === 0) rest = (await chunks.next()).value ?? rest;
        const count = Math.min(rest.byteLength, chunk.byteLength - at);
        if (count === 0 || !areEqual(rest, chunk.subarray(at, at + count), count)) return false;
        rest = rest.subarray(count);
        at += count;
      }
    }
    return rest.byteLength === 0 && (await chunks.next()).done === true;
  });
}

/** The content that a write brings: its size and its digest, as far as it may be that of the present file. */
export interface ReceivedContent {
  /** Takes note of a chunk. */
  add(chunk: Uint8Array): void;
  /** In bytes, so far. */
  size(): number;
  /** Whether a file of a size has this content. Reads the file if the sizes are equal. */
  isIn(storage: StorageAdapter, path: string, size: number): Promise<boolean>;
}

/** `size`: that of the present file. Only content of this size is digested; `undefined`: none. */
export function createReceivedContent(size: number | undefined): ReceivedContent {
  let digest = size === undefined ? undefined : createIncrementalDigest("sha256");
  let received = 0;
  return {
    add(chunk) {
      received += chunk.byteLength;
      if (size === undefined || received > size || isUnread(chunk.buffer)) digest = undefined;
      digest?.update(chunk);
    },
    size: () => received,
    async isIn(storage, path, present) {
      if (digest === undefined || received !== present || received !== size) return false;
      const other = createIncrementalDigest("sha256");
      if (other === undefined) return false;
      await withContent(storage, path, async (content) => {
        for await (const chunk of content.chunks()) other.update(chunk);
      });
      return haveSameDigest(digest, other);
    },
  };
}

async function haveSameDigest(one: IncrementalDigest, other: IncrementalDigest): Promise<boolean> {
  const [first, second] = await Promise.all([one.digest(), other.digest()]);
  return areEqual(first, second, first.byteLength);
}

async function withContent<T>(
  storage: StorageAdapter,
  path: string,
  action: (content: FileContent) => Promise<T>,
): Promise<T> {
  const content = toFileContent(await storage.read(path));
  try {
    return await action(content);
  } finally {
    await content.close();
  }
}

function areEqual(one: Uint8Array, other: Uint8Array, count: number): boolean {
  for (let index = 0; index < count; index += 1) if (one[index] !== other[index]) return false;
  return true;
}
