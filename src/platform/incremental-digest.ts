import { findRuntimeFunction } from "./builtin-module.ts";

/** An algorithm that digests content while it passes. */
export type DigestAlgorithm = "sha1" | "sha256" | "sha512" | "md5";

/** The size of each algorithm's digest, in bytes. */
export const DIGEST_BYTES: Readonly<Record<DigestAlgorithm, number>> = { sha1: 20, sha256: 32, sha512: 64, md5: 16 };

/** A digest of content that is not in memory as a whole. */
export interface IncrementalDigest {
  /** Adds bytes, which must not change before {@link digest} is fulfilled. */
  update(bytes: Uint8Array): void;
  /** Returns the digest of all bytes. Call it once, after the last {@link update}. */
  digest(): Promise<Uint8Array>;
}

/** A hash of `node:crypto`. */
interface NativeHash {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

type CreateHash = (algorithm: string) => NativeHash;

/** `crypto.DigestStream` of Cloudflare Workers: what is written to it is digested. */
type DigestStream = new (algorithm: string) => WritableStream<Uint8Array> & { readonly digest: Promise<ArrayBuffer> };

/** The names of `DigestStream`. */
const STREAM_NAMES: Readonly<Record<DigestAlgorithm, string>> = {
  sha1: "SHA-1",
  sha256: "SHA-256",
  sha512: "SHA-512",
  md5: "MD5",
};

/** What runtimes digest with. */
export interface DigestSource {
  readonly createHash: CreateHash | undefined;
  readonly DigestStream: DigestStream | undefined;
}

const ALGORITHMS = Object.keys(DIGEST_BYTES) as readonly DigestAlgorithm[];
const SOURCE = findSource();

function findSource(): DigestSource {
  const createHash = findRuntimeFunction<CreateHash>("node:crypto", "createHash", (found) => {
    return found("sha256").digest().byteLength === DIGEST_BYTES.sha256;
  });
  const { DigestStream } = (globalThis.crypto ?? {}) as { readonly DigestStream?: DigestStream };
  return { createHash, DigestStream: typeof DigestStream === "function" ? DigestStream : undefined };
}

/** The algorithms that this runtime has; none if it digests only content that is in memory. */
export function digestAlgorithms(source = SOURCE): readonly DigestAlgorithm[] {
  const { createHash, DigestStream } = source;
  if (createHash === undefined) return DigestStream === undefined ? [] : ALGORITHMS;
  return ALGORITHMS.filter((algorithm) => createIncrementalDigest(algorithm, source) !== undefined);
}

/** Creates a digest. Returns `undefined` if this runtime does not have the algorithm. */
export function createIncrementalDigest(
  algorithm: DigestAlgorithm,
  { createHash, DigestStream }: DigestSource = SOURCE,
): IncrementalDigest | undefined {
  if (createHash === undefined) return DigestStream && streamDigest(new DigestStream(STREAM_NAMES[algorithm]));
  try {
    return hashDigest(createHash(algorithm));
  } catch {
    // Some builds of Node refuse MD5 (FIPS 140).
    return undefined;
  }
}

function hashDigest(hash: NativeHash): IncrementalDigest {
  return {
    update: (bytes) => void hash.update(bytes),
    digest: async () => hash.digest(),
  };
}

function streamDigest(stream: InstanceType<DigestStream>): IncrementalDigest {
  const writer = stream.getWriter();
  // A digest that no caller waits for must not become an unhandled rejection; nor must a write: `close` reports it.
  const ignore = (): undefined => undefined;
  stream.digest.catch(ignore);
  return {
    update: (bytes) => void writer.write(bytes).catch(ignore),
    async digest() {
      await writer.close();
      return new Uint8Array(await stream.digest);
    },
  };
}
