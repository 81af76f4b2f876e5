import { type StorageEntry, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { toPathSegments } from "../../contracts/storage-path.ts";
import type {
  AppendOptions,
  CompleteOptions,
  DiscardedUpload,
  JoinOptions,
  StorageUploads,
  UploadChange,
  UploadDraft,
  UploadKey,
  UploadState,
} from "../../contracts/storage-uploads.ts";
import { receive } from "../content.ts";
import { checkUploadKey, checkUploadName, limitAppend } from "../upload-checks.ts";
import { createUploadWriters } from "../upload-writers.ts";
import { byteLength } from "./content.ts";
import type { Folder, Location, MemoryTree } from "./tree.ts";

/** An upload, with its bytes. */
interface MemoryUpload {
  /** The folder of the file to be. If another one, or none, is at its path, the upload is lost. */
  readonly parent: Folder;
  chunks: readonly Uint8Array[];
  state: UploadState;
  isLost: boolean;
}

/** What uploads need of their storage. */
export interface MemoryUploadsOptions {
  readonly tree: MemoryTree;
  /** Checks that a file can be written at a path, as `write` does. */
  checkTarget(segments: string[], options: WriteOptions): Location;
  /** Puts a file at a location. */
  putFile(location: Location, chunks: readonly Uint8Array[]): StorageEntry;
}

/** Creates the uploads of a memory storage. */
export function createMemoryUploads({ tree, checkTarget, putFile }: MemoryUploadsOptions): StorageUploads {
  const uploads = new Map<string, MemoryUpload>();
  const writers = createUploadWriters();

  /** Returns an upload that is done, or whose folder is still there. */
  function findUpload(key: UploadKey): MemoryUpload | undefined {
    const upload = uploads.get(toName(key));
    return upload === undefined || isLost(upload) ? undefined : upload;
  }

  function isLost(upload: MemoryUpload): boolean {
    const { parent, state } = upload;
    if (state.done === undefined && tree.find(toPathSegments(state.path).slice(0, -1)) !== parent) {
      upload.isLost = true;
      upload.chunks = [];
    }
    return upload.isLost;
  }

  /** `hasBytes`: one that is done has none any more. */
  function requireUpload(key: UploadKey, hasBytes = false): MemoryUpload {
    const upload = findUpload(key);
    if (upload === undefined || (hasBytes && upload.state.done !== undefined)) throw new StorageError("not-found");
    return upload;
  }

  async function create(key: UploadKey, path: string, draft: UploadDraft): Promise<UploadState> {
    checkUploadKey(key);
    const { size, note, expires, signal } = draft;
    signal?.throwIfAborted();
    const { parent } = checkTarget(toPathSegments(path), draft);
    if (uploads.has(toName(key))) throw new StorageError("already-exists");
    const created = tree.now();
    const state: UploadState = {
      key: { ...key },
      path,
      offset: 0,
      ...(size !== undefined && { size }),
      note,
      created,
      modified: created,
      expires,
    };
    uploads.set(toName(key), { parent, chunks: [], state, isLost: false });
    return state;
  }

  function find(key: UploadKey): Promise<UploadState | undefined> {
    return writers.run(key, async () => findUpload(key)?.state);
  }

  function append(
    key: UploadKey,
    offset: number,
    content: AsyncIterable<Uint8Array>,
    options: AppendOptions = {},
  ): Promise<UploadState> {
    const { verify } = options;
    const run = async (signal: AbortSignal): Promise<UploadState> => {
      const upload = requireUpload(key);
      if (upload.state.done !== undefined || upload.state.offset !== offset) throw new StorageError("offset-mismatch");
      const chunks: Uint8Array[] = [];
      try {
        for await (const chunk of limitAppend(receive(content, { signal }), options))
          chunks.push(new Uint8Array(chunk));
        await verify?.();
        signal.throwIfAborted();
      } catch (error) {
        if (verify === undefined) keep(upload, chunks);
        throw error;
      }
      return keep(upload, chunks);
    };
    return writers.append(key, run, options.signal);
  }

  function keep(upload: MemoryUpload, chunks: readonly Uint8Array[]): UploadState {
    if (chunks.length === 0) return upload.state;
    upload.chunks = [...upload.chunks, ...chunks];
    upload.state = { ...upload.state, offset: byteLength(upload.chunks), modified: tree.now() };
    return upload.state;
  }

  async function update(key: UploadKey, { quota: _, ...change }: UploadChange): Promise<UploadState> {
    const upload = requireUpload(key);
    upload.state = { ...upload.state, ...change };
    return upload.state;
  }

  function complete(key: UploadKey, options: CompleteOptions = {}): Promise<StorageEntry> {
    return writers.run(key, async () => {
      const upload = requireUpload(key);
      options.signal?.throwIfAborted();
      const { done, size, offset, path } = upload.state;
      if (done !== undefined) {
        options.onRepeat?.();
        return done;
      }
      if (size !== undefined && size !== offset) throw new StorageError("incomplete");
      const target = options.path ?? path;
      checkUploadName(path, target);
      const entry = putFile(checkTarget(toPathSegments(target), options), upload.chunks);
      upload.chunks = [];
      upload.state = { ...upload.state, done: entry };
      return entry;
    });
  }

  function discard(key: UploadKey): Promise<DiscardedUpload | undefined> {
    return writers.run(key, async () => {
      const upload = uploads.get(toName(key));
      if (upload === undefined) return undefined;
      uploads.delete(toName(key));
      return upload.state.done === undefined ? "unfinished" : "done";
    });
  }

  async function* list(owner?: string): AsyncGenerator<UploadState> {
    for (const upload of uploads.values()) {
      if (owner !== undefined && upload.state.key.owner !== owner) continue;
      yield isLost(upload) ? { ...upload.state, lost: true } : upload.state;
    }
  }

  async function* read(key: UploadKey): AsyncGenerator<Uint8Array> {
    for (const chunk of requireUpload(key, true).chunks) yield new Uint8Array(chunk);
  }

  async function join(keys: readonly UploadKey[], path: string, options: JoinOptions = {}): Promise<StorageEntry> {
    const { size, signal } = options;
    signal?.throwIfAborted();
    const chunks = keys.flatMap((key) => requireUpload(key, true).chunks);
    if (size !== undefined && size !== byteLength(chunks)) throw new StorageError("incomplete");
    return putFile(checkTarget(toPathSegments(path), options), chunks);
  }

  return { create, find, append, update, complete, discard, list, read, join };
}

function toName({ owner, id }: UploadKey): string {
  return `${id} ${owner}`;
}
