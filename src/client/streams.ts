import type { ByteStream, OpenContent, UploadContent } from "./options.ts";

export function isStream(content: UploadContent): content is ByteStream {
  return typeof content === "object" && "getReader" in content;
}

export function toBlob(content: Exclude<UploadContent, ByteStream | OpenContent>): Blob {
  return typeof content === "object" && "stream" in content ? content : new Blob([content]);
}

/** The size of content in bytes; `undefined` if it is not known. A text may have up to three times as many. */
export function sizeOf(content: UploadContent): number | undefined {
  if (typeof content === "string") return content.length;
  if (typeof content === "function" || isStream(content)) return undefined;
  return "size" in content ? content.size : content.byteLength;
}

/** Returns the same stream, and reports an error of it. */
export function watchReading(source: ByteStream, onError: (reason: unknown) => void): ByteStream {
  const reader = source.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        onError(error);
        throw error;
      });
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Reads at most `limit` bytes of a stream, and closes it. */
export async function readInto(
  stream: ByteStream,
  limit: number,
): Promise<{ readonly chunks: Uint8Array<ArrayBuffer>[]; readonly isComplete: boolean }> {
  const reader = stream.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  try {
    for (let left = limit; left > 0; ) {
      const { done, value } = await reader.read();
      if (done) return { chunks, isComplete: true };
      chunks.push(value.subarray(0, left));
      left -= value.byteLength;
    }
    return { chunks, isComplete: false };
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
