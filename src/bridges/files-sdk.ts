import {
  type Adapter,
  type AdapterConditionalOperations,
  type AdapterDownloadOptions,
  type AdapterUploadOptions,
  type Body,
  createStoredFile,
  type ListOptions,
  type ListResult,
  type StoredFile as SdkFile,
  type ByteRange as SdkRange,
  type StoredFileMeta,
  type UploadResult,
  type UrlOptions,
} from "files-sdk";
import type { StorageAdapter, StorageEntry, StoredFile, WriteOptions } from "../contracts/storage-adapter.ts";
import { StorageError } from "../contracts/storage-adapter.ts";
import { toContentType } from "../http/media-types/by-name.ts";
import { toFileContent } from "../storage/file-content.ts";
import { createUnsupported, mapToFilesErrors } from "./files-sdk-errors.ts";
import { createKeyedFiles, readFileBytes } from "./keyed-files.ts";
import { canSignUrls, signUrl } from "./signed-url.ts";
import { listKeyedFiles } from "./walk-keys.ts";

/** Options of {@link toFilesSdkAdapter}. */
export interface FilesSdkAdapterOptions {
  /**
   * The storage checks conditions in one step with the change, whatever process makes it, so that the adapter has
   * conditional uploads and removals. Default: false, and files-sdk rejects them.
   */
  readonly hasAtomicConditions?: boolean;
}

const MOST_LISTED = 1000;
const SIGNED_SECONDS = 3600;

/**
 * Makes a storage an adapter of files-sdk 2: `new Files({ adapter: toFilesSdkAdapter(storage) })`. Uploads are complete
 * or change nothing. Media types are those of the names. Errors are `FilesError`s.
 */
export function toFilesSdkAdapter(
  storage: StorageAdapter,
  options: FilesSdkAdapterOptions = {},
): Adapter<StorageAdapter> {
  const files = createKeyedFiles(storage);

  async function upload(
    key: string,
    body: Body,
    uploadOptions: AdapterUploadOptions = {},
    conditions: Pick<WriteOptions, "ifMatch" | "ifNoneMatch"> = {},
  ): Promise<UploadResult> {
    const { signal } = uploadOptions;
    const { size, content, cancel } = toContent(body);
    try {
      const sizes = size === undefined ? {} : { size };
      const entry = await files.write(key, content(), { ...sizes, ...conditions, ...(signal && { signal }) });
      const { type, ...meta } = toMeta(key, entry);
      return { ...meta, contentType: type };
    } catch (error) {
      await cancel();
      throw error;
    }
  }

  async function download(key: string, { as, range }: AdapterDownloadOptions = {}, etag?: string): Promise<SdkFile> {
    const file = await files.read(key, range && toByteRange(range));
    try {
      checkVersion(file.entry, etag);
    } catch (error) {
      await toFileContent(file).close();
      throw error;
    }
    const meta = { ...toMeta(key, file.entry), size: toSize(file.entry.size, range) };
    if (as === "stream") return createStoredFile(meta, { kind: "stream", factory: () => file.body });
    return createStoredFile(meta, { kind: "buffer", data: await readFileBytes(file) });
  }

  /** The content of a file that was found before, which fails if the file has changed. */
  function toLazyFile(key: string, entry: StorageEntry): SdkFile {
    const meta = toMeta(key, entry);
    const factory = () =>
      mapToFilesErrors(async () => {
        const file: StoredFile = await files.read(key);
        const bytes = await readFileBytes(file);
        checkVersion(file.entry, meta.etag);
        return bytes;
      });
    return createStoredFile(meta, { kind: "lazy", factory });
  }

  async function list({ prefix = "", cursor, limit = MOST_LISTED, delimiter }: ListOptions = {}): Promise<ListResult> {
    if (delimiter !== undefined && delimiter !== "/") throw createUnsupported('the delimiter can only be "/".');
    const isDeep = delimiter === undefined;
    const found = await listKeyedFiles(storage, { prefix, after: cursor, limit: Math.min(limit, MOST_LISTED), isDeep });
    const prefixes = found.folders.map(({ key }) => `${key}/`);
    return {
      items: found.files.map(({ key, entry }) => toLazyFile(key, entry)),
      ...(prefixes.length > 0 && { prefixes }),
      ...(found.next !== undefined && { cursor: found.next }),
    };
  }

  async function url(key: string, { expiresIn = SIGNED_SECONDS, responseContentDisposition }: UrlOptions = {}) {
    const signed = await signUrl(storage, key, {
      seconds: expiresIn,
      contentDisposition: responseContentDisposition,
    });
    if (signed !== undefined) return signed;
    await files.get(key);
    throw createUnsupported("the storage signs no URLs.");
  }

  const conditional: AdapterConditionalOperations = {
    exactRead: (key, etag, opts) => mapToFilesErrors(() => download(key, opts, etag)),
    ...(options.hasAtomicConditions && {
      create: (key, body, opts) =>
        mapToFilesErrors(async () => withTag(await upload(key, body, opts, { ifNoneMatch: "*" }))),
      replace: (key, body, etag, opts) =>
        mapToFilesErrors(async () => withTag(await upload(key, body, opts, { ifMatch: [`"${etag}"`] }))),
      delete: (key, etag) => mapToFilesErrors(() => files.remove(key, { ifMatch: [`"${etag}"`] })),
    }),
  };

  return {
    name: "fileferry",
    raw: storage,
    supportsRange: true,
    supportsDelimiter: true,
    signedUrl: { supported: canSignUrls(storage) },
    conditional,
    upload: (key, body, opts) => mapToFilesErrors(() => upload(key, body, opts)),
    download: (key, opts) => mapToFilesErrors(() => download(key, opts)),
    head: (key) => mapToFilesErrors(async () => toLazyFile(key, await files.get(key))),
    exists: (key) => mapToFilesErrors(async () => (await files.find(key)) !== undefined),
    delete: (key) => mapToFilesErrors(() => files.remove(key)),
    copy: (from, to, opts) => mapToFilesErrors(() => files.copyOrMove("copy", from, to, opts?.signal)),
    move: (from, to, opts) => mapToFilesErrors(() => files.copyOrMove("move", from, to, opts?.signal)),
    list: (opts) => mapToFilesErrors(() => list(opts)),
    url: (key, opts) => mapToFilesErrors(() => url(key, opts)),
    async signedUploadUrl() {
      throw createUnsupported("the storage signs no URLs for uploads.");
    },
  };
}

