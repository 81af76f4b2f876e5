import type { AccountFiles } from "../account/files.ts";
import { tap } from "../contracts/byte-source.ts";
import { toBatches, toMembers } from "../contracts/member-batches.ts";
import { toStoredFile } from "../contracts/stored-file.ts";

/**
 * Adds calls of `progress` at every step of a transfer or listing, so that its session does not idle out while it
 * lasts. Only for requests with a session.
 */
export function keepAlive(files: AccountFiles, progress: () => void): AccountFiles {
  return {
    ...files,
    list: (segments) => toMembers(() => stepwise(toBatches(files.list(segments)), progress)),
    async read(segments, range) {
      progress();
      const file = await files.read(segments, range);
      const { entry, source } = file;
      if (source === undefined) return { entry, body: chunkwise(file.body, progress) };
      return "readInto" in source ? toStoredFile(entry, tap(source, { onRead: progress })) : file;
    },
    write: (segments, content, options) => files.write(segments, stepwise(content, progress), options),
  };
}

async function* stepwise<T>(steps: AsyncIterable<T>, progress: () => void): AsyncGenerator<T> {
  for await (const step of steps) {
    progress();
    yield step;
  }
}

/** Calls `progress` for each chunk. Reads nothing ahead of the reader. */
function chunkwise(body: ReadableStream<Uint8Array>, progress: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { done, value } = await reader.read();
    progress();
    if (done) controller.close();
    else controller.enqueue(value);
  }

  return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 });
}
