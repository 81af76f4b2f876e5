import type { ByteSource } from "../../../contracts/byte-source.ts";
import { type StorageEntry, StorageError } from "../../../contracts/storage-adapter.ts";
import { wait } from "../../../platform/wait.ts";
import type { StoreBody } from "./response-body.ts";
import { type RetrySettings, toWait } from "./retry.ts";

/** A response with some bytes of one version of an object. */
export interface ObjectPiece {
  readonly etag: string;
  /** Size of the complete object. */
  readonly size: number;
  readonly entry: StorageEntry;
  readonly body: StoreBody;
  /** Position of the body's first byte in the object. */
  readonly start: number;
}

/** The version that a new connection must continue. */
export interface WantedVersion {
  readonly etag: string;
  readonly signal: AbortSignal;
}

/** What {@link createObjectSource} reads. */
export interface ObjectSourceInput {
  /** The request, for the log. */
  readonly what: string;
  readonly settings: RetrySettings;
  /** The first response. */
  readonly first: ObjectPiece;
  readonly from: number;
  readonly end: number;
  /** Requests bytes of the version again. Resolves with `undefined` if there are none. */
  open(offset: number, length: number, wanted: WantedVersion): Promise<ObjectPiece | undefined>;
}

/**
 * Creates a source of the bytes from `from` up to, but not including, `end`. If a connection breaks, stalls or ends
 * early, a new one continues at the same position in the same version. If that version no longer exists, the source
 * fails.
 */
export function createObjectSource({ what, settings, first, from, end, open }: ObjectSourceInput): ByteSource {
  let body = first.body;
  let position = first.start;
  /** Bytes before this position are skipped: the caller did not request them, or already has them. */
  let begin = from;
  let rest: Uint8Array = new Uint8Array(0);
  let failures = 0;
  let isClosed = false;
  const closing = new AbortController();

  async function readInto(buffer: Uint8Array): Promise<number> {
    while (!isClosed && position < end) {
      if (rest.byteLength === 0) rest = await nextChunk();
      if (position < begin) skip(Math.min(rest.byteLength, begin - position));
      const part = rest.subarray(0, Math.min(buffer.byteLength, end - position));
      if (part.byteLength === 0 || isClosed) continue;
      failures = 0;
      buffer.set(part);
      skip(part.byteLength);
      if (position === end) body.close();
      return part.byteLength;
    }
    return 0;
  }

  function skip(bytes: number): void {
    position += bytes;
    rest = rest.subarray(bytes);
  }

  /** Reads the next bytes, with new connections if necessary. Returns no bytes after `close`. */
  async function nextChunk(): Promise<Uint8Array> {
    for (;;) {
      try {
        const chunk = await body.read();
        if (chunk !== undefined) return chunk;
      } catch {
        // Handled like an early end.
      }
      if (isClosed) return new Uint8Array(0);
      failures += 1;
      if (failures > settings.retries) {
        await close();
        throw new StorageError("unavailable", `${what}: the connection was lost at ${position} of ${end} bytes`);
      }
      await resume();
    }
  }

  async function resume(): Promise<void> {
    body.close();
    await wait(toWait(failures, null, settings), closing.signal).catch(() => undefined);
    if (isClosed) return;
    // Without a tag, bytes of different versions could be mixed.
    if (first.etag === "") throw new StorageError("unavailable", `${what}: the connection was lost`);
    begin = Math.max(position, begin);
    const wanted = { etag: first.etag, signal: closing.signal };
    const piece = await open(begin, end - begin, wanted).catch((error: unknown) => {
      if (!isClosed) throw error;
    });
    if (isClosed) return piece?.body.close();
    if (piece === undefined || piece.etag !== first.etag || piece.size !== first.size) {
      piece?.body.close();
      throw new StorageError("unavailable", `${what}: that version no longer exists`);
    }
    body = piece.body;
    position = piece.start;
  }

  async function close(): Promise<void> {
    isClosed = true;
    rest = new Uint8Array(0);
    closing.abort();
    body.close();
  }

  return { readInto, close };
}
