import type { AccountFiles } from "../account/files.ts";
import { tap } from "../contracts/byte-source.ts";
import { toBatches, toMembers } from "../contracts/member-batches.ts";
import { toStoredFile } from "../contracts/stored-file.ts";

/**
 * The same files, with `progress` called at every step of a transfer and a listing: however long it takes, the session behind it does not
 * idle out. Requests without a session go without these wrappers.
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

/** At the reader's own pace: nothing is read ahead. */
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
