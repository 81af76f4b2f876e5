import type { ByteSource } from "../../contracts/byte-source.ts";
import type { AccountContext } from "../../request/context.ts";
import { tooManyTransfers } from "../../transfers/too-many-transfers.ts";
import type { TextSource } from "../../views/text-source.ts";

/**
 * Returns the source of a listing. One that holds its folder open until the client has read it counts as a transfer.
 * @throws HttpError `unavailable` if there are too many transfers.
 */
export async function holdOpenFolder({ transferPermit }: AccountContext, listing: TextSource): Promise<ByteSource> {
  const { source, isComplete } = listing;
  if (isComplete || transferPermit.acquire()) return source;
  await source.close();
  throw tooManyTransfers();
}
