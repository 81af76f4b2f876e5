import { checkOption } from "../contracts/option-error.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import type { UploadGuard } from "../contracts/upload.ts";
import { isCount, isObject, isPositive } from "./checks.ts";

/** The option `uploads`. */
export interface ResumableUploadOptions {
  /** How long an upload is kept after its last byte, in seconds. Default: 86,400 (a day). */
  readonly idleSeconds?: number;
  /** How long an upload is kept after its creation at most, in seconds. Default: 604,800 (a week). */
  readonly maxSeconds?: number;
  /**
   * How long a complete upload is known, in seconds: a client that has lost the last response learns of its success.
   * Default: 3,600.
   */
  readonly keepSeconds?: number;
  /**
   * The size of the content of one request, in bytes; 0 for no limit. It tells clients what a proxy in front allows:
   * more is 413, before the content is read, if the client announces it. Default: 0.
   */
  readonly maxAppendBytes?: number;
}

/** The option `uploads` with its defaults. */
export type UploadConfig = Required<ResumableUploadOptions>;

/**
 * Checks the option. Returns `undefined` if the service has no resumable uploads: the option is `false`, the storage
 * has none, or `beforeCommit` must see the content and the storage cannot read uploads.
 * @throws OptionError for an option such as `uploads.idleSeconds`.
 */
export function toUploads(
  uploads: ResumableUploadOptions | false | undefined = {},
  { uploads: ofStorage }: Pick<StorageAdapter, "uploads">,
  beforeCommit: readonly UploadGuard[],
): UploadConfig | undefined {
  if (uploads === false) return undefined;
  checkOption(isObject(uploads), "uploads", "an object, or false");
  const { idleSeconds = 86_400, maxSeconds = 604_800, keepSeconds = 3600, maxAppendBytes = 0 } = uploads;
  checkOption(isPositive(idleSeconds), "uploads.idleSeconds", "a positive number");
  checkOption(isPositive(maxSeconds), "uploads.maxSeconds", "a positive number");
  checkOption(isPositive(keepSeconds), "uploads.keepSeconds", "a positive number");
  const isLimit = maxAppendBytes === 0 || isCount(maxAppendBytes);
  checkOption(isLimit, "uploads.maxAppendBytes", "a whole number of bytes, or 0");
  const seesContent = beforeCommit.some(({ receive }) => receive !== undefined);
  if (ofStorage === undefined || (seesContent && ofStorage.read === undefined)) return undefined;
  return { idleSeconds, maxSeconds, keepSeconds, maxAppendBytes };
}
