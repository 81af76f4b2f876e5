import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { DriveDirectory, DriveFile, KeyNormalizer } from "flydrive";
import type { DriverContract, ObjectMetaData, SignedURLOptions, WriteOptions } from "flydrive/types";
import { type StorageAdapter, type StorageEntry, StorageError } from "../contracts/storage-adapter.ts";
import { toContentType } from "../http/media-types/by-name.ts";
import { ignoreMissing } from "../storage/wrappers/list-folder.ts";
import { createKeyedFiles, readFileBytes } from "./keyed-files.ts";
import { signUrl } from "./signed-url.ts";
import { listKeyedFiles } from "./walk-keys.ts";

/** Options of {@link toFlydriveDriver}. */
export interface FlydriveDriverOptions {
  /** Makes the URLs of files, as that of flydrive's own driver for a disk. */
  readonly urlBuilder?: {
    /** The result of `getUrl`. Without it, `getUrl` is an error. */
    generateURL?(key: string): Promise<string>;
    /** The result of `getSignedUrl`. Default: the URL that the storage signs. */
    generateSignedURL?(key: string, options: SignedURLOptions): Promise<string>;
  };
}

const MOST_LISTED = 1000;
const SIGNED_SECONDS = 1800;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * Makes a storage a driver of flydrive 1: `new Disk(toFlydriveDriver(storage))`. Writes are complete or change nothing.
 * All files are private, and their media types are those of their names. What a storage cannot do is a
 * {@link StorageError} `unsupported`, which flydrive has as the `cause` of its own error.
 */
export function toFlydriveDriver(storage: StorageAdapter, options: FlydriveDriverOptions = {}): DriverContract {
  const files = createKeyedFiles(storage);
  const { urlBuilder = {} } = options;
  const normalizer = new KeyNormalizer();

  async function put(key: string, contents: string | Uint8Array, writeOptions?: WriteOptions): Promise<void> {
    checkWriteOptions(writeOptions);
    const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
    await files.write(key, only(bytes), { size: bytes.byteLength, ...toSignal(writeOptions) });
  }

  async function putStream(key: string, contents: Readable, writeOptions?: WriteOptions): Promise<void> {
    // An error before the first byte is read would end the process.
    contents.on("error", () => undefined);
    try {
      checkWriteOptions(writeOptions);
      const size = writeOptions?.contentLength;
      await files.write(key, toBytes(contents), { ...(size !== undefined && { size }), ...toSignal(writeOptions) });
    } catch (error) {
      contents.destroy();
      throw error;
    }
  }

  async function copyOrMove(
    verb: "copy" | "move",
    from: string,
    to: string,
    writeOptions?: WriteOptions,
  ): Promise<void> {
    checkWriteOptions(writeOptions);
    await files.copyOrMove(verb, from, to, toSignal(writeOptions).signal);
  }

  async function deleteAll(prefix: string): Promise<void> {
    const folder = trim(prefix);
    if (folder !== "") return storage.remove(`/${folder}`).catch(ignoreMissing);
    for await (const { name } of storage.list("/")) await storage.remove(`/${name}`).catch(ignoreMissing);
  }

  async function getSignedUrl(key: string, urlOptions: SignedURLOptions = {}): Promise<string> {
    if (urlBuilder.generateSignedURL) return urlBuilder.generateSignedURL(key, urlOptions);
    const { expiresIn = SIGNED_SECONDS, contentType, contentDisposition } = urlOptions;
    const url = await signUrl(storage, key, { seconds: toSeconds(expiresIn), contentType, contentDisposition });
    if (url !== undefined) return url;
    await files.get(key);
    throw unsupported("The storage signs no URLs: set urlBuilder.generateSignedURL.");
  }

  async function listAll(
    prefix: string,
    { recursive = false, paginationToken, maxResults = MOST_LISTED }: FlydriveListOptions = {},
  ) {
    const folder = trim(prefix);
    const {
      files: found,
      folders,
      next,
    } = await listKeyedFiles(storage, {
      prefix: folder === "" ? "" : `${folder}/`,
      after: paginationToken,
      limit: Math.min(maxResults, MOST_LISTED),
      isDeep: recursive,
    });
    const objects = [
      ...folders.map(({ key }) => new DriveDirectory(key)),
      // Flydrive spells some keys in another way, as `hidden` for `.hidden`: with them it would act on another file.
      ...found.flatMap(({ key, entry }) =>
        normalizer.normalize(key) === key ? [new DriveFile(key, driver, toMetaData(key, entry))] : [],
      ),
    ];
    return { objects, ...(next !== undefined && { paginationToken: next }) };
  }

  const driver: DriverContract = {
    exists: async (key) => (await files.find(key)) !== undefined,
    get: async (key) =>
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readFileBytes(await files.read(key))),
    getBytes: async (key) => readFileBytes(await files.read(key)),
    getStream: async (key) => Readable.fromWeb((await files.read(key)).body as NodeReadableStream),
    getMetaData: async (key) => toMetaData(key, await files.get(key)),
    async getVisibility(key) {
      await files.get(key);
      return "private";
    },
    async setVisibility(key, visibility) {
      checkWriteOptions({ visibility });
      await files.get(key);
    },
    async getUrl(key) {
      if (urlBuilder.generateURL) return urlBuilder.generateURL(key);
      throw unsupported("Files of the storage have no URLs: set urlBuilder.generateURL.");
    },
    getSignedUrl,
    async getSignedUploadUrl() {
      throw unsupported("The storage signs no URLs for uploads.");
    },
    put,
    putStream,
    copy: (from, to, writeOptions) => copyOrMove("copy", from, to, writeOptions),
    move: (from, to, writeOptions) => copyOrMove("move", from, to, writeOptions),
    delete: (key) => files.remove(key),
    deleteAll,
    listAll,
  };
  return driver;
}

