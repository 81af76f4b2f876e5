import { StorageError } from "../../contracts/storage-adapter.ts";
import { toFileContent } from "../file-content.ts";
import { isSuccessful } from "../object-store/http/client.ts";
import type { HiddenObjects } from "../object-store/uploads.ts";
import type { S3Client } from "./client.ts";
import { changeConditionally, type S3ConditionSupport } from "./conditional-change.ts";
import { codeOf } from "./errors.ts";
import { headObject } from "./head.ts";
import { completeUpload } from "./multipart-parts.ts";
import type { S3Uploads } from "./multipart-uploads.ts";
import { copyPart, toCopyError } from "./part-copies.ts";
import { readFile } from "./read.ts";

/** Error codes of a store that does not have an upload, or not the part with the entity-tag. */
export const LOST = /^(?:NoSuchUpload|InvalidPart)$/;

/** The smallest part of all but the last: 5 MiB. */
const MIN_PART_BYTES = 5 * 1024 ** 2;
/** The usual size of the largest parts: 128 MiB. Nothing of them is held in memory. */
const MAX_COPY_BYTES = 128 * 1024 ** 2;

/** Returns how a store makes objects that only the storage sees, and files of them. */
export function createS3HiddenObjects(
  client: S3Client,
  support: S3ConditionSupport,
  uploads: S3Uploads,
): HiddenObjects {
  const { prefix, partBytes } = client.settings;

  const copy: NonNullable<HiddenObjects["copies"]>["copyPart"] = async (
    upload,
    number,
    { source, first, bytes },
    signal,
  ) => {
    // Stores copy ranges only of objects that are not small.
    const isAll = first === 0 && bytes === source.bytes;
    const range = { ...(!isAll && { range: { first, last: first + bytes - 1 } }) };
    const copied = await copyPart(client, upload, { number, source, ...range, signal });
    if (typeof copied !== "string") {
      const error = toCopyError(copied, source);
      throw LOST.test(codeOf(copied.refusal)) ? new StorageError("not-found", error.message) : error;
    }
    await uploads.handOver(upload);
    return copied;
  };

  const completeObject: HiddenObjects["completeObject"] = async (upload, mark, tags) => {
    const { key } = upload;
    let code = "";
    try {
      await changeConditionally(client, support, {
        kind: "complete",
        key,
        writer: mark,
        conditions: {},
        what: `PUT ${key}`,
        async send(headers) {
          const response = await completeUpload(client, upload, tags, headers);
          if (!isSuccessful(response)) code = codeOf(response);
          return response;
        },
      });
    } catch (error) {
      throw LOST.test(code) ? new StorageError("not-found", `${key}: ${code}`, { cause: error }) : error;
    }
  };

  const findObject: HiddenObjects["findObject"] = async (key, mark) => {
    const found = await headObject(client, key);
    return found?.writer === mark ? { key, etag: found.etag, bytes: found.size } : undefined;
  };

  const readRange: HiddenObjects["readRange"] = async function* ({ source: { key }, first, bytes }) {
    const location = { name: key, key, folder: `${key}/`, parent: prefix };
    const content = toFileContent(await readFile(client, location, { offset: first, length: bytes }));
    try {
      yield* content.chunks();
    } finally {
      await content.close();
    }
  };

  return {
    minPartBytes: Math.min(MIN_PART_BYTES, partBytes),
    copies: { maxCopyBytes: MAX_COPY_BYTES, copyPart: copy },
    completeObject,
    findObject,
    readRange,
    free: (upload) => uploads.end(upload, "sending"),
  };
}
