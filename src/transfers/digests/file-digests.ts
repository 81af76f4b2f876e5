import { isStrongMatch } from "../../contracts/entity-tags.ts";
import { isStorageError, type StorageEntry } from "../../contracts/storage-adapter.ts";
import { toFileSource } from "../../contracts/stored-file.ts";
import { type FieldAlgorithm, readWantedAlgorithm, toDigestField } from "../../http/digests/digest-headers.ts";
import type { HeaderFields } from "../../http/reply.ts";
import { createIncrementalDigest } from "../../platform/incremental-digest.ts";
import type { AccountContext, DigestService } from "../../request/context.ts";
import { closeStoredFile } from "../send-file.ts";
import { tooManyTransfers } from "../too-many-transfers.ts";

/** The digests of one version of a file that a request wants. */
export interface WantedDigests {
  /** The header fields of a response about a version: none for another version. */
  fieldsOf(entry: StorageEntry, content: "complete" | "other"): HeaderFields;
}

type Digests = ReadonlyMap<FieldAlgorithm, Uint8Array>;
/** The size of the parts of a file that are read. */
const CHUNK_BYTES = 262_144;
/** What a response has that has no digest. */
export const NO_FIELDS: HeaderFields = {};
const NONE: WantedDigests = { fieldsOf: () => NO_FIELDS };

/**
 * Finds the digests of a file that a request wants (RFC 9530 4), and computes those that are not known if the file is
 * small enough. There are none without a strong tag, which tells one version from another; and none below a link whose
 * uses are counted, because reading the file would be one.
 * @throws what reading the file throws for lack of a permission; HttpError `too-many-transfers` if the file would have
 * to be read, and the request may not.
 */
export async function findWantedDigests(context: AccountContext): Promise<WantedDigests> {
  const { digests, request, files, path, link } = context;
  if (digests === undefined || link?.record.maxUses !== undefined) return NONE;
  const ofFile = readWantedAlgorithm(request.headers, "Want-Repr-Digest");
  const ofContent = readWantedAlgorithm(request.headers, "Want-Content-Digest");
  const wanted = [...new Set([ofFile, ofContent])].filter((algorithm) => algorithm !== undefined);
  if (wanted.length === 0) return NONE;
  const found = await files.stat(path.segments, "read");
  const { etag } = found ?? {};
  if (found === undefined || etag === undefined || !isStrongMatch(etag, etag)) return NONE;
  const known = await findDigests(context, digests, { ...found, etag }, wanted);
  const toField = (algorithm: FieldAlgorithm | undefined): string | undefined => {
    const digest = algorithm && known.get(algorithm);
    return algorithm && digest && toDigestField(algorithm, digest);
  };
  return {
    fieldsOf(entry, content) {
      // The digest belongs to the tag: the file may have been replaced meanwhile.
      if (entry.etag !== etag) return NO_FIELDS;
      const own = toField(ofFile);
      const ofReply = content === "complete" ? toField(ofContent) : undefined;
      if (own === undefined && ofReply === undefined) return NO_FIELDS;
      return { "Repr-Digest": own, "Content-Digest": ofReply };
    },
  };
}

type TaggedEntry = StorageEntry & { readonly etag: string };

async function findDigests(
  context: AccountContext,
  { known, computeBytes, withLock }: DigestService,
  entry: TaggedEntry,
  wanted: readonly FieldAlgorithm[],
): Promise<Digests> {
  const realPath = context.files.realPathOf(context.path.segments);

  async function recall(): Promise<Digests> {
    const digests = new Map<FieldAlgorithm, Uint8Array>();
    for (const algorithm of wanted) {
      const digest = await known.find(realPath, entry.etag, algorithm);
      if (digest !== undefined) digests.set(algorithm, digest);
    }
    return digests;
  }

  const isComplete = (digests: Digests): boolean => digests.size === wanted.length;
  const remembered = await recall();
  if (isComplete(remembered) || entry.size > computeBytes) return remembered;
  // Others that want the same meanwhile wait for it, instead of reading the file as well.
  return withLock(`${realPath}\0${entry.etag}`, async () => {
    const meanwhile = await recall();
    if (isComplete(meanwhile)) return meanwhile;
    const computed = await compute(context, entry, wanted);
    await known.remember(realPath, entry.etag, computed);
    return computed;
  });
}

/**
 * Reads a file and digests it; none if another version is there, or if it cannot be read. Counts as a transfer, and
 * shares the time for computing with other accounts.
 */
async function compute(
  context: AccountContext,
  entry: TaggedEntry,
  wanted: readonly FieldAlgorithm[],
): Promise<Digests> {
  const { account, request, transferPermit, digests } = context;
  request.signal.throwIfAborted();
  if (!transferPermit.acquire()) throw tooManyTransfers();
  const walk = digests?.walks.start(account.name, request.signal);
  try {
    return await digestFile(context, entry, wanted, async () => walk?.next());
  } catch (error) {
    if (!isStorageError(error)) throw error;
    // If the request needs the content, it reports what is wrong with the file.
    return new Map();
  } finally {
    walk?.end();
  }
}

async function digestFile(
  { files, path }: AccountContext,
  { etag, size }: TaggedEntry,
  wanted: readonly FieldAlgorithm[],
  takeTurn: () => Promise<void>,
): Promise<Digests> {
  await takeTurn();
  const file = await files.read(path.segments);
  if (file.entry.etag !== etag) {
    await closeStoredFile(file);
    return new Map();
  }
  const source = toFileSource(file);
  const running = wanted.map((algorithm) => [algorithm, createIncrementalDigest(algorithm)] as const);
  let count = 0;
  try {
    for (;;) {
      await takeTurn();
      // Not one buffer for all: some runtimes digest the bytes later.
      const buffer = new Uint8Array(Math.min(CHUNK_BYTES, size - count + 1));
      const length = await source.readInto(buffer);
      if (length === 0) break;
      count += length;
      if (count > size) return new Map();
      for (const [, digest] of running) digest?.update(buffer.subarray(0, length));
    }
  } finally {
    await source.close();
  }
  // A file that another program changes in its place would have a new tag now.
  const isSame = count === size && (await files.stat(path.segments, "read"))?.etag === etag;
  if (!isSame) return new Map();
  const found = new Map<FieldAlgorithm, Uint8Array>();
  for (const [algorithm, digest] of running) {
    const bytes = await digest?.digest();
    if (bytes !== undefined) found.set(algorithm, bytes);
  }
  return found;
}
