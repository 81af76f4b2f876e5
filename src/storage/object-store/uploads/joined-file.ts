import { StorageError } from "../../../contracts/storage-adapter.ts";
import type { StorageEntry } from "../../../contracts/storage-entry.ts";
import type { UploadKey } from "../../../contracts/storage-uploads.ts";
import { inParallel } from "../../../platform/in-parallel.ts";
import type { UploadMemory } from "../part-memory.ts";
import { type ObjectPart, toParts } from "../parts.ts";
import { withPermit } from "../permits.ts";
import type { MultipartUpload, NewFile, UploadBucket } from "./bucket.ts";
import { toReader } from "./content.ts";
import { type JoinPart, type JoinSource, type SourceRange, toJoinPlan } from "./join-plan.ts";
import type { ObjectUploadStates } from "./states.ts";
import type { StoredUpload } from "./stored-upload.ts";

/** A file that consists of objects. */
export interface JoinedFile {
  readonly file: NewFile;
  readonly sources: readonly JoinSource[];
  /** The number of bytes of all objects. */
  readonly size: number;
  /** Whose memory is used for parts that are read. */
  readonly owner: string | undefined;
  /** The upload that notes the parts of the file, so that its removal frees them. */
  readonly firstKey: UploadKey | undefined;
}

/** Stores files that consist of objects. */
export interface JoinedFiles {
  /** Stores a file, completely or not at all. */
  store(joined: JoinedFile): Promise<StorageEntry>;
}

/** How many parts are copied at the same time, or wait for a permit. */
const PARALLEL_COPIES = 16;

/** Creates the {@link JoinedFiles} of a storage. */
export function createJoinedFiles(bucket: UploadBucket, states: ObjectUploadStates): JoinedFiles {
  const { objects } = bucket;
  const { minPartBytes, copies } = objects;

  async function store(joined: JoinedFile): Promise<StorageEntry> {
    const { file, owner } = joined;
    const parts = toJoinPlan(joined.sources, { minPartBytes, maxCopyBytes: copies?.maxCopyBytes });
    const memory = bucket.memory.open({ owner, signal: file.conditions.signal, end: () => undefined });
    try {
      const [first] = parts;
      if (first === undefined) return await bucket.putFile(file, new Uint8Array(0));
      if (parts.length > 1 || first.isCopied) return await storeParts(joined, parts, memory);
      return await bucket.putFile(file, (await readPart(first, memory)).bytes());
    } catch (error) {
      // The file may be there although no response says so.
      const written = await bucket.findMarked(file.location, file.mark).catch(() => undefined);
      if (written !== undefined) return written;
      throw error;
    } finally {
      memory.close();
    }
  }

  async function storeParts(
    { file, size, firstKey }: JoinedFile,
    parts: readonly JoinPart[],
    memory: UploadMemory,
  ): Promise<StorageEntry> {
    const upload = await bucket.begin(file.location.key, file.mark);
    try {
      await note(firstKey, (joining) => [...joining, upload]);
      const tags = await sendParts(upload, parts, memory, file.conditions.signal);
      return await bucket.complete(file, { upload, tags, size });
    } catch (error) {
      await objects.free(upload);
      throw error;
    } finally {
      await forget(upload, firstKey).catch(() => undefined);
    }
  }

  /** Notes in an upload which parts of files are to be freed with it. */
  async function note(
    key: UploadKey | undefined,
    step: (joining: readonly MultipartUpload[]) => readonly MultipartUpload[],
  ): Promise<void> {
    const version = key && (await states.read(key));
    if (version === undefined) throw new StorageError("not-found");
    await states.change(version, ({ joining = [], ...upload }): StoredUpload => {
      const next = step(joining);
      return next.length === 0 ? upload : { ...upload, joining: next };
    });
  }

  /** Parts that are not freed yet stay noted. */
  async function forget(upload: MultipartUpload, key: UploadKey | undefined): Promise<void> {
    if (await bucket.hasUpload(upload)) return;
    await note(key, (joining) => joining.filter(({ id }) => id !== upload.id));
  }

  async function sendParts(
    upload: MultipartUpload,
    parts: readonly JoinPart[],
    memory: UploadMemory,
    signal: AbortSignal | undefined,
  ): Promise<readonly string[]> {
    const tags: string[] = [];
    const { permits } = bucket;
    for (const part of parts.filter(({ isCopied }) => !isCopied)) {
      signal?.throwIfAborted();
      const read = await readPart(part, memory);
      tags[part.number - 1] = await withPermit(permits, () => bucket.sendPart(upload, part.number, read.bytes()));
      read.release();
    }
    if (copies === undefined) return tags;
    const copied = parts.flatMap(({ number, ranges: [range], isCopied }) =>
      isCopied && range ? [{ number, range }] : [],
    );
    await inParallel(copied, { most: PARALLEL_COPIES, signal }, async ({ number, range }, ended) => {
      tags[number - 1] = await withPermit(permits, () => copies.copyPart(upload, number, range, ended));
    });
    return tags;
  }

  /** Reads the bytes of a part into memory. */
  async function readPart({ ranges }: JoinPart, memory: UploadMemory): Promise<ObjectPart> {
    const size = ranges.reduce((sum, { bytes }) => sum + bytes, 0);
    const reader = toReader(readRanges(ranges));
    try {
      const { value } = await toParts(reader, { bytesOf: () => size, maxParts: 1, size }, memory).next();
      if (value === undefined) throw new TypeError("There is no part.");
      return value;
    } finally {
      await reader.close();
    }
  }

  async function* readRanges(ranges: readonly SourceRange[]): AsyncGenerator<Uint8Array> {
    for (const range of ranges) {
      let read = 0;
      for await (const chunk of objects.readRange(range)) {
        read += chunk.byteLength;
        yield chunk;
      }
      if (read !== range.bytes) {
        throw new StorageError("unavailable", `${range.source.key}: ${read} of ${range.bytes} bytes`);
      }
    }
  }

  return { store };
}
