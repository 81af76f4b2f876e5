import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import { digestExpected } from "../../http/digests/digest-content.ts";
import { readExpectedDigests, readWantedAlgorithm, toDigestField } from "../../http/digests/digest-headers.ts";
import type { HeaderFields } from "../../http/reply.ts";
import { readBody } from "../../http/request-body.ts";
import type { AccountContext } from "../../request/context.ts";
import { isInDropFolder } from "../links/drop-folder.ts";

/** The body of a PUT, which is verified, and digested while it is stored. */
export interface DigestedBody {
  /** Fails at its end with HttpError `malformed` if it does not have the digests of the request. */
  readonly content: AsyncIterable<Uint8Array>;
  /** The header fields of the response with what was stored. Also remembers its digests. */
  toFields(entry: StorageEntry, segments: readonly string[]): Promise<HeaderFields>;
}

/**
 * Reads which digests the body of a request must have, and which one its response shall have (RFC 9530). Does not touch
 * the body.
 * @throws HttpError `malformed`, or `method-not-implemented` if this runtime has no digests.
 */
export function toDigestedBody(context: AccountContext): DigestedBody {
  const { request, digests, files } = context;
  const expected = readExpectedDigests(request.headers);
  const wanted = digests && readWantedAlgorithm(request.headers, "Want-Repr-Digest");
  const body = readBody(request);
  if (expected.length === 0 && wanted === undefined) return { content: body, toFields: async () => ({}) };
  const digested = digestExpected(body, expected, wanted && [wanted]);
  return {
    content: digested.content,
    async toFields({ etag }, segments) {
      const found = await digested.digests();
      // In a drop folder the file has another path.
      if (!isInDropFolder(context)) await digests?.known.remember(files.realPathOf(segments), etag, found);
      const digest = wanted && found.get(wanted);
      return wanted && digest ? { "Repr-Digest": toDigestField(wanted, digest) } : {};
    },
  };
}
