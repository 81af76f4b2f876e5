import { HttpError } from "../http/http-error.ts";
import { mediaType, prefersArchive } from "../http/negotiate.ts";
import type { AccountExchange, Exchange } from "./endpoint.ts";
import { tell, toPlace } from "./tell.ts";
import { tellArchive } from "./told-transfers.ts";

const RETRY_SECONDS = "5";

/**
 * Whether a request of an account moves content: an upload, by PUT or by a form, or the download of a file or an archive. Listings, conditions and HEAD
 * are no transfers.
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
      tell(exchange, { id: 40021, data: place });
      tell(exchange, { id: 40022, data: { ...place, ...none, total_write: 0, write_speed: 0 } });
    } else if (request.method === "GET" && path.isFolder) {
      tellArchive(exchange)({ outcome: "failed", totals: { ...none, total_read: 0, read_speed: 0 } });
    } else if (request.method === "GET") {
      tell(exchange, { id: 40035, data: { ...place, details } });
    }
  }
  return refusal;
}
