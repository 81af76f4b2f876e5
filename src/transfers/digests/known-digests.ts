import { isStrongMatch } from "../../contracts/entity-tags.ts";
import type { KeyValueStore } from "../../contracts/key-value-store.ts";
import type { FieldAlgorithm } from "../../http/digests/digest-headers.ts";
import { DIGEST_BYTES } from "../../platform/incremental-digest.ts";
import { sha256Hex, toHex } from "../../platform/sha256.ts";
import type { KnownDigests } from "../../request/context.ts";
import type { ReportError } from "../../request/errors.ts";

/** How long a digest is remembered. A tag is never used again: an entry that is not needed any more does no harm. */
const KEEP_MS = 30 * 86_400_000;
const ALGORITHMS: readonly FieldAlgorithm[] = ["sha256", "sha512"];

/**
 * Creates the memory of digests in a store, by the SHA-256 of the path and the strong tag of a version. A store that
 * fails remembers nothing, which is reported.
 */
export function createKnownDigests(store: KeyValueStore, report: ReportError): KnownDigests {
  async function find(path: string, etag: string, algorithm: FieldAlgorithm): Promise<Uint8Array | undefined> {
    try {
      return parseDigest(await store.get(toKey(path, etag, algorithm)), algorithm);
    } catch (error) {
      report(error);
      return undefined;
    }
  }

  async function remember(
    path: string,
    etag: string | undefined,
    digests: ReadonlyMap<string, Uint8Array>,
  ): Promise<void> {
    if (etag === undefined || !isStrongMatch(etag, etag)) return;
    try {
      for (const algorithm of ALGORITHMS) {
        const digest = digests.get(algorithm);
        if (digest !== undefined) await store.set(toKey(path, etag, algorithm), toHex(digest), KEEP_MS);
      }
    } catch (error) {
      report(error);
    }
  }

  return { find, remember };
}

function toKey(path: string, etag: string, algorithm: FieldAlgorithm): string {
  return `digest:${algorithm}:${sha256Hex(`${path}\0${etag}`)}`;
}

/** What a store has may be of another program. */
function parseDigest(value: unknown, algorithm: FieldAlgorithm): Uint8Array | undefined {
  if (typeof value !== "string" || !/^(?:[\da-f]{2})+$/.test(value)) return undefined;
  const bytes = Uint8Array.from(value.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return bytes.byteLength === DIGEST_BYTES[algorithm] ? bytes : undefined;
}
