import { watchSteps } from "../contracts/watch-steps.ts";
import { createError } from "../http/errors.ts";
import type { HttpError } from "../http/http-error.ts";

/**
 * Limits the content of one file to `maxBytes`; `undefined` means no limit (SECURITY 12). The result throws HttpError
 * `too-large` instead of the chunk that exceeds the limit. If `announced`, the size that the client states, exceeds the
 * limit, the call itself throws. `offset`: the number of bytes that the file has already.
 */
export function limitContent(
  content: AsyncIterable<Uint8Array>,
  maxBytes: number | undefined,
  announced = 0,
  offset = 0,
): AsyncIterable<Uint8Array> {
  if (maxBytes === undefined) return content;
  const tooLarge = (): HttpError => createError("too-large", { values: { max: maxBytes } });
  if (offset + announced > maxBytes) throw tooLarge();
  let left = maxBytes - offset;

  function count(chunk: Uint8Array): void {
    left -= chunk.byteLength;
    // Not `left < 0`: if a chunk is no byte array, `left` is NaN, and that must fail too.
    if (!(left >= 0)) throw tooLarge();
  }

  return watchSteps(() => content, { onStep: count });
}
