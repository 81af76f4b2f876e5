import type { Presign } from "../contracts/downloads/presign.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import { toAttachment } from "../http/content-disposition.ts";
import { toContentType } from "../http/media-types/by-name.ts";

/** What a signed URL must say. */
export interface SignedUrlInput {
  readonly seconds: number;
  readonly contentType?: string | undefined;
  readonly contentDisposition?: string | undefined;
}

/** Whether a storage signs URLs by itself. */
export function canSignUrls(storage: StorageAdapter): storage is StorageAdapter & { readonly presignRead: Presign } {
  return "presignRead" in storage && typeof storage.presignRead === "function";
}

/**
 * Returns a URL at which a file is downloaded from the store that has it, also through mounts and wrappers that keep
 * its bytes. Returns `undefined` if no store signs URLs, and if there is no file.
 */
export async function signUrl(
  storage: StorageAdapter,
  key: string,
  input: SignedUrlInput,
): Promise<string | undefined> {
  const found = await storage.locateContent?.(`/${key}`);
  if (found === undefined || !canSignUrls(found.storage)) return undefined;
  return found.storage.presignRead(found.path, {
    seconds: input.seconds,
    contentType: input.contentType ?? toContentType(key),
    contentDisposition: input.contentDisposition ?? toAttachment(key.slice(key.lastIndexOf("/") + 1)),
  });
}
