import type { Scanned, UploadData } from "../../contracts/events/transfers.ts";
import { watchSteps } from "../../contracts/watch-steps.ts";
import type { AccountContext } from "../../request/context.ts";
import { guardContent } from "../../uploads/before-commit.ts";
import { toScanned, toUpload } from "../store-upload.ts";

/**
 * Asks the option `beforeCommit` about a file that is complete. It gets the content from the first byte on, if it wants
 * to see it. Call this before the file becomes visible. `data` is what the events have of the file. Returns what event
 * 40017 has of a scan.
 * @throws HttpError `unprocessable` if it refuses the file; the signal's reason if the client disconnects before the
 * last byte was seen.
 */
export async function askBeforeCommit(
  context: AccountContext,
  data: UploadData,
  size: number,
  read: () => AsyncIterable<Uint8Array>,
): Promise<Scanned> {
  const { beforeCommit } = context.config;
  if (beforeCommit.length === 0) return {};
  const upload = toUpload(context, data);
  const seesContent = beforeCommit.some(({ receive }) => receive !== undefined);
  if (!seesContent) upload.size = size;
  const content = watchSteps(seesContent ? read : nothing, {
    onStep(chunk) {
      upload.size += chunk.byteLength;
    },
  });
  const guarded = guardContent(content, upload, beforeCommit, context.report);
  try {
    for await (const _ of guarded.content) context.request.signal.throwIfAborted();
    return toScanned(upload);
  } finally {
    guarded.settle();
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
