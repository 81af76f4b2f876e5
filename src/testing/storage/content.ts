import type { ListOptions, StorageAdapter, StorageEntry, WriteOptions } from "../../contracts/storage-adapter.ts";
import type { StorageCaseContext } from "./case.ts";

/** Yields texts as content, one chunk each. */
export async function* textChunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

/** Yields texts as content, then throws. */
export async function* cutOff(error: unknown, ...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  yield* textChunks(...texts);
  throw error;
}

/** Yields texts as content, then stalls without ending, and calls `onWait`. */
export async function* stalled(onWait: () => void, ...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  yield* textChunks(...texts);
  onWait();
  await new Promise(() => {});
}

/** Creates content that must not be read. */
export function untouched(): AsyncIterable<Uint8Array> & { wasTouched(): boolean } {
  let touched = false;
  async function* content(): AsyncGenerator<Uint8Array> {
    touched = true;
    yield* textChunks("untouched");
  }
  return { [Symbol.asyncIterator]: content, wasTouched: () => touched };
}

/** Returns bytes without a pattern, so that an exchange of blocks is noticed. */
export function noise(size: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let state = seed * 2_654_435_761 + 1;
  for (let index = 0; index < size; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

/** Yields bytes in chunks of this size. */
export async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.byteLength; offset += size) yield bytes.subarray(offset, offset + size);
}

/** Stores a text. */
export function put(
  storage: StorageAdapter,
  path: string,
  text: string,
  options?: WriteOptions,
): Promise<StorageEntry> {
  return storage.write(path, textChunks(text), options);
}

/** Returns the text of a file. */
export async function readFileText(storage: StorageAdapter, path: string): Promise<string> {
  return bodyText((await storage.read(path)).body);
}

/** Reads a body to its end, as text. */
export async function bodyText(body: ReadableStream<Uint8Array>): Promise<string> {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await bodyBytes(body));
}

/** Reads a body to its end. */
export async function bodyBytes(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const reader = body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  reader.releaseLock();
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

/** Whether two byte arrays are equal. */
export function areSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  if (one.byteLength !== other.byteLength) return false;
  for (let index = 0; index < one.byteLength; index += 1) if (one[index] !== other[index]) return false;
  return true;
}

/** Returns the names in a folder, sorted. */
export async function namesIn(storage: StorageAdapter, path: string): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of storage.list(path)) names.push(entry.name);
  return names.sort();
}

/** Takes the first step of a listing. */
export async function firstOf(storage: StorageAdapter, path: string, options?: ListOptions): Promise<void> {
  await storage.list(path, options)[Symbol.asyncIterator]().next();
}

/** Creates a folder with `count` files of one byte. */
export async function makeFilledFolder(
  { storage, fill }: StorageCaseContext,
  path: string,
  count: number,
): Promise<void> {
  await storage.createFolder(path);
  if (fill !== undefined) return fill(path, count);
  const numbers = Array.from({ length: count }, (_, number) => number);
  const writer = async () => {
    for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
      await put(storage, `${path}/${number}`, "x");
    }
  };
  await Promise.all(Array.from({ length: 16 }, writer));
}
