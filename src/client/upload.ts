import type { ByteStream, ClientOptions, OpenContent, PutOptions, UploadContent } from "./options.ts";
import { isStream, readToEnd, toBlob, useStream } from "./streams.ts";
import { sendByXhr } from "./xhr.ts";

/** A request as the client makes it. */
export interface ClientRequest extends RequestInit {
  readonly headers: Readonly<Record<string, string>>;
  /** Streams need it; other bodies ignore it. */
  readonly duplex?: "half";
}

/** Sends a request. Rejects if there is no response. */
export type Transport = (url: string, request: ClientRequest) => Promise<Response>;

/** Returns what sends an upload in one request, and reports its progress. */
export function createUpload(
  content: Exclude<UploadContent, OpenContent>,
  onProgress: PutOptions["onProgress"],
  ownFetch: ClientOptions["fetch"],
): Transport {
  const fetch = ownFetch ?? globalThis.fetch;

  /** Browsers send streams by HTTP/2 alone, or not at all, so a stream is read first. */
  async function uploadInBrowser(url: string, request: ClientRequest): Promise<Response> {
    const body = isStream(content) ? await readToEnd(content, request.signal) : toBlob(content);
    const response =
      onProgress === undefined || ownFetch !== undefined
        ? await fetch(url, { ...request, body })
        : await sendByXhr(url, request, body, (sent) => onProgress(sent, body.size));
    if (response.ok) onProgress?.(body.size, body.size);
    return response;
  }

  async function upload(url: string, request: ClientRequest): Promise<Response> {
    if (onProgress === undefined && !isStream(content)) return fetch(url, { ...request, body: content });
    const total = isStream(content) ? undefined : toBlob(content).size;
    let sent = 0;
    const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        sent += chunk.byteLength;
        onProgress?.(sent, total);
        controller.enqueue(chunk);
      },
    });
    const source = isStream(content) ? content : readInParts(toBlob(content));
    // Not every runtime sends it with a stream, but where it arrives, a file that is too large is rejected at once.
    const headers = { ...request.headers, ...(total !== undefined && { "Content-Length": `${total}` }) };
    const response = await useStream(source, counter, request.signal, (body) =>
      fetch(url, { ...request, headers, body, duplex: "half" } as RequestInit),
    );
    if (response.ok) onProgress?.(sent, sent);
    return response;
  }

  return typeof XMLHttpRequest === "function" ? uploadInBrowser : upload;
}

/** How many bytes are sent between two reports of an upload's progress. */
const PART_BYTES = 65_536;

/** The stream of a blob that Node has in memory would be one chunk, and its progress one step. */
function readInParts(blob: Blob): ByteStream {
  let start = 0;
  return new ReadableStream({
    async pull(controller) {
      if (start >= blob.size) return controller.close();
      const part = await blob.slice(start, start + PART_BYTES).arrayBuffer();
      start += PART_BYTES;
      controller.enqueue(new Uint8Array(part));
    },
  });
}
