import { type ByteSource, sourceOfBytes, toByteSource } from "../../contracts/byte-source.ts";
import { type StorageEntry, StorageError, type StoredFile } from "../../contracts/storage-adapter.ts";
import { evaluatePreconditions, mayUseRange } from "../../http/conditional.ts";
import { HttpError } from "../../http/http-error.ts";
import { toMultipartRanges } from "../../http/byteranges.ts";
import { guessRange, parseRanges, type RangePart } from "../../http/range.ts";
import { emptyResponse, fileResponse, type HeaderFields, sourceResponse } from "../../http/responses.ts";
import type { AccountContext } from "../../request/context.ts";
import { type FileFields, toFileFields, toValidatorFields, toValidators } from "./file-headers.ts";
import { tooManyTransfers } from "../../transfers/too-many-transfers.ts";
import { redirectIfFolder } from "../trailing-slash.ts";
import { emitEvent, toFileLocation } from "../../request/emit-event.ts";
import { trackTransfer, holdUntilRead, reportFailures } from "../../transfers/tracked-source.ts";
import { downloadEvents } from "../../transfers/transfer-events.ts";

/** Header fields that make a request's answer depend on the version that is there. */
const CONDITIONS = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "range"] as const;

/** How often a file may be replaced under a conditional request before it is given up. */
const MAX_ATTEMPTS = 5;

/** `GET` and `HEAD /home/<path>`: the content of a file (4.2, 4.5, 4.6; CONTRACT 3.1, 3.2). */
export async function getFile(context: AccountContext): Promise<Response> {
  const { request, path, files } = context;
  const isUnconditional = CONDITIONS.every((name) => request.headers.get(name) === null);
  try {
    if (!isUnconditional || request.method === "HEAD") return await getConditionally(context);
    return await answerWith(context, await files.read(path.segments), []);
  } catch (error) {
    return redirectOrEmit(context, error);
  }
}

/** A folder is asked for by its own URL; any other failure to send a file is told of. @throws it. */
function redirectOrEmit(context: AccountContext, error: unknown): Response {
  try {
    return redirectIfFolder(context, error);
  } catch (failure) {
    if (context.hasListeners() && context.request.method === "GET") emitOpenFailed(context, failure);
    throw failure;
  }
}

/** 40035; a condition that does not hold is no failure to open the file. */
function emitOpenFailed(context: AccountContext, error: unknown): void {
  const { failure, message: details } = context.failureOf(error);
  if (failure === "precondition-failed" || failure === "range-not-satisfiable") return;
  emitEvent(context, { id: 40035, data: { ...toFileLocation(context, context.path.segments), details } });
}

/**
 * Decides on the version that is sent, whatever replaces it meanwhile (docs/decisions/0011-reading.md): the part that is most likely
 * wanted is read first, with its entry, and read anew where that entry leads to another one.
 */
async function getConditionally(context: AccountContext): Promise<Response> {
  const { files, path } = context;
  let wanted: RangePart | undefined;
  // One transfer too many may still turn out to be none.
  if (isEntryEnough(context.request) || !context.transferPermit.canAcquire()) {
    const entry = await files.stat(path.segments, "read");
    if (entry === undefined) throw new StorageError("not-found");
    const decision = decide(context, entry);
    if ("answer" in decision) return decision.answer;
    wanted = decision.parts[0];
  } else {
    wanted = guessRange(context.request.headers.get("range") ?? "");
  }
  if (!context.transferPermit.acquire()) throw tooManyTransfers();
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
    const file = await files.read(path.segments, wanted);
    const decision = await decideOn(context, file);
    if ("answer" in decision) return decision.answer;
    if (isPart(file.entry.size, wanted, decision.parts[0])) return await answerWith(context, file, decision.parts);
    await release(file);
    wanted = decision.parts[0];
  }
  throw new StorageError("unavailable", "the file was replaced again and again");
}

/** Whether a request most often ends without content, or with a part that nobody knows before the size of the file. */
function isEntryEnough({ method, headers }: Request): boolean {
  if (method === "HEAD" || headers.get("if-none-match") !== null || headers.get("if-modified-since") !== null)
    return true;
  const range = headers.get("range");
  return range !== null && guessRange(range) === undefined;
}

/** No parts: the whole. */
type Decision = { readonly answer: Response } | { readonly parts: readonly RangePart[] };

/** What the conditions of a request come to for a version of the file: an answer without content, or what to send of it. */
function decide({ request, config, path }: AccountContext, entry: StorageEntry): Decision {
  const validators = toValidators(entry);
  const now = config.clock();
  const precondition = evaluatePreconditions(request, validators, now);
  if (precondition === "failed") throw new StorageError("precondition-failed");
  if (precondition === "not-modified") return { answer: emptyResponse(304, toValidatorFields(validators)) };
  if (request.method === "HEAD") return { answer: emptyResponse(200, toFileFields(entry, path.segments)) };

  if (!mayUseRange(request.headers, validators, now)) return { parts: [] };
  const parts = parseRanges(request.headers.get("range"), entry.size);
  if (parts !== "unsatisfiable") return { parts: parts ?? [] };
  throw new HttpError("range-not-satisfiable", "The file is shorter.", { "Content-Range": `bytes */${entry.size}` });
}

