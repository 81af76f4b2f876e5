import type { ByteSource } from "../contracts/byte-source.ts";
import { type StorageEntry, StorageError, type StoredFile } from "../contracts/storage-adapter.ts";
import { toFileSource } from "../contracts/stored-file.ts";
import { toMultipartRanges } from "../http/byteranges.ts";
import type { RangePart } from "../http/range.ts";
import type { HeaderFields, Reply } from "../http/reply.ts";
import { fileReply, sourceReply } from "../http/reply.ts";
import { toValidators } from "../http/validators.ts";
import type { AccountContext } from "../request/context.ts";
import { downloadEvents } from "./download-events.ts";
import { holdUntilRead, reportFailures, trackTransfer } from "./tracked-source.ts";

/** The headers of a complete file. Its type is also sent before each of several parts. */
export type FileFields = HeaderFields & { readonly "Content-Type": string };

/**
 * Responds with an open file: the complete file if `parts` is empty, otherwise the parts, of which `file` holds the
 * first. The reply closes the file.
 */
export function sendFile(
  context: AccountContext,
  file: StoredFile,
  fields: FileFields,
  parts: readonly RangePart[],
): Reply {
  const [part, ...more] = parts;
  if (part === undefined) return send(context, 200, file, fields);
  if (more.length > 0) return sendParts(context, file, fields, parts);
  return send(context, 206, file, {
    ...fields,
    "Content-Length": String(part.length),
    "Content-Range": `bytes ${part.offset}-${part.offset + part.length - 1}/${file.entry.size}`,
  });
}

/** Closes a file that is not sent. */
export async function closeStoredFile(file: StoredFile): Promise<void> {
  await toFileSource(file).close();
}

/**
 * Bytes are handed over as they are. So is a stream without events or permits: some runtimes send an unwrapped stream
 * without JavaScript.
 */
function send(context: AccountContext, status: number, file: StoredFile, fields: HeaderFields): Reply {
  const { source } = file;
  if (source !== undefined && "byteLength" in source) {
    if (context.hasListeners()) emitSent(context, source.byteLength);
    return fileReply(status, file, fields);
  }
  if (source === undefined && !context.hasListeners() && !context.transferPermit.isTaken()) {
    return fileReply(status, file, fields);
  }
  return sendSource(context, status, toFileSource(file), fields);
}

/** Bytes in memory are handed over together with the response, so the download ends when it starts. */
function emitSent(context: AccountContext, count: number): void {
  const totals = { total_read: count, duration: 0, read_speed: count };
  downloadEvents(context)({ outcome: "done", totals });
}

function sendSource(context: AccountContext, status: number, source: ByteSource, fields: HeaderFields): Reply {
  if (!context.hasListeners()) {
    return sourceReply(status, holdUntilRead(context, reportFailures(context, source)), fields);
  }
  const transfer = trackTransfer(context, downloadEvents);
  transfer.begin();
  return sourceReply(status, holdUntilRead(context, transfer.trackSource(source)), fields);
}

/** Opens each part just before it is sent, and breaks off if the file was replaced (docs/decisions/0011-reading.md). */
function sendParts(context: AccountContext, first: StoredFile, fields: FileFields, parts: readonly RangePart[]): Reply {
  const { files, path } = context;
  let isFirstOpened = false;

  async function open(part: RangePart): Promise<ByteSource> {
    if (part === parts[0]) {
      isFirstOpened = true;
      return toFileSource(first);
    }
    const file = await files.read(path.segments, part);
    if (isSameVersion(file.entry, first.entry)) return toFileSource(file);
    await closeStoredFile(file);
    throw new StorageError("unavailable", "The file was replaced between two parts.");
  }

  const { contentType, length, source } = toMultipartRanges(parts, first.entry.size, fields["Content-Type"], open);
  const close = async (): Promise<void> => {
    await source.close();
    if (!isFirstOpened) await closeStoredFile(first);
  };
  const multipartFields = { ...fields, "Content-Type": contentType, "Content-Length": String(length) };
  return sendSource(context, 206, { ...source, close }, multipartFields);
}

function isSameVersion(one: StorageEntry, other: StorageEntry): boolean {
  const [first, second] = [toValidators(one), toValidators(other)];
  return first.etag === second.etag && first.modified.getTime() === second.modified.getTime();
}
