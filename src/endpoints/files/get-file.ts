import { type StorageEntry, StorageError, type StoredFile } from "../../contracts/storage-adapter.ts";
import { evaluatePreconditions, mayUseRange } from "../../http/conditional.ts";
import { createError } from "../../http/errors.ts";
import { guessRange, parseRanges, type RangePart } from "../../http/range.ts";
import type { Reply } from "../../http/reply.ts";
import { emptyReply } from "../../http/reply.ts";
import { toValidatorFields, toValidators } from "../../http/validators.ts";
import type { AccountContext } from "../../request/context.ts";
import { emitEvent } from "../../request/emit-event.ts";
import { findWantedDigests, NO_FIELDS, type WantedDigests } from "../../transfers/digests/file-digests.ts";
import { toDownloadData } from "../../transfers/download-events.ts";
import { handOver, mayHandOver } from "../../transfers/offload.ts";
import { closeStoredFile, sendFile } from "../../transfers/send-file.ts";
import { tooManyTransfers } from "../../transfers/too-many-transfers.ts";
import { redirectIfFolder } from "../trailing-slash.ts";
import { toFileFields } from "./file-headers.ts";

/** Headers that make the response depend on the current version of the file. */
const CONDITIONS = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "range"] as const;

/** How often a file may be replaced during a conditional request before the request fails. */
const MAX_ATTEMPTS = 5;

/** `GET` and `HEAD /home/<path>`: the content of a file (4.2, 4.5, 4.6; CONTRACT 3.1, 3.2). */
export async function getFile(context: AccountContext): Promise<Reply> {
  const { request, path, files } = context;
  const isUnconditional = CONDITIONS.every((name) => request.headers.get(name) === null);
  try {
    const digests = await findWantedDigests(context);
    const offloaded = mayHandOver(context) ? await getOffloaded(context, digests) : undefined;
    if (offloaded !== undefined) return offloaded;
    if (!isUnconditional || request.method === "HEAD") return await getConditionally(context, digests);
    return send(context, await files.read(path.segments), [], digests);
  } catch (error) {
    return redirectOrEmit(context, error);
  }
}

/** A response without content of its own; `undefined` if the content is sent from here, or if there is no file. */
async function getOffloaded(context: AccountContext, digests: WantedDigests): Promise<Reply | undefined> {
  const { files, path } = context;
  const entry = await files.stat(path.segments, "read");
  if (entry === undefined) return undefined;
  const decision = decide(context, entry, digests);
  if ("response" in decision) return decision.response;
  const [part] = decision.parts;
  // A digest is of this version, and another server may open a newer one.
  if (digests.fieldsOf(entry, part === undefined ? "complete" : "other") !== NO_FIELDS) return undefined;
  return handOver(context, { entry, fields: toFileFields(entry, context), part });
}

/** Redirects to the folder's URL if the path is a folder. @throws any other error, after its event. */
function redirectOrEmit(context: AccountContext, error: unknown): Reply {
  try {
    return redirectIfFolder(context, error);
  } catch (failure) {
    if (context.hasListeners() && context.request.method === "GET") emitOpenFailed(context, failure);
    throw failure;
  }
}

/** Event 40035. Not for failed preconditions, or a client that disconnects: the file could have been opened. */
function emitOpenFailed(context: AccountContext, error: unknown): void {
  const { failure, code, message: details } = context.failureOf(error);
  const isOfRequest = failure === "precondition-failed" || failure === "range-not-satisfiable";
  if (isOfRequest || code === "client-disconnected") return;
  emitEvent(context, { id: 40035, data: { ...toDownloadData(context), details } });
}

/**
 * Decides on the version that it sends, even if another client replaces the file meanwhile
 * (docs/decisions/0011-reading.md). It reads the most likely part first, which comes with its entry, and reads again if
 * that entry requires another part.
 */
