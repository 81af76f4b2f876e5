import { hasCode, type StorageEntry, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { AccountFiles } from "../files.ts";
import type { AccountUploads, NewUpload } from "../uploads/account-uploads.ts";
import type { UploadNote } from "../uploads/upload-note.ts";

/**
 * Lets a link replace a file only if it may delete it, too (SHARING 6.1). The check and the write are one step: a file
 * that appears meanwhile is not replaced either.
 */
export function withoutReplacing(files: AccountFiles): AccountFiles {
  /**
   * Throws if a write would replace a file, or a symlink, that may not be deleted. Returns whether it must not replace
   * one.
   */
  async function checkNew(segments: readonly string[]): Promise<boolean> {
    if (await files.may(segments, "delete-file")) return false;
    if ((await files.may(segments, "write")) && (await isReplaceable(segments))) {
      throw createError("link-replacement-denied");
    }
    return true;
  }

  /**
   * Whether something at a path could be replaced. `If-None-Match` would not notice a symlink, which the storage hides.
   */
  async function isReplaceable(segments: readonly string[]): Promise<boolean> {
    return (await files.isTaken(segments)) && (await files.kindOf(segments)) !== "folder";
  }

  async function write(
    segments: readonly string[],
    content: AsyncIterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<StorageEntry> {
    if (!(await checkNew(segments))) return files.write(segments, content, options);
    return files.write(segments, content, { ...options, ifNoneMatch: "*" }).catch(toRefusalOf(options));
  }

  const copy: AccountFiles["copy"] = async (from, to, options) => {
    if (options?.replace !== true || (await mayRemove(to))) return files.copy(from, to, options);
    return files.copy(from, to, { ...options, replace: false }).catch((error: unknown) => {
      const isTaken = hasCode(error, "already-exists");
      throw isTaken ? createError("link-replacement-denied", { cause: error }) : error;
    });
  };

  /** Whether the link may remove what is at a path, of either kind if that may still change. */
  async function mayRemove(segments: readonly string[]): Promise<boolean> {
    const kind = await files.kindOf(segments);
    if (kind === "folder") return files.may(segments, "delete-folder");
    return (await files.may(segments, "delete-file")) && (kind === "file" || files.may(segments, "delete-folder"));
  }

  const { uploads } = files;
  return { ...files, write, copy, ...(uploads && { uploads: toNewUploads(uploads, checkNew) }) };
}

function toNewUploads(
  uploads: AccountUploads,
  checkNew: (segments: readonly string[]) => Promise<boolean>,
): AccountUploads {
  return {
    ...uploads,
    async create(upload: NewUpload) {
      // A partial upload is for no file, and the file of a joined one is there already.
      const isForFile = upload.note.concat !== "partial" && upload.note.joined === undefined;
      if (isForFile) await checkNew(upload.note.path);
      return uploads.create(upload);
    },
    async checkCompletion(upload) {
      await uploads.checkCompletion(upload);
      await checkNew(upload.note.path);
    },
    async complete(upload, options) {
      const { note } = upload;
      if (!(await checkNew(note.path))) return uploads.complete(upload, options);
      return uploads.complete({ ...upload, note: toNewNote(note) }, options).catch(toRefusalOf(note));
    },
    async join(parts, upload) {
      const { note } = upload;
      if (!(await checkNew(note.path))) return uploads.join(parts, upload);
      return uploads.join(parts, { ...upload, note: toNewNote(note) }).catch(toRefusalOf(note));
    },
  };
}

function toNewNote(note: UploadNote): UploadNote {
  return { ...note, ifNoneMatch: "*" };
}

/**
 * Handles a failed condition. If the client has sent none, it means that there is a file. @throws the error, always.
 */
function toRefusalOf(options: Pick<WriteOptions, "ifMatch" | "ifNoneMatch"> = {}): (error: unknown) => never {
  return (error) => {
    const isTaken = hasCode(error, "precondition-failed");
    const isOwn = options.ifMatch !== undefined || options.ifNoneMatch !== undefined;
    throw isTaken && !isOwn ? createError("link-replacement-denied", { cause: error }) : error;
  };
}
