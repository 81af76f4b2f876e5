import type { AccountUpload, NewUpload } from "../../account/uploads/account-uploads.ts";
import { hasCode } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import { createTooLargeError } from "../../http/uploads/length.ts";
import type { TusCreation } from "../../http/uploads/request-types.ts";
import type { AccountContext } from "../../request/context.ts";
import { withNewName } from "../links/drop-folder.ts";
import { askBeforeCommit } from "./before-completion.ts";
import { planUpload } from "./create.ts";
import { emitUploadDone, emitUploadFailed, emitUploadStarted, toUploadData } from "./events.ts";
import { isExpired } from "./expiry.ts";
import { requireUploads } from "./requirements.ts";

/**
 * Makes a file of complete partial uploads, and ends them. Returns the upload of the file. Emits events
 * 40021 and 40017, or 40022. `toId` returns the id of the upload that a path names.
 */
export async function joinUploads(
  context: AccountContext,
  creation: TusCreation,
  paths: readonly string[],
  toId: (path: string) => string | undefined,
): Promise<AccountUpload> {
  const { config, account } = context;
  const { uploads, service } = requireUploads(context);
  const planned = await planUpload(context, creation);
  const parts = await findParts(context, paths.map(toId));
  const size = parts.reduce((sum, { state }) => sum + state.offset, 0);
  if (account.maxFileBytes !== undefined && size > account.maxFileBytes) {
    throw createTooLargeError("tus", account.maxFileBytes);
  }
  const expires = Math.min(planned.expires.getTime(), config.clock() + 1000 * service.times.keepSeconds);
  const whole = { ...planned, size, expires: new Date(expires) };
  const make = (path: readonly string[]): Promise<NewUpload> => joinTo(context, path, parts, whole);
  const { path, isNamedLater } = planned.note;
  const joined = await (isNamedLater === true ? withNewName(context, path, make) : make(path));
  const created = await uploads.create(joined);
  await freeParts(context, parts);
  return created;
}

/** Makes the file at a path, with its events. */
async function joinTo(
  context: AccountContext,
  path: readonly string[],
  parts: readonly AccountUpload[],
  whole: NewUpload & { readonly size: number },
): Promise<NewUpload> {
  const { uploads } = requireUploads(context);
  const { size, note, expires } = whole;
  const { isNamedLater: _, ...named } = { ...note, path };
  const created = new Date(context.config.clock());
  const place = context.files.realPathOf(path);
  const key = { owner: "", id: "" };
  // The upload for the events. The upload itself is created after the file.
  const state = { key, path: place, offset: size, note: "", created, modified: created, expires };
  const upload: AccountUpload = { id: "", note: named, state };

  async function* read(): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield* uploads.read(part);
  }

  emitUploadStarted(context, upload);
  try {
    const scanned = await askBeforeCommit(context, toUploadData(upload), size, read);
    const joined = await uploads.join(parts, { ...whole, path });
    emitUploadDone(context, upload, size, scanned);
    return joined;
  } catch (error) {
    // Another request has ended a part meanwhile.
    const refusal = hasCode(error, "not-found") ? createError("upload-parts-invalid") : error;
    emitUploadFailed(context, upload, context.failureOf(refusal).message);
    throw refusal;
  }
}

/** @throws HttpError `malformed`, the same for all reasons: no account learns of the uploads of others. */
async function findParts(
  context: AccountContext,
  ids: readonly (string | undefined)[],
): Promise<readonly AccountUpload[]> {
  const found = new Map<string, AccountUpload>();
  const { uploads } = requireUploads(context);
  for (const id of new Set(ids)) {
    const part = id === undefined ? undefined : await uploads.find(id);
    if (part === undefined || !isWholePart(context, part)) throw createError("upload-parts-invalid");
    found.set(part.id, part);
  }
  return ids.flatMap((id) => found.get(id ?? "") ?? []);
}

function isWholePart(context: AccountContext, part: AccountUpload): boolean {
  const { state, note } = part;
  const { times } = requireUploads(context).service;
  const isWhole = note.concat === "partial" && state.size === state.offset;
  return isWhole && !isExpired(part, times, context.config.clock());
}

/** The file is there: parts that cannot be removed now are removed when they expire. */
async function freeParts(context: AccountContext, parts: readonly AccountUpload[]): Promise<void> {
  for (const { id } of new Set(parts)) await requireUploads(context).uploads.discard(id).catch(context.failureOf);
}