function toMetaData(key: string, { size, etag = "", modified }: StorageEntry): ObjectMetaData {
  return { contentType: toContentType(key), contentLength: size, etag, lastModified: modified };
}

/** The options of a listing. Flydrive's own drivers of buckets have `maxResults` too, from 1 to 1000. */
type FlydriveListOptions = Parameters<DriverContract["listAll"]>[1] & { readonly maxResults?: number };

/** Ignores what describes content to browsers, and refuses what would make readers get something else. */
function checkWriteOptions({ visibility, contentEncoding }: WriteOptions = {}): void {
  if (visibility === "public") throw unsupported("All files of the storage are private.");
  if (contentEncoding !== undefined) throw unsupported("The storage keeps no content encoding.");
}

function toSignal(options: WriteOptions | undefined): { readonly signal?: AbortSignal } {
  const signal: unknown = options?.["signal"];
  return isSignal(signal) ? { signal } : {};
}

/** Two copies of the class may exist. */
function isSignal(value: unknown): value is AbortSignal {
  return typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value;
}

/** Reads a time as flydrive writes it, such as `30 mins`, or a number of seconds. */
function toSeconds(expiresIn: string | number): number {
  if (typeof expiresIn === "number") return expiresIn;
  const [, count, unit = ""] =
    /^\s*(\d+)\s*(?:(s|m|h|d)(?:ecs?|econds?|ins?|inutes?|rs?|ours?|ays?)?)?\s*$/.exec(expiresIn) ?? [];
  if (count === undefined) throw unsupported(`expiresIn must be a number of seconds, or as "30 mins".`);
  return Number(count) * (UNIT_SECONDS[unit] ?? 1);
}

function trim(prefix: string): string {
  return prefix.replace(/^\/+|\/+$/g, "");
}

function unsupported(message: string): StorageError {
  return new StorageError("unsupported", message);
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** A stream with an encoding yields texts. */
async function* toBytes(contents: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of contents) yield typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
}