/** The same for a file that is open, and is closed where nothing of it is sent. */
async function decideOn(context: AccountContext, file: StoredFile): Promise<Decision> {
  try {
    const decision = decide(context, file.entry);
    if ("answer" in decision) await release(file);
    return decision;
  } catch (error) {
    await release(file);
    throw error;
  }
}

/** Whether what was read is what is wanted: the whole is wanted by no part. */
function isPart(size: number, read: RangePart | undefined, wanted: RangePart | undefined): boolean {
  if (read === undefined || wanted === undefined) return read === wanted;
  return read.offset === wanted.offset && Math.min(read.length, size - read.offset) === wanted.length;
}

/** The answer with an open file, which is closed where there is none: a storage's entity-tag may be no header value. */
async function answerWith(context: AccountContext, file: StoredFile, parts: readonly RangePart[]): Promise<Response> {
  try {
    return toResponse(context, file, parts);
  } catch (error) {
    await release(file);
    throw error;
  }
}

/** The file as a whole, a part, or several parts, of which it holds the first. */
function toResponse(context: AccountContext, file: StoredFile, parts: readonly RangePart[]): Response {
  const { entry } = file;
  const fields = toFileFields(entry, context.path.segments);
  const [part, ...more] = parts;
  if (part === undefined) return send(context, 200, file, fields);
  if (more.length > 0) return severalParts(context, file, parts, fields);
  return send(context, 206, file, {
    ...fields,
    "Content-Length": String(part.length),
    "Content-Range": `bytes ${part.offset}-${part.offset + part.length - 1}/${entry.size}`,
  });
}

/** Sends by the shortest way: bytes, and streams that a runtime may pass on by itself where nobody is told of it, or counts it, as they are. */
function send(context: AccountContext, status: number, file: StoredFile, fields: FileFields): Response {
  const { source } = file;
  if (source !== undefined && "byteLength" in source)
    return sendBytes(context, status, file, source.byteLength, fields);
  if (source === undefined && !context.hasListeners() && !context.transferPermit.isTaken())
    return fileResponse(status, file, fields);
  return sendSource(context, status, toSource(file), fields);
}

/** Bytes are handed over to be sent with the response that holds them. */
function sendBytes(
  context: AccountContext,
  status: number,
  file: StoredFile,
  count: number,
  fields: FileFields,
): Response {
  const response = fileResponse(status, file, fields);
  if (context.hasListeners()) {
    const totals = { total_read: count, duration: 0, read_speed: count };
    downloadEvents(context)({ outcome: "done", totals });
  }
  return response;
}

/** A response that cannot be made is no download: it begins behind that. */
function sendSource(context: AccountContext, status: number, source: ByteSource, fields: HeaderFields): Response {
  if (!context.hasListeners())
    return sourceResponse(status, holdUntilRead(context, reportFailures(context, source)), fields);
  const transfer = trackTransfer(context, downloadEvents);
  const response = sourceResponse(status, holdUntilRead(context, transfer.trackSource(source)), fields);
  transfer.begin();
  return response;
}

function severalParts(
  context: AccountContext,
  first: StoredFile,
  parts: readonly RangePart[],
  fields: FileFields,
): Response {
  const { files, path } = context;
  let isOpened = false;

  async function open(part: RangePart): Promise<ByteSource> {
    if (part === parts[0]) {
      isOpened = true;
      return toSource(first);
    }
    const file = await files.read(path.segments, part);
    if (isSameVersion(file.entry, first.entry)) return toSource(file);
    await release(file);
    throw new StorageError("unavailable", "the file was replaced between its parts");
  }

  const { contentType, length, source } = toMultipartRanges(parts, first.entry.size, fields["Content-Type"], open);
  const close = async (): Promise<void> => {
    await source.close();
    if (!isOpened) await release(first);
  };
  const multipartFields = { ...fields, "Content-Type": contentType, "Content-Length": String(length) };
  return sendSource(context, 206, { ...source, close }, multipartFields);
}

function isSameVersion(one: StorageEntry, other: StorageEntry): boolean {
  const [first, second] = [toValidators(one), toValidators(other)];
  return first.etag === second.etag && first.modified.getTime() === second.modified.getTime();
}

/** The file as a source. Its stream, which it may only make when asked for it, is left alone where there is a shorter way. */
function toSource(file: StoredFile): ByteSource {
  const { source } = file;
  if (source === undefined) return toByteSource(file.body);
  return "readInto" in source ? source : sourceOfBytes(source);
}

/** Lets go of a file that is not sent. */
async function release(file: StoredFile): Promise<void> {
  if (file.source === undefined) await file.body.cancel();
  else if ("readInto" in file.source) await file.source.close();
}
