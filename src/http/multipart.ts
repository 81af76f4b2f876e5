import { HttpError } from "./http-error.ts";
import { createDelimiterSearch } from "./multipart/delimiter-search.ts";
import { type PartHead, parseBoundary, parsePartHead } from "./multipart/head.ts";
import { readBody, refuseContentEncoding } from "./request-body.ts";

/** One part of a form, its content still to come. */
export interface FormPart extends PartHead {
  /**
   * The content as it arrives, in views of the body's chunks; to be read once, before the next part is asked for. It throws HttpError `malformed` unless it ends
   * at a boundary: what has been read without an error is whole.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/** How much a form may hold (SECURITY 12). Its content has no limit here. */
export interface MultipartLimits {
  /** Default: 1,000. */
  readonly maxParts?: number;
  /** Bytes of the head of one part. Default: 16 KiB. */
  readonly maxHeadBytes?: number;
}

/** A form's body, in sections between its boundaries. */
interface Sections {
  /** The content up to the next boundary, one section's at a time. @throws HttpError `malformed` when the body ends before. */
  readSection(): AsyncGenerator<Uint8Array>;
  /** What stands between a boundary and the empty line behind a part's head; `undefined` behind the last boundary. */
  readHead(): Promise<Uint8Array | undefined>;
  /** Reads what follows the last boundary, which means nothing (RFC 2046 5.1.1). */
  readEpilogue(): Promise<void>;
}

const DASH = 0x2d;
const LF = 0x0a;
/** What ends a head, the last byte first. */
const HEAD_END = [LF, 0x0d, LF, 0x0d];

/**
 * Reads a `multipart/form-data` body (RFC 7578) part by part, as slowly as it is asked: nothing is read ahead, held or copied but the heads. What
 * the caller leaves of a part is passed over when the next one is asked for.
 * @throws HttpError `malformed` for anything but a whole form within the limits, `unsupported-media-type` for a coded body.
 */
export async function* readMultipart(request: Request, limits: MultipartLimits = {}): AsyncGenerator<FormPart> {
  const { maxParts = 1000, maxHeadBytes = 16 * 1024 } = limits;
  const { headers } = request;
  refuseContentEncoding(headers);
  const boundary = parseBoundary(headers.get("content-type") ?? "");
  const chunks = readBody(request);
  const sections = createSections(chunks, boundary, maxHeadBytes);
  try {
    let section = sections.readSection();
    for (let count = 0; ; count++) {
      await passOver(section);
      const head = await sections.readHead();
      if (head === undefined) break;
      if (count === maxParts) throw new HttpError("malformed", `The form has more than ${maxParts} parts.`);
      section = sections.readSection();
      let isCurrent = true;
      yield { ...parsePartHead(head), body: toBody(section, () => isCurrent) };
      // From here on a reader who is late would miss what is passed over.
      isCurrent = false;
    }
    await sections.readEpilogue();
  } finally {
    // Not awaited: a silent client may never answer.
    chunks.return(undefined).catch(() => undefined);
  }
}

/** A section for one reader, who may leave it: the section itself goes on. */
async function* toBody(section: AsyncGenerator<Uint8Array>, isCurrent: () => boolean): AsyncGenerator<Uint8Array> {
  for (;;) {
    if (!isCurrent()) throw new HttpError("malformed", "The part was skipped.");
    const { done, value } = await section.next();
    if (done) return;
    yield value;
  }
}

async function passOver(section: AsyncGenerator<Uint8Array>): Promise<void> {
  while (!(await section.next()).done);
}

function createSections(chunks: AsyncIterator<Uint8Array>, boundary: string, maxHeadBytes: number): Sections {
  const delimiter = new TextEncoder().encode(`\r\n--${boundary}`);
  // A boundary at the very beginning has no line before it.
  const search = createDelimiterSearch(delimiter, 2);
  const head = new Uint8Array(maxHeadBytes);
  let chunk: Uint8Array = new Uint8Array(0);
  let at = 0;

  /** Sees to it that a byte is at hand. */
  async function advance(): Promise<void> {
    while (at === chunk.byteLength) {
      const { done, value } = await chunks.next();
      if (done) throw new HttpError("malformed", "The form is incomplete: it ends before its last boundary.");
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
      if (released > 0) yield delimiter.slice(0, released);
      if (content.byteLength > 0) yield content;
      if (resume !== undefined) return;
    }
  }

  async function readHead(): Promise<Uint8Array | undefined> {
    for (let size = 0; size < maxHeadBytes; ) {
      if (at === chunk.byteLength) await advance();
      head[size++] = chunk[at++] as number;
      if (size === 2 && head[0] === DASH && head[1] === DASH) return undefined;
      if (head[size - 1] === LF && HEAD_END.every((byte, index) => head[size - 1 - index] === byte)) {
        return head.slice(0, size - HEAD_END.length);
      }
    }
    throw new HttpError("malformed", `The form has a part with headers of more than ${maxHeadBytes} bytes.`);
  }

  async function readEpilogue(): Promise<void> {
    while (!(await chunks.next()).done);
  }

  return { readSection, readHead, readEpilogue };
}
