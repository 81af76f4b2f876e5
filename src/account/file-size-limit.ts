import { HttpError } from "../http/http-error.ts";

/**
 * The content of one file, of which no more than `maxBytes` pass, all of it without them (SECURITY 12): HttpError `too-large` takes the place of
 * the chunk that goes beyond, and is thrown at once where more is announced.
 */
export function limitContent(
  content: AsyncIterable<Uint8Array>,
  maxBytes: number | undefined,
  announced = 0,
): AsyncIterable<Uint8Array> {
  if (maxBytes === undefined) return content;
  if (announced > maxBytes) throw tooLarge(maxBytes);
  return countUpTo(content, maxBytes);
}

async function* countUpTo(content: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let left = maxBytes;
  for await (const chunk of content) {
    left -= chunk.byteLength;
    // Not `left < 0`: what has no length is no content either.
    if (!(left >= 0)) throw tooLarge(maxBytes);
    yield chunk;
  }
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError("too-large", `The file is larger than ${maxBytes} bytes.`);
}