function toMeta(key: string, { size, etag, modified }: StorageEntry): StoredFileMeta {
  const tag = toBareTag(etag);
  return {
    key,
    size,
    type: toContentType(key),
    lastModified: modified.getTime(),
    ...(tag !== undefined && { etag: tag }),
  };
}

/** Tags of files-sdk have no quotes, and are strong. */
function toBareTag(etag: string | undefined): string | undefined {
  return /^"([^",]{1,1024})"$/.exec(etag ?? "")?.[1];
}

function withTag(result: UploadResult): UploadResult & { readonly etag: string } {
  const { etag } = result;
  if (etag === undefined) throw createUnsupported("the storage has no strong entity-tags.");
  return { ...result, etag };
}

function checkVersion(entry: StorageEntry, etag: string | undefined): void {
  if (etag === undefined || toBareTag(entry.etag) === etag) return;
  throw new StorageError("precondition-failed", "The file has changed.");
}

function toByteRange({ start, end }: SdkRange) {
  return { offset: start, length: (end ?? Number.MAX_SAFE_INTEGER - 1) - start + 1 };
}

/** Returns how many bytes of a file a range has. */
function toSize(size: number, range: SdkRange | undefined): number {
  if (range === undefined) return size;
  return Math.max(0, Math.min(size, (range.end ?? size - 1) + 1) - range.start);
}

interface Content {
  /** The number of bytes, if it is known. */
  readonly size?: number;
  content(): AsyncIterable<Uint8Array>;
  /** Releases a stream that was not read. */
  cancel(): Promise<void>;
}

function toContent(body: Body): Content {
  if (typeof body === "object" && "getReader" in body) return ofStream(body);
  if (typeof body === "object" && "stream" in body) return { ...ofStream(body.stream()), size: body.size };
  const bytes = toUint8Array(body);
  return {
    size: bytes.byteLength,
    async *content() {
      yield bytes;
    },
    cancel: async () => undefined,
  };
}

function ofStream(body: ReadableStream<Uint8Array>): Content {
  return {
    async *content() {
      const reader = body.getReader();
      try {
        for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
      } finally {
        await reader.cancel().catch(() => undefined);
      }
    },
    cancel: async () => (body.locked ? undefined : body.cancel().catch(() => undefined)),
  };
}

function toUint8Array(body: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  return ArrayBuffer.isView(body)
    ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
    : new Uint8Array(body);
}
