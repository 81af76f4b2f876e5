import { createError } from "./errors.ts";
import { createDelimiterSearch } from "./multipart/delimiter-search.ts";
import { type PartHeaders, parseBoundary, parsePartHeaders } from "./multipart/part-headers.ts";
import { readBody, requireNoContentEncoding } from "./request-body.ts";

/** One part of a form, before its content is read. */
export interface FormPart extends PartHeaders {
  /**
   * The content in the order in which it arrives, as views of the body's chunks. Read it once, before you request the
   * next part. It throws HttpError `malformed` unless the part ends at a boundary: content that was read without an
   * error is complete.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The bounds of a form (SECURITY 12). The content of its parts has no bound here. */
export interface MultipartLimits {
  /** Default: 1,000. */
  readonly maxParts?: number;
  /** Maximum size of the headers of one part, in bytes. Default: 16 KiB. */
  readonly maxHeaderBytes?: number;
}

/** The body of a form as the sections between its boundaries. */
interface Sections {
  /**
   * The content up to the next boundary, for one section.
   * @throws HttpError `malformed` if the body ends before the boundary.
   */
  readSection(): AsyncGenerator<Uint8Array>;
  /** The bytes between a boundary and the empty line after a part's headers; `undefined` after the last boundary. */
  readHeaders(): Promise<Uint8Array | undefined>;
  /** Reads everything after the last boundary; it has no meaning (RFC 2046 5.1.1). */
  readEpilogue(): Promise<void>;
}

const DASH = 0x2d;
const LF = 0x0a;
/** The end of the headers, with its last byte first. */
const HEADERS_END = [LF, 0x0d, LF, 0x0d];

/**
 * Reads a `multipart/form-data` body (RFC 7578) part by part. It reads only what the caller requests, and copies
 * nothing but the headers. If the caller requests the next part, the unread rest of a part is skipped.
 * @throws HttpError `malformed` for anything but a complete form within the limits, `unsupported-media-type` for a body
 * with a content encoding.
 */
export async function* readMultipart(request: Request, limits: MultipartLimits = {}): AsyncGenerator<FormPart> {
  const { maxParts = 1000, maxHeaderBytes = 16 * 1024 } = limits;
  const { headers } = request;
  requireNoContentEncoding(headers);
  const boundary = parseBoundary(headers.get("content-type") ?? "");
  const chunks = readBody(request);
  const sections = createSections(chunks, boundary, maxHeaderBytes);
  try {
    let section = sections.readSection();
    for (let count = 0; ; count++) {
      await passOver(section);
      const head = await sections.readHeaders();
      if (head === undefined) break;
      if (count === maxParts) throw createError("form-too-many-parts", { values: { max: maxParts } });
      section = sections.readSection();
      let isCurrent = true;
      yield { ...parsePartHeaders(head), body: toBody(section, () => isCurrent) };
      // From now on a late reader of the previous part would miss what is skipped.
      isCurrent = false;
    }
    await sections.readEpilogue();
  } finally {
    // This is not awaited: a silent client may never send more.
    chunks.return().catch(() => undefined);
  }
}

/** The content of a section for one reader. A reader that stops early does not end the section. */
async function* toBody(section: AsyncGenerator<Uint8Array>, isCurrent: () => boolean): AsyncGenerator<Uint8Array> {
  for (;;) {
    if (!isCurrent()) throw createError("form-part-skipped");
    const { done, value } = await section.next();
    if (done) return;
    yield value;
  }
}

async function passOver(section: AsyncGenerator<Uint8Array>): Promise<void> {
  while (!(await section.next()).done);
}

function createSections(chunks: AsyncIterator<Uint8Array>, boundary: string, maxHeaderBytes: number): Sections {
  const delimiter = new TextEncoder().encode(`\r\n--${boundary}`);
  // The line break before a boundary may be the one that ends a part's headers, and is missing at the start of the body
  // (RFC 2046 5.1.1).
  const search = createDelimiterSearch(delimiter, 2);
  const head = new Uint8Array(maxHeaderBytes);
  let chunk: Uint8Array = new Uint8Array(0);
  let at = 0;

  /** Reads until there is a byte to look at. */
  async function advance(): Promise<void> {
    while (at === chunk.byteLength) {
      const { done, value } = await chunks.next();
      if (done) throw createError("form-incomplete");
      chunk = value;
      at = 0;
    }
  }

  async function* readSection(): AsyncGenerator<Uint8Array> {
    for (;;) {
      await advance();
      const { released, end, resume } = search(chunk, at);
      const content = chunk.subarray(at, end);
      at = resume ?? chunk.byteLength;
      if (released.byteLength > 0) yield released;
      if (content.byteLength > 0) yield content;
      if (resume !== undefined) return;
    }
  }

  async function readHeaders(): Promise<Uint8Array | undefined> {
    for (let size = 0; size < maxHeaderBytes; ) {
      if (at === chunk.byteLength) await advance();
      head[size++] = chunk[at++] as number;
      if (size === 2 && head[0] === DASH && head[1] === DASH) return undefined;
      if (head[size - 1] === LF && HEADERS_END.every((byte, index) => head[size - 1 - index] === byte)) {
        return head.slice(0, size - HEADERS_END.length);
      }
    }
    throw createError("form-part-headers-too-large", { values: { max: maxHeaderBytes } });
  }

  async function readEpilogue(): Promise<void> {
    while (!(await chunks.next()).done);
  }

  return { readSection, readHeaders, readEpilogue };
}
