import type { Metadata } from "../contracts/events.ts";
import { HttpError } from "../http/http-error.ts";
import { mediaType, prefersArchive } from "../http/negotiate.ts";
import { readMetadata } from "../uploads/metadata-header.ts";
import type { AccountExchange, Exchange } from "./endpoint.ts";
import { tell, toPlace } from "./tell.ts";
import { tellArchive } from "./told-transfers.ts";

const RETRY_SECONDS = "5";

/**
 * Whether a request of an account may move content: an upload, by PUT or by a form, or the download of a file or an archive. Listings and HEAD are no
 * transfers. What a GET will find is not known yet: one that would be 304, or a redirect, takes a place for that moment.
 */
export function isTransfer({ request, path: { isFolder } }: Exchange): boolean {
  switch (request.method) {
    case "GET":
      return !isFolder || prefersArchive(request);
    case "PUT":
      return !isFolder;
    case "POST":
      return isFolder && mediaType(request.headers.get("content-type")) === "multipart/form-data";
    default:
      return false;
  }
}

/** The refusal of a transfer that is one too many. It is told of as any that comes to nothing; the files of a form have no names yet. */
export function refuseTransfer(exchange: AccountExchange): HttpError {
  const { request, path } = exchange;
  const refusal = new HttpError("unavailable", "Too many transfers at once.", { "Retry-After": RETRY_SECONDS });
  const { message: details } = refusal;
  if (exchange.isHeard()) {
    const place = toPlace(exchange, path.segments);
    const none = { duration: 0, details };
    if (request.method === "PUT") {
      const data = { ...place, ...findMetadata(exchange) };
      tell(exchange, { id: 40021, data });
      tell(exchange, { id: 40022, data: { ...data, ...none, total_write: 0, write_speed: 0 } });
    } else if (request.method === "GET" && path.isFolder) {
      tellArchive(exchange)({ outcome: "failed", totals: { ...none, total_read: 0, read_speed: 0 } });
    } else if (request.method === "GET") {
      tell(exchange, { id: 40035, data: { ...place, details } });
    }
  }
  return refusal;
}

/** What the upload has brought along, where that can be read: the transfer is not refused for it. */
function findMetadata({ request, config }: AccountExchange): { readonly metadata?: Metadata } {
  try {
    const metadata = config.metadataFields && readMetadata(request.headers, config.metadataFields);
    return metadata === undefined ? {} : { metadata };
  } catch {
    return {};
  }
}
