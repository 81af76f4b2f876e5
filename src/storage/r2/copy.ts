import { matchesStrongly } from "../../contracts/entity-tags.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { throwIfTaken } from "../conditions.ts";
import { toFileContent } from "../file-content.ts";
import type { ListedObject } from "../object-store/copied-objects.ts";
import type { CopyBucket, ObjectCopy, ObjectCopyOptions } from "../object-store/copy-and-move.ts";
import type { PartMemory } from "../object-store/part-memory.ts";
import { withPermit } from "../object-store/permits.ts";
import type { R2Bucket, R2Metadata, R2ObjectBody } from "./binding.ts";
import { toSource } from "./read.ts";
import { mapR2Errors, writeObject } from "./write.ts";

/** Metadata of a copy: the entity-tag of the version that was copied. */
const SOURCE_METADATA = "fileferry-source";

/** What copies need. */
export interface R2CopierInput {
  readonly bucket: R2Bucket;
  readonly partBytes: number;
  readonly memory: PartMemory;
}

/** Creates the copier of one storage. The binding has no copy, so it reads objects and writes them, with metadata. */
export function createR2Copier(input: R2CopierInput): Pick<CopyBucket, "copyObject" | "isCopy"> {
  const { bucket } = input;

  function copyObject(from: string, to: string, options: ObjectCopyOptions): Promise<ObjectCopy | undefined> {
    return withPermit(options.permits, async () => {
      options.signal?.throwIfAborted();
      const found = await mapR2Errors(() => bucket.get(from));
      return found === null ? undefined : writeCopy(found, to, options);
    });
  }

  async function writeCopy(found: R2ObjectBody, to: string, options: ObjectCopyOptions): Promise<ObjectCopy> {
    const { ifMatch, isNew, signal } = options;
    const { size, httpEtag } = found;
    const content = toFileContent({ body: found.body, source: toSource(found.body) });
    try {
      if (ifMatch !== undefined && !matchesStrongly(httpEtag, ifMatch)) throw new StorageError("precondition-failed");
      const write = { key: to, content: content.chunks(), metadata: toMetadata(found) };
      const conditions = { size, ...(isNew && { ifNoneMatch: "*" as const }), ...(signal && { signal }) };
      const check = () => checkKey(to, size, options);
      const written = await writeObject({ ...input, ...write, options: conditions, check }).catch(throwIfTaken);
      return { source: httpEtag, etag: written.httpEtag };
    } finally {
      await content.close();
    }
  }

  /** R2 itself checks the condition of a copy that has only one part. */
  async function checkKey(key: string, size: number, { isNew, isInNewFolder }: ObjectCopyOptions): Promise<undefined> {
    if (!isNew || (isInNewFolder && size <= input.partBytes)) return;
    const current = await mapR2Errors(() => bucket.head(key));
    if (current !== null) throw new StorageError("precondition-failed");
  }

  /** Copies of parts may have another entity-tag. */
  async function isCopy(source: ListedObject, copy: ListedObject): Promise<boolean> {
    const found = await mapR2Errors(() => bucket.head(copy.key));
    return found?.customMetadata?.[SOURCE_METADATA] === source.etag;
  }

  return { copyObject, isCopy };
}

function toMetadata({ httpMetadata, customMetadata, httpEtag }: R2ObjectBody): R2Metadata {
  return {
    ...(httpMetadata !== undefined && { httpMetadata }),
    customMetadata: { ...customMetadata, [SOURCE_METADATA]: httpEtag },
  };
}