async function getConditionally(context: AccountContext, digests: WantedDigests): Promise<Reply> {
  const { request, files, path, transferPermit } = context;
  let wanted: RangePart | undefined;
  // Without a free permit, the response may still turn out to have no content, which needs none.
  if (isEntryEnough(request) || !transferPermit.canAcquire()) {
    const entry = await files.stat(path.segments, "read");
    if (entry === undefined) throw new StorageError("not-found");
    const decision = decide(context, entry, digests);
    if ("response" in decision) return decision.response;
    wanted = decision.parts[0];
  } else {
    wanted = guessRange(request.headers.get("range") ?? "");
  }
  if (!transferPermit.acquire()) throw tooManyTransfers();
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
    const file = await files.read(path.segments, wanted);
    const decision = await decideOrClose(context, file, digests);
    if ("response" in decision) return decision.response;
    if (isSamePart(file.entry.size, wanted, decision.parts[0])) return send(context, file, decision.parts, digests);
    await closeStoredFile(file);
    wanted = decision.parts[0];
  }
  throw new StorageError("unavailable", "The file keeps being replaced.");
}

/** Whether the response most likely has no content, or a part that depends on the size of the file. */
function isEntryEnough({ method, headers }: Request): boolean {
  if (method === "HEAD" || headers.get("if-none-match") !== null || headers.get("if-modified-since") !== null)
    return true;
  const range = headers.get("range");
  return range !== null && guessRange(range) === undefined;
}

/** A response without content, or the parts of the file to send; no parts stand for the complete file. */
type Decision = { readonly response: Reply } | { readonly parts: readonly RangePart[] };

/** Evaluates the conditions and ranges of a request for one version of the file. */
function decide(context: AccountContext, entry: StorageEntry, digests: WantedDigests): Decision {
  const { request, config, link } = context;
  const validators = toValidators(entry);
  const now = config.clock();
  const precondition = evaluatePreconditions(request, validators, now);
  if (precondition === "failed") throw new StorageError("precondition-failed");
  if (precondition === "not-modified") {
    const fields = { ...toValidatorFields(validators), ...digests.fieldsOf(entry, "other") };
    return { response: emptyReply(304, fields) };
  }
  if (request.method === "HEAD") {
    const fields = { ...toFileFields(entry, context), ...digests.fieldsOf(entry, "complete") };
    return { response: emptyReply(200, fields) };
  }

  // Parts of a file would be free where a file counts.
  if (link?.record.maxUses !== undefined || !mayUseRange(request.headers, validators, now)) return { parts: [] };
  const parts = parseRanges(request.headers.get("range"), entry.size);
  if (parts !== "unsatisfiable") return { parts: parts ?? [] };
  throw createError("range-not-satisfiable", { headers: { "Content-Range": `bytes */${entry.size}` } });
}

/** {@link decide} for an open file. Closes the file if nothing of it is sent. */
async function decideOrClose(context: AccountContext, file: StoredFile, digests: WantedDigests): Promise<Decision> {
  try {
    const decision = decide(context, file.entry, digests);
    if ("response" in decision) await closeStoredFile(file);
    return decision;
  } catch (error) {
    await closeStoredFile(file);
    throw error;
  }
}

/** Whether the part that was read is the part to send. `undefined` stands for the complete file. */
function isSamePart(size: number, read: RangePart | undefined, wanted: RangePart | undefined): boolean {
  if (read === undefined || wanted === undefined) return read === wanted;
  return read.offset === wanted.offset && Math.min(read.length, size - read.offset) === wanted.length;
}

/** Responds with an open file; the reply closes it. */
function send(context: AccountContext, file: StoredFile, parts: readonly RangePart[], digests: WantedDigests): Reply {
  const own = toFileFields(file.entry, context);
  const more = digests.fieldsOf(file.entry, parts.length === 0 ? "complete" : "other");
  return sendFile(context, file, more === NO_FIELDS ? own : { ...own, ...more }, parts);
}
