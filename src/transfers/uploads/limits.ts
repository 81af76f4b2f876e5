import type { AccountUpload } from "../../account/uploads/account-uploads.ts";
import { createError } from "../../http/errors.ts";
import type { HttpError } from "../../http/http-error.ts";
import { toUploadLimit, type UploadLimits } from "../../http/uploads/fields.ts";
import type { UploadAppend, UploadCreation } from "../../http/uploads/request-types.ts";
import type { AccountContext } from "../../request/context.ts";
import { findFinishedFile, isExpired, toExpiry } from "./expiry.ts";
import { requireUploads } from "./requirements.ts";

/** The owner of the unfinished uploads that a request adds to. A link has its own, apart from those of its account. */
export function toUploadHolder({ account, link }: AccountContext): string {
  return link === undefined ? account.name : `link:${link.record.id}`;
}

/** Whether the unfinished uploads of an account are limited. */
export function hasUploadLimits({ config: { limits } }: AccountContext): boolean {
  return limits.uploadsPerAccount > 0 || limits.uploadBytesPerAccount > 0;
}

/**
 * Checks the number and the size of an account's unfinished uploads, with the one that has just been created.
 * @throws HttpError `no-space`.
 */
export async function checkUploadLimits(context: AccountContext, created: AccountUpload): Promise<void> {
  const { limits, clock } = context.config;
  const { uploads, service } = requireUploads(context);
  const { uploadsPerAccount: maxCount, uploadBytesPerAccount: maxBytes } = limits;
  const holder = toUploadHolder(context);
  const now = clock();
  let count = 1;
  let bytes = toBytes(created);
  if (service.allowances.take(holder, bytes)) return;
  for await (const upload of uploads.listCounted()) {
    if (upload.id === created.id || findFinishedFile(upload) !== undefined || isExpired(upload, service.times, now))
      continue;
    count += 1;
    bytes += toBytes(upload);
  }
  if (maxCount > 0 && count > maxCount) throw createError("too-many-uploads", { values: { max: maxCount } });
  if (maxBytes > 0 && bytes > maxBytes) throw createError("upload-bytes-exceeded", { values: { max: maxBytes } });
  service.allowances.give(holder, { count: toLeft(maxCount, count), bytes: toLeft(maxBytes, bytes) });
}

/** A limit of 0 means no limit. */
function toLeft(limit: number, used: number): number {
  return limit > 0 ? limit - used : Number.POSITIVE_INFINITY;
}

function toBytes({ state }: AccountUpload): number {
  return state.size ?? state.offset;
}

/** @throws HttpError `too-large` if a request announces more content than one request may have. */
export function checkAnnounced(context: AccountContext, { announced = 0 }: UploadAppend | UploadCreation): void {
  const { maxAppendBytes } = requireUploads(context).service.times;
  if (maxAppendBytes > 0 && announced > maxAppendBytes) throw createAppendTooLarge(maxAppendBytes);
}

function createAppendTooLarge(maxAppendBytes: number): HttpError {
  const headers = { "Upload-Limit": toUploadLimit({ maxAppendBytes }) };
  return createError("upload-append-too-large", { values: { max: maxAppendBytes }, headers });
}

/** What limits an upload. */
export function toLimitsOfUpload(context: AccountContext, upload: AccountUpload): UploadLimits {
  const { account, config } = context;
  const { times } = requireUploads(context).service;
  return {
    maxBytes: account.maxFileBytes,
    ...(times.maxAppendBytes > 0 && { maxAppendBytes: times.maxAppendBytes }),
    secondsLeft: (toExpiry(upload, times).getTime() - config.clock()) / 1000,
  };
}
