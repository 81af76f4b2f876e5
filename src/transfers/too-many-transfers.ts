import type { Metadata } from "../contracts/events/transfers.ts";
import { createError } from "../http/errors.ts";
import type { HttpError } from "../http/http-error.ts";
import { mediaType } from "../http/negotiate.ts";
import { isJoin } from "../http/uploads/concat.ts";
import { findCreationProtocol, isTusContent } from "../http/uploads/protocol.ts";
import type { AccountContext, RequestContext } from "../request/context.ts";
import { emitEvent, toFileLocation } from "../request/emit-event.ts";
import { readMetadata } from "../uploads/metadata-header.ts";
import { archiveEvents, toDownloadData } from "./download-events.ts";
import { wantsArchive } from "./wants-archive.ts";

const RETRY_SECONDS = "5";

/** Headers that make a response without content likely. The endpoint decides on them before it counts the transfer. */
const CONDITIONS = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"] as const;

/**
 * Whether a request for a file or a folder is certainly a transfer, judging by its method, URL and headers: an upload
 * by PUT, form, PATCH or POST, the download of a file or an archive, a copy, or a change of properties. Others may
 * become transfers later: a GET whose conditions are met, a long listing, and commands with a large body.
 */
export function isTransfer(context: RequestContext): boolean {
  const { request, method, uploads } = context;
  const { isFolder } = context.path;
  const { headers } = request;
  switch (method) {
    case "GET":
      return isFolder ? wantsArchive(context) : CONDITIONS.every((name) => headers.get(name) === null);
    case "PUT":
      return !isFolder;
    case "COPY":
    case "PROPPATCH":
      return true;
    case "POST":
      if (isFolder && mediaType(headers.get("content-type")) === "multipart/form-data") return true;
      return uploads !== undefined && createsWithContent(request, isFolder);
    case "PATCH":
      return true;
    default:
      return false;
  }
}

/**
 * Whether a POST creates an upload in several requests, and has its first bytes, or joins others: that is a copy
 * (RESUMABLE 8.1).
 */
function createsWithContent({ method, headers }: Request, isFolder: boolean): boolean {
  const protocol = findCreationProtocol({ method, headers }, isFolder);
  if (protocol === "draft") return headers.get("content-length") !== "0";
  return protocol === "tus" && (isTusContent(headers) || isJoin(headers));
}

/** The error for a transfer over the limit. */
export function tooManyTransfers(): HttpError {
  return createError("too-many-transfers", { headers: { "Retry-After": RETRY_SECONDS } });
}

/**
 * Counts a request among the transfers.
 * @throws HttpError `too-many-transfers`
 */
export function acquireTransfer({ transferPermit }: Pick<AccountContext, "transferPermit">): void {
  if (!transferPermit.acquire()) throw tooManyTransfers();
}

/** The error for a page over the limit. */
export function tooManyPages(): HttpError {
  return createError("too-many-pages", { headers: { "Retry-After": RETRY_SECONDS } });
}

/** The error for an archive whose members take more memory than the limit leaves. */
export function tooManyArchives(): HttpError {
  return createError("too-many-archives", { headers: { "Retry-After": RETRY_SECONDS } });
}

/**
 * Emits the events of a failed transfer, for a transfer over the limit. Returns the error, which the caller throws. A
 * form has no events, because the names of its files are not known yet.
 */
export function refuseTransfer(context: AccountContext): HttpError {
  const { request, path } = context;
  const refusal = tooManyTransfers();
  const { message: details } = refusal;
  if (context.hasListeners()) {
    const location = toFileLocation(context, path.segments);
    const none = { duration: 0, details };
    if (request.method === "PUT") {
      const data = { ...location, ...findMetadata(context) };
      emitEvent(context, { id: 40021, data });
      emitEvent(context, { id: 40022, data: { ...data, ...none, total_write: 0, write_speed: 0 } });
    } else if (request.method === "GET" && path.isFolder) {
      archiveEvents(context)({ outcome: "failed", totals: { ...none, total_read: 0, read_speed: 0 } });
    } else if (request.method === "GET") {
      emitEvent(context, { id: 40035, data: { ...toDownloadData(context), details } });
    }
  }
  return refusal;
}

/** The metadata of an upload. Empty if it cannot be read, because the refusal has another reason. */
function findMetadata({ request, config }: AccountContext): { readonly metadata?: Metadata } {
  try {
    const metadata = config.metadataFields && readMetadata(request.headers, config.metadataFields);
    return metadata === undefined ? {} : { metadata };
  } catch {
    return {};
  }
}
