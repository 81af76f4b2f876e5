import { StorageError } from "../../../contracts/storage-adapter.ts";

/** An object whose bytes become part of a file. */
export interface JoinSource {
  readonly key: string;
  /** Its entity-tag; empty if only one object ever has this key. */
  readonly etag: string;
  readonly bytes: number;
}

/** Some bytes of an object, from the position `first` on. */
export interface SourceRange {
  readonly source: JoinSource;
  readonly first: number;
  readonly bytes: number;
}

/** A part of a joined file. Only one with a single range is copied by the bucket. */
export interface JoinPart {
  readonly number: number;
  readonly ranges: readonly SourceRange[];
  readonly isCopied: boolean;
}

/** Which parts a bucket takes. Without copies, all parts but the last have the smallest size. */
export interface JoinLimits {
  /** The smallest size of all parts but the last. */
  readonly minPartBytes: number;
  /** The usual size of the largest parts. `undefined`: nothing is copied. */
  readonly maxCopyBytes: number | undefined;
}

const MAX_PARTS = 10_000;
/** Copies of a file that has more bytes than these are larger than usual. */
const USUAL_COPIES = 5000;
/** Maximum size of a file in a store: 5 TiB. */
const MAX_FILE_BYTES = 5 * 1024 ** 4;

/**
 * Returns the parts of a file that consists of these objects. Parts that are not copied have at most `minPartBytes`:
 * small objects, together with as many bytes of the next one as they lack.
 * @throws StorageError `too-large` for a file beyond the limits.
 */
export function toJoinPlan(
  sources: readonly JoinSource[],
  { minPartBytes, maxCopyBytes }: JoinLimits,
): readonly JoinPart[] {
  const size = sources.reduce((sum, { bytes }) => sum + bytes, 0);
  if (size > MAX_FILE_BYTES) throw new StorageError("too-large", "The file has more than 5 TiB.");
  const copyBytes = maxCopyBytes && Math.max(maxCopyBytes, Math.ceil(size / USUAL_COPIES));
  const parts: JoinPart[] = [];
  let held: SourceRange[] = [];
  let heldBytes = 0;

  function add(ranges: readonly SourceRange[], isCopied: boolean): void {
    parts.push({ number: parts.length + 1, ranges, isCopied });
  }

  function hold(range: SourceRange): void {
    if (range.bytes === 0) return;
    held.push(range);
    heldBytes += range.bytes;
    if (heldBytes === minPartBytes) flush();
  }

  function flush(): void {
    if (heldBytes > 0) add(held, false);
    held = [];
    heldBytes = 0;
  }

  for (const source of sources) {
    const lacking = heldBytes === 0 ? 0 : Math.min(minPartBytes - heldBytes, source.bytes);
    hold({ source, first: 0, bytes: lacking });
    const left = source.bytes - lacking;
    if (copyBytes === undefined) for (const range of cut(source, lacking, minPartBytes)) hold(range);
    else if (left < minPartBytes) hold({ source, first: lacking, bytes: left });
    else for (const range of toEqualRanges(source, lacking, copyBytes)) add([range], true);
  }
  flush();
  if (parts.length > MAX_PARTS) throw new StorageError("too-large", "The file does not fit into 10,000 parts.");
  return parts;
}

/** Cuts an object, from a position on, into ranges of about the same size. */
function* toEqualRanges(source: JoinSource, from: number, most: number): Generator<SourceRange> {
  const count = Math.ceil((source.bytes - from) / most);
  yield* cut(source, from, Math.ceil((source.bytes - from) / count));
}

/** Cuts an object, from a position on, into ranges of one size. The last one may be smaller. */
function* cut(source: JoinSource, from: number, size: number): Generator<SourceRange> {
  for (let first = from; first < source.bytes; first += size) {
    yield { source, first, bytes: Math.min(size, source.bytes - first) };
  }
}
