import type { Metadata, Scanned, WriteTotals } from "../contracts/events/transfers.ts";
import { type StorageEntry, StorageError, type WriteOptions } from "../contracts/storage-adapter.ts";
import type { Upload } from "../contracts/upload.ts";
import { watchSteps } from "../contracts/watch-steps.ts";
import { readTrace } from "../http/trace-context.ts";
import type { AccountContext } from "../request/context.ts";
import { emitEvent, toFileLocation, toWriteTotals } from "../request/emit-event.ts";
import { guardContent } from "../uploads/before-commit.ts";

/** A file that a client uploads. */
export interface IncomingFile {
  readonly segments: readonly string[];
  readonly content: AsyncIterable<Uint8Array>;
  /** Checks the conditions of the write. Called after the first event, so that a refusal has the event of a failure. */
  readonly toOptions: () => WriteOptions | Promise<WriteOptions>;
  readonly metadata: Metadata | undefined;
}

/**
 * Stores a file of a PUT or a form completely or not at all. Emits one event when it starts and one when it ends (6).
 * After the last byte, and before the file becomes visible, the option `beforeCommit` may refuse it.
 * @throws the HttpError with which `beforeCommit` refuses the file; what the storage and the content throw.
 */
export async function storeFile(context: AccountContext, file: IncomingFile): Promise<StorageEntry> {
  const { files, config } = context;
  const { segments, metadata } = file;
  // Without listeners there is nothing to count for.
  if (config.beforeCommit.length === 0 && !context.hasListeners())
    return files.write(segments, file.content, await file.toOptions());
  const data = { ...toFileLocation(context, segments), ...(metadata !== undefined && { metadata }) };
  const startedAt = config.clock();
  let count = 0;
  let upload: PendingUpload | undefined;

  /** Counts bytes, and fails before `beforeCommit` is asked if content is missing. */
  function counted(size: number | undefined): AsyncIterable<Uint8Array> {
    return watchSteps(() => file.content, {
      onStep(chunk) {
        count += chunk.byteLength;
        if (upload !== undefined) upload.size = count;
      },
      onEnd() {
        if (size !== undefined && count < size) throw new StorageError("incomplete");
      },
    });
  }

  const toTotals = (): WriteTotals => toWriteTotals(count, startedAt, config.clock());

  function write(options: WriteOptions): Promise<StorageEntry> {
    const { beforeCommit } = config;
    if (beforeCommit.length === 0) return files.write(segments, counted(options.size), options);
    upload = toUpload(context, data);
    const { content, settle } = guardContent(counted(options.size), upload, beforeCommit, context.report);
    return files.write(segments, content, options).finally(settle);
  }

  emitEvent(context, { id: 40021, data });
  try {
    const entry = await write(await file.toOptions());
    emitEvent(context, { id: 40017, data: { ...data, ...toTotals(), ...toScanned(upload) } });
    return entry;
  } catch (error) {
    emitEvent(context, { id: 40022, data: { ...data, ...toTotals(), details: context.failureOf(error).message } });
    throw error;
  }
}

/** What a scanner has found in an upload, for its event. */
export function toScanned(upload: Pick<Upload, "scan"> | undefined): Scanned {
  return upload?.scan === undefined ? {} : { scan: upload.scan };
}

/** An upload whose size grows. */
export type PendingUpload = Omit<Upload, "size"> & { size: number };

/** What `beforeCommit` gets of an upload, with a size of 0. */
export function toUpload(
  context: AccountContext,
  {
    path,
    real_path: realPath,
    metadata,
  }: { readonly path: string; readonly real_path: string; readonly metadata?: Metadata },
): PendingUpload {
  const { account, connection, request, eventLink } = context;
  const { name, uuid, email, group } = account;
  const { peer } = connection;
  const { headers, signal } = request;
  const trace = readTrace(headers);
  return {
    path,
    realPath,
    size: 0,
    ...(metadata !== undefined && { metadata }),
    account: { name, uuid, email, group },
    ...(eventLink !== undefined && { link: eventLink }),
    ...(peer !== undefined && { peer }),
    ...(trace !== undefined && { trace }),
    signal,
  };
}
