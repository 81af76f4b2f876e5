import type { AccountUpload, AccountUploads } from "../../account/uploads/account-uploads.ts";
import type { Scanned } from "../../contracts/events/transfers.ts";
import { type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import type { Failure } from "../../http/http-error.ts";
import type { AccountContext } from "../../request/context.ts";
import { withNewName } from "../links/drop-folder.ts";
import { askBeforeCommit } from "./before-completion.ts";
import { emitUploadDone, emitUploadFailed, toUploadData } from "./events.ts";
import { toExpiry } from "./expiry.ts";
import { requireUploads } from "./requirements.ts";

/**
 * The failures that are a refusal of the file: they end the upload, because the same request would be refused again.
 * After any other failure the client may try to complete it again (RESUMABLE 4.4).
 */
const REFUSALS: readonly Failure[] = [
  "denied",
  "malformed",
  "not-found",
  "parent-missing",
  "precondition-failed",
  "too-large",
  "unprocessable",
  "wrong-kind",
];

/** Whether an error at the completion of an upload has ended it. A client that disconnects has not: it continues. */
export function endsUpload(context: AccountContext, error: unknown): boolean {
  const { failure, code } = context.failureOf(error);
  return code !== "client-disconnected" && REFUSALS.includes(failure);
}

/**
 * Makes an upload that has all its bytes the file, in the way of a PUT: `beforeCommit` is asked, and permission,
 * conditions and locks are checked as they are now. Emits event 40017, or 40022 if the file is refused; the upload is
 * gone then. If another request or process has completed it meanwhile, returns the same file, without an event.
 */
export async function completeResumableUpload(context: AccountContext, { id }: AccountUpload): Promise<StorageEntry> {
  const { uploads, service } = requireUploads(context);
  return service.withLock(id, async () => {
    context.request.signal.throwIfAborted();
    // The previous request may have completed the upload, and then has emitted the event.
    const upload = await uploads.find(id);
    if (upload === undefined) throw new StorageError("not-found");
    return upload.state.done ?? complete(context, uploads, upload);
  });
}

async function complete(
  context: AccountContext,
  uploads: AccountUploads,
  upload: AccountUpload,
): Promise<StorageEntry> {
  const { offset } = upload.state;
  let made: MadeFile;
  let isRepeated = false;
  const onRepeat = (): void => {
    isRepeated = true;
  };
  try {
    await uploads.checkCompletion(upload);
    made = await makeFile(context, uploads, upload, onRepeat);
  } catch (error) {
    if (!endsUpload(context, error)) throw error;
    // Another process may have made the file since: its client can still ask for the result.
    const done = (await uploads.find(upload.id))?.state.done;
    if (done !== undefined) return done;
    await endRefused(context, uploads, upload, error);
    throw error;
  }
  const { entry, scanned } = made;
  if (isRepeated) return entry;
  emitUploadDone(context, { ...upload, state: { ...upload.state, done: entry } }, offset, scanned);
  await noteCompletion(context, upload);
  return entry;
}

/** The file of an upload, and what event 40017 has of a scan. */
interface MadeFile {
  readonly entry: StorageEntry;
  readonly scanned: Scanned;
}

async function makeFile(
  context: AccountContext,
  uploads: AccountUploads,
  upload: AccountUpload,
  onRepeat: () => void,
): Promise<MadeFile> {
  const { note, state } = upload;

  async function makeAt(path?: readonly string[]): Promise<MadeFile> {
    const read = (): AsyncIterable<Uint8Array> => uploads.read(upload);
    const scanned = await askBeforeCommit(context, toUploadData(upload, path?.at(-1)), state.offset, read);
    // All bytes and the verdict are there. A client that disconnects now learns the outcome by HEAD.
    return { entry: await uploads.complete(upload, { onRepeat, ...(path && { path }) }), scanned };
  }

  return note.isNamedLater === true ? withNewName(context, note.path, makeAt) : makeAt();
}

async function endRefused(
  context: AccountContext,
  uploads: AccountUploads,
  upload: AccountUpload,
  error: unknown,
): Promise<void> {
  const discarded = await uploads.discard(upload.id).catch(context.failureOf);
  if (discarded === "unfinished") emitUploadFailed(context, upload, context.failureOf(error).message);
}

/**
 * Notes that the event was emitted, and until when the upload is known. The file is there: if this write fails, the
 * upload is known until it expires, and event 40017 is emitted once more then.
 */
async function noteCompletion(context: AccountContext, upload: AccountUpload): Promise<void> {
  const { uploads, service } = requireUploads(context);
  const latest = toExpiry(upload, service.times).getTime();
  const expires = new Date(Math.min(latest, context.config.clock() + 1000 * service.times.keepSeconds));
  await uploads.update(upload, { expires, note: { ...upload.note, isReported: true } }).catch(context.failureOf);
}
