import type { Metadata } from "../contracts/events/transfers.ts";
import { HttpError } from "../http/http-error.ts";
import { mediaType, prefersArchive } from "../http/negotiate.ts";
import type { AccountContext, RequestContext } from "../request/context.ts";
import { emitEvent, toFileLocation } from "../request/emit-event.ts";
import { readMetadata } from "../uploads/metadata-header.ts";
import { archiveEvents } from "./transfer-events.ts";

const RETRY_SECONDS = "5";

/** What makes it likely that a GET has an answer without content: what it comes to is asked first. */
const CONDITIONS = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"] as const;

/**
 * Whether a request of an account is sure to be a transfer, as far as its head tells: an upload, by PUT or by a form, or the download of a file or an archive.
 * Listings and HEAD are no transfers; a GET with conditions is one when they hold, and commands are one when their body turns out to be large.
 */
export function isTransfer({ request, path: { isFolder } }: RequestContext): boolean {
  const { method, headers } = request;
  switch (method) {
    case "GET":
      return isFolder ? prefersArchive(request) : CONDITIONS.every((name) => headers.get(name) === null);
    case "PUT":
      return !isFolder;
    case "POST":
      return isFolder && mediaType(headers.get("content-type")) === "multipart/form-data";
    default:
      return false;
  }
}

/** What one transfer too many is. */
export function tooManyTransfers(): HttpError {
  return new HttpError("unavailable", "Too many concurrent transfers.", { "Retry-After": RETRY_SECONDS });
}

/** What one page too many is. */
export function tooManyPages(): HttpError {
  return new HttpError("unavailable", "Too many concurrent page requests.", { "Retry-After": RETRY_SECONDS });
}

/** The refusal of a transfer that is one too many. It is told of as any that comes to nothing; the files of a form have no names yet. */
export function refuseTransfer(context: AccountContext): HttpError {
  const { request, path } = context;
  const refusal = tooManyTransfers();
  const { message: details } = refusal;
  if (context.hasListeners()) {
    const place = toFileLocation(context, path.segments);
    const none = { duration: 0, details };
    if (request.method === "PUT") {
      const data = { ...place, ...findMetadata(context) };
      emitEvent(context, { id: 40021, data });
      emitEvent(context, { id: 40022, data: { ...data, ...none, total_write: 0, write_speed: 0 } });
    } else if (request.method === "GET" && path.isFolder) {
      archiveEvents(context)({ outcome: "failed", totals: { ...none, total_read: 0, read_speed: 0 } });
    } else if (request.method === "GET") {
      emitEvent(context, { id: 40035, data: { ...place, details } });
    }
  }
  return refusal;
}

/** What the upload has brought along, where that can be read: the transfer is not refused for it. */
function findMetadata({ request, config }: AccountContext): { readonly metadata?: Metadata } {
  try {
    const metadata = config.metadataFields && readMetadata(request.headers, config.metadataFields);
    return metadata === undefined ? {} : { metadata };
  } catch {
    return {};
  }
}
