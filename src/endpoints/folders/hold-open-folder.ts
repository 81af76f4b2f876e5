import type { HeaderFields } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import type { SourceResponse } from "../../transfers/download-events.ts";
import { tooManyTransfers } from "../../transfers/too-many-transfers.ts";
import type { TextSource } from "../../views/text-source.ts";

/** The response with a listing, with its `Content-Length` if that is known. */
export function toListingResponse({ source, length }: TextSource, fields: HeaderFields): SourceResponse {
  return { source, fields: length === undefined ? fields : { ...fields, "Content-Length": `${length}` } };
}

/**
 * As {@link toListingResponse}, for a listing that holds its folder open until the client has read it, unless it is
 * complete already. It counts as a transfer then.
 * @throws HttpError `unavailable` if there are too many transfers.
 */
export async function holdOpenFolder(
  { transferPermit }: AccountContext,
  listing: TextSource,
  fields: HeaderFields,
): Promise<SourceResponse> {
  if (listing.length !== undefined || transferPermit.acquire()) return toListingResponse(listing, fields);
  await listing.source.close();
  throw tooManyTransfers();
}
