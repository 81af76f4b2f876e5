import type { AccountFiles } from "../account/files.ts";
import { tap } from "../contracts/byte-source.ts";
import { toBatches, toMembers } from "../contracts/member-batches.ts";
import { toStoredFile } from "../contracts/stored-file.ts";
import { watchSteps } from "../contracts/watch-steps.ts";

/**
 * Calls `renew` at every step of a transfer or listing, so that its session does not idle out while it lasts. Only for
 * requests with a session.
 */
export function renewSessionDuring(files: AccountFiles, renew: () => void): AccountFiles {
  return {
    ...files,
    list: (segments) => toMembers(() => watchSteps(() => toBatches(files.list(segments)), { onStep: renew })),
    async read(segments, range) {
      renew();
      const file = await files.read(segments, range);
      const { entry, source } = file;
      if (source === undefined) return { entry, body: chunkwise(file.body, renew) };
      return "readInto" in source ? toStoredFile(entry, tap(source, { onRead: renew })) : file;
    },
    write: (segments, content, options) =>
      files.write(
        segments,
        watchSteps(() => content, { onStep: renew }),
        options,
      ),
  };
}

/** Calls `renew` for each chunk. Reads nothing ahead of the reader. */
function chunkwise(body: ReadableStream<Uint8Array>, renew: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { done, value } = await reader.read();
    renew();
    if (done) controller.close();
    else controller.enqueue(value);
  }

  return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 });
}
