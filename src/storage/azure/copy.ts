import { matchesStrongly } from "../../contracts/entity-tags.ts";
import { hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import { toFileContent } from "../file-content.ts";
import type { CopyBucket, ObjectCopy, ObjectCopyOptions } from "../object-store/copy-and-move.ts";
import { withPermit } from "../object-store/permits.ts";
import { changeBlob } from "./change.ts";
import type { AzureClient } from "./client.ts";
import { toAzureCode } from "./errors.ts";
import { type AzureHead, type AzureVersion, headBlob, SOURCE, WRITER } from "./head.ts";
import { readBlob } from "./read.ts";
import type { AzureWriter } from "./write.ts";

/** The largest blob that the store copies by one request: 256 MiB. */
const MAX_COPY_BYTES = 256 * 1024 ** 2;
/** The store takes no longer URL of a source. */
const MAX_URL_CHARACTERS = 2048;
/** How long the URL of a source is valid. The store reads it within one request. */
const SIGNED_SECONDS = 900;
/** How often a blob may change while it is copied. */
const MAX_ROUNDS = 4;

/**
 * Creates the copier of one storage. The store copies blobs of up to `maxBytes` in one step. A larger one is read and
 * written here: the store's own copy of it would be visible before it is complete. So is one whose URL is too long.
 */
export function createAzureCopier(
  client: AzureClient,
  writer: AzureWriter,
  { maxBytes = MAX_COPY_BYTES } = {},
): Pick<CopyBucket, "copyObject" | "isCopy"> {
  function copyObject(from: string, to: string, options: ObjectCopyOptions): Promise<ObjectCopy | undefined> {
    return withPermit(options.permits, async () => {
      for (let round = 1; ; round += 1) {
        const source = await headBlob(client, from, options.signal);
        if (source === undefined) return undefined;
        if (options.ifMatch !== undefined && !matchesStrongly(source.etag, options.ifMatch)) {
          throw new StorageError("precondition-failed", from);
        }
        const version = await copyVersion(from, source, to, options);
        if (version !== undefined) return { source: source.etag, etag: version.etag };
        if (round === MAX_ROUNDS) throw new StorageError("unavailable", `${from}: other clients keep changing it`);
      }
    });
  }

  /** Copies one version. Returns `undefined` if it is not there any more. */
  async function copyVersion(
    from: string,
    source: AzureHead,
    to: string,
    options: ObjectCopyOptions,
  ): Promise<AzureVersion | undefined> {
    try {
      if (source.size > maxBytes) return await copyByReading(from, source, to, options);
      return await copyInStore(from, source, to, options);
    } catch (error) {
      if (error === CHANGED) return undefined;
      const isTaken = options.isNew && hasCode(error, "precondition-failed");
      throw isTaken ? new StorageError("already-exists", to, { cause: error }) : error;
    }
  }

  async function copyInStore(from: string, source: AzureHead, to: string, options: ObjectCopyOptions) {
    const mark = crypto.randomUUID();
    const url = await client.presign(from, SIGNED_SECONDS, {});
    if (url.length > MAX_URL_CHARACTERS) return copyByReading(from, source, to, options);
    const own = {
      ...source.metadata,
      "x-ms-copy-source": url,
      "x-ms-requires-sync": "true",
      "x-ms-source-if-match": source.etag,
      [WRITER]: mark,
      [SOURCE]: source.etag,
    };
    return changeBlob(client, {
      key: to,
      writer: mark,
      ...toTarget(options),
      what: `copy to ${to}`,
      async send(headers) {
        // Without the signal: what is sent may be done.
        const request = { method: "PUT", key: to, headers: { ...headers, ...own } } as const;
        const response = await client.call(request);
        // A condition of the source must not be mistaken for one on what is at the new key.
        const isOfSource = /^(?:SourceConditionNotMet|CannotVerifyCopySource)$/.test(toAzureCode(response));
        if (response.status === 404 || (response.status === 412 && isOfSource)) throw CHANGED;
        return response;
      },
    });
  }

  async function copyByReading(from: string, source: AzureHead, to: string, options: ObjectCopyOptions) {
    const location = { name: from, key: from, folder: `${from}/`, parent: "" };
    const file = await readBlob(client, location, undefined);
    const content = toFileContent(file);
    try {
      if (file.entry.etag !== source.etag) throw CHANGED;
      const { conditions, ...target } = toTarget(options);
      return await writer.putContent(to, content.chunks(), {
        ...conditions,
        ...(target.isKnownToBeFree && { isKnownToBeFree: true }),
        ...(options.signal && { signal: options.signal }),
        size: source.size,
        headers: { ...source.metadata, ...source.contentHeaders, [SOURCE]: source.etag },
      });
    } finally {
      await content.close();
    }
  }

  async function isCopy(source: { readonly etag: string }, copy: { readonly key: string }): Promise<boolean> {
    return (await headBlob(client, copy.key))?.metadata[SOURCE] === source.etag;
  }

  return { copyObject, isCopy };
}

/** Thrown when the version that is copied is not there any more. */
const CHANGED = new StorageError("unavailable", "The source of a copy has changed.");

function toTarget({ isNew, isInNewFolder, signal }: ObjectCopyOptions) {
  return {
    conditions: isNew ? { ifNoneMatch: "*" as const } : {},
    ...(isInNewFolder && { isKnownToBeFree: isInNewFolder }),
    signal,
  };
}
