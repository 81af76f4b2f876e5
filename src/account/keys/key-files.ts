import { isPrefix } from "../../contracts/storage-path.ts";
import { createError } from "../../http/errors.ts";
import type { AccountFiles } from "../files.ts";
import type { AccountUploads } from "../uploads/account-uploads.ts";
import type { UploadNote } from "../uploads/upload-note.ts";

/**
 * Hides what is outside the path of a key: every method that reads or changes it throws HttpError `denied`, whether
 * something is there or not. The permissions of the account deny it too, but they let clients see what exists.
 */
export function withKeyPath(files: AccountFiles, path: readonly string[]): AccountFiles {
  if (path.length === 0) return files;
  const isInside = (segments: readonly string[]): boolean => isPrefix(path, segments);

  function inside(segments: readonly string[]): readonly string[] {
    if (!isInside(segments)) throw createError("denied");
    return segments;
  }

  const { listingTag, uploads, trash, versions } = files;
  // Every method by its name: a new one is not open to keys until it is named here.
  return {
    realPathOf: files.realPathOf,
    may: files.may,
    mayRead: files.mayRead,
    submitTokens: files.submitTokens,
    kindOf: async (segments) => (isInside(segments) ? files.kindOf(segments) : undefined),
    isTaken: async (segments) => isInside(segments) && files.isTaken(segments),
    inspect: async (segments) => (isInside(segments) ? files.inspect(segments) : undefined),
    locateContent: async (segments) => (isInside(segments) ? files.locateContent(segments) : undefined),
    locksOf: async (segments) => (isInside(segments) ? files.locksOf(segments) : []),
    locksOfMembers: async (folder) => (isInside(folder) ? files.locksOfMembers(folder) : () => []),
    tokensOf: async (segments) => (isInside(segments) ? files.tokensOf(segments) : []),
    stat: async (segments, operation) => files.stat(inside(segments), operation),
    list: (segments, options, urgency) => files.list(inside(segments), options, urgency),
    checkListing: async (segments) => files.checkListing(inside(segments)),
    listedKinds: async (segments) => files.listedKinds(inside(segments)),
    ...(listingTag && { listingTag: async (segments: readonly string[]) => listingTag(inside(segments)) }),
    read: async (segments, range) => files.read(inside(segments), range),
    properties: async (segments) => files.properties(inside(segments)),
    write: async (segments, content, options) => files.write(inside(segments), content, options),
    createFolder: async (segments) => files.createFolder(inside(segments)),
    createFolderIfMissing: async (segments) => files.createFolderIfMissing(inside(segments)),
    remove: async (segments, kind, options) => files.remove(inside(segments), kind, options),
    setAttributes: async (segments, changes) => files.setAttributes(inside(segments), changes),
    copy: async (from, to, options) => files.copy(inside(from), inside(to), options),
    move: async (from, to, options) => files.move(inside(from), inside(to), options),
    lock: async (segments, lock) => files.lock(inside(segments), lock),
    refreshLock: async (segments, token, seconds) => files.refreshLock(inside(segments), token, seconds),
    unlock: async (segments, token) => files.unlock(inside(segments), token),
    requireUnlocked: async (segments) => files.requireUnlocked(inside(segments)),
    ...(uploads && { uploads: toUploadsInside(uploads, ({ path: of }) => inside(of)) }),
    // What these show and change needs permissions at its path, which a key does not have outside.
    ...(trash && { trash }),
    ...(versions && { versions }),
  };
}

/** Uploads begin inside alone. The permissions hold for what happens to them after that. */
function toUploadsInside(uploads: AccountUploads, requireInside: (note: UploadNote) => unknown): AccountUploads {
  return {
    ...uploads,
    async checkPermission(note) {
      requireInside(note);
      return uploads.checkPermission(note);
    },
    async create(upload) {
      requireInside(upload.note);
      return uploads.create(upload);
    },
  };
}
