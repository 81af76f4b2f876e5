import { HEADERS, toUrl } from "../requests.ts";
import type { UploadRequests } from "./resuming.ts";
import { type Answer, type FileUpload, hasSucceeded, sendWithProgress, toCreationFields } from "./send.ts";

const TUS = { "Tus-Resumable": "1.0.0" } as const;
/** A connection that does not take a byte for this time is broken. */
const STALL_MS = 120_000;

/** What the requests of an upload need besides the file. */
export interface SendingContext {
  readonly signal: AbortSignal;
  /** The maximum number of bytes of one request. */
  readonly maxAppendBytes: number;
  /** Receives the number of bytes that were sent, all requests together. */
  readonly onSent: (sent: number) => void;
}

/** The requests that upload a file by the draft of the IETF: an empty creation, then the content. */
export function toFileRequests(upload: FileUpload, context: SendingContext): UploadRequests {
  const { size } = upload.file;
  return {
    create: () =>
      sendWithProgress("PUT", toUrl(upload.path), {
        "Upload-Complete": "?0",
        "Upload-Length": `${size}`,
        ...toCreationFields(upload),
      }),
    find: (url) => sendWithProgress("HEAD", url, {}, context),
    append: (url, offset) =>
      sendContent(url, upload.file, offset, context, (end) => ({
        "Content-Type": "application/partial-upload",
        "Upload-Complete": end === size ? "?1" : "?0",
      })),
    isComplete: ({ header }) => header("Upload-Complete") === "?1",
  };
}

/** The requests that upload a part of a file by tus, to be joined later. `folder` is the path of its folder. */
export function toPartRequests(folder: readonly string[], part: Blob, context: SendingContext): UploadRequests {
  return {
    create: () =>
      sendWithProgress("POST", toUrl(folder, "/"), {
        ...TUS,
        "Upload-Length": `${part.size}`,
        "Upload-Concat": "partial",
      }),
    find: (url) => sendWithProgress("HEAD", url, TUS, context),
    append: (url, offset) =>
      sendContent(url, part, offset, context, () => ({ ...TUS, "Content-Type": "application/offset+octet-stream" })),
    isComplete: ({ header }) => header("Upload-Offset") === `${part.size}`,
  };
}

/** The only request that joins uploads to a file. */
export function toJoinRequests(upload: FileUpload, urls: readonly string[]): UploadRequests {
  let isRepeated = false;

  /**
   * If the response was lost, the next request is refused, as the file exists and the parts do not. The parts were
   * complete, so a file of this size is theirs. While there are parts, the file is another one.
   */
  async function create(): Promise<Answer> {
    const answer = await sendWithProgress("POST", toUrl(upload.path), {
      ...TUS,
      "Upload-Concat": `final;${urls.join(" ")}`,
      ...toCreationFields(upload),
    });
    if (!isRepeated || ![400, 412].includes(answer.status)) {
      isRepeated = true;
      return answer;
    }
    const part = await sendWithProgress("HEAD", urls[0] ?? "", TUS);
    if (part.status !== 404) return hasSucceeded(part) ? answer : part;
    const file = await sendWithProgress("HEAD", toUrl(upload.path), {});
    return file.status === 0 || file.header("Content-Length") === `${upload.file.size}` ? file : answer;
  }

  return { create, find: create, append: create, isComplete: () => true };
}

/** Ends uploads, so that the service keeps no bytes of them. Works for both protocols, and for parts. */
export function endUploads(urls: readonly string[]): void {
  for (const url of urls)
    void fetch(url, { method: "DELETE", headers: HEADERS, keepalive: true }).catch(() => undefined);
}

function sendContent(
  url: string,
  content: Blob,
  offset: number,
  { signal, maxAppendBytes, onSent }: SendingContext,
  toHeaders: (end: number) => Readonly<Record<string, string>>,
): Promise<Answer> {
  const end = Math.min(content.size, offset + maxAppendBytes);
  return sendWithProgress(
    "PATCH",
    url,
    { ...toHeaders(end), "Upload-Offset": `${offset}` },
    {
      body: content.slice(offset, end),
      signal,
      stallMs: STALL_MS,
      onProgress: (sent) => onSent(offset + sent),
    },
  );
}
