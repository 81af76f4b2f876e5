import { StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { evaluatePreconditions, isConditionalChange } from "../../http/conditional.ts";
import { toHttpDate } from "../../http/http-date.ts";
import type { Reply } from "../../http/reply.ts";
import { emptyReply } from "../../http/reply.ts";
import { toValidators } from "../../http/validators.ts";
import type { AccountContext } from "../../request/context.ts";
import { toDigestedBody } from "../../transfers/digests/digested-body.ts";
import { isInDropFolder, requireNewFile } from "../../transfers/links/drop-folder.ts";
import { addSenderFromHeader, storeSentFile } from "../../transfers/links/sent-file.ts";
import { readMetadata } from "../../uploads/metadata-header.ts";
import { toWriteOptions, withUnmodifiedSince } from "../../uploads/write-conditions.ts";
import { checkExpectedLength } from "../../webdav/expected-length.ts";
import { parseOcMtime } from "../../webdav/oc-mtime.ts";
import { putUpload } from "../uploads/create-upload.ts";

/**
 * `PUT /home/<path>`: creates or overwrites a file completely or not at all (4.2, CONTRACT 4.1, 4.2). All checks that
 * need only the headers run before the body is read.
 */
export async function putFile(context: AccountContext): Promise<Reply> {
  const segments = addSenderFromHeader(context, context.path.segments);
  const reply = await putUpload(context);
  if (reply !== undefined) return reply;
  const { request, config } = context;
  const modified = await findModified(context, segments);
  const options: WriteOptions = { ...toWriteOptions(request), ...(modified && { modified }) };
  if (isInDropFolder(context)) requireNewFile(context);
  const body = toDigestedBody(context);
  const entry = await storeSentFile(context, {
    segments,
    content: body.content,
    toOptions: () => checkConditions(context, segments, options),
    metadata: config.metadataFields && readMetadata(request.headers, config.metadataFields),
  });
  const digests = await body.toFields(entry, segments);
  // What is stored under another name is answered as if it had its own.
  if (isInDropFolder(context)) return emptyReply(201, digests);
  const fields = { ETag: entry.etag, "Last-Modified": toHttpDate(entry.modified), ...digests };
  const isAccepted = modified !== undefined && toHttpDate(modified) === fields["Last-Modified"];
  return emptyReply(201, isAccepted ? { ...fields, "X-OC-Mtime": "accepted" } : fields);
}

/** The time that the file shall have, if the account may set it. Otherwise it is ignored: the upload is what counts. */
async function findModified(
  { config, request, files }: AccountContext,
  segments: readonly string[],
): Promise<Date | undefined> {
  const modified = config.webdav && parseOcMtime(request.headers);
  if (modified === undefined) return undefined;
  return (await files.may(segments, "set-attributes")) ? modified : undefined;
}

/**
 * Checks the conditions of a request, and the length that Finder announces, before the body is read. Returns the
 * options with the conditions that the write must check again when it commits.
 */
async function checkConditions(
  context: AccountContext,
  segments: readonly string[],
  options: WriteOptions,
): Promise<WriteOptions> {
  const { request, files, config, account } = context;
  if (config.webdav !== undefined) checkExpectedLength(request.headers, account.maxFileBytes);
  if (!isConditionalChange(request) || isInDropFolder(context)) return options;
  const current = await files.stat(segments, "write");
  const now = config.clock();
  const precondition = evaluatePreconditions(request, current && toValidators(current), now);
  if (precondition !== "met") throw new StorageError("precondition-failed");
  return withUnmodifiedSince(request, options, current, now);
}
