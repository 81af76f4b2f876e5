import { FileferryError } from "./error.ts";
import { toEntityTag, toModified } from "./headers.ts";
import type { RequestOptions, ResumeOptions, SavedUpload } from "./options.ts";
import type { PutResult } from "./results.ts";
import type { ContentPart, ResumableContent } from "./resumable-content.ts";
import { ContentError } from "./streams.ts";
import { type ClientRequest, createUpload, type Transport } from "./upload.ts";
import { pause, toDelay, untilAborted } from "./waits.ts";

/** Sends a request to a path below the base URL. @throws FileferryError */
export type SendBelowBase = (
  path: string,
  request: RequestOptions & Partial<Omit<ClientRequest, "signal">>,
  transport?: Transport,
) => Promise<Response>;

/** What an upload in several requests needs. */
export interface ResumableUpload {
  readonly send: SendBelowBase;
  /** Creates the upload; nothing aborts this. Returns `undefined` if the service has no such uploads. */
  create(): Promise<Response | undefined>;
  readonly content: ResumableContent;
  /** What is known of the upload, without its ID. */
  readonly file: Omit<SavedUpload, "id">;
  /** The ID of an upload that exists. */
  readonly id?: string | undefined;
  readonly options: ResumeOptions;
  /** The client's own `fetch`. */
  readonly fetch: typeof globalThis.fetch | undefined;
}

/** After a failure, an upload fails without a byte more for so long. */
const PATIENCE_MS = 300_000;

/**
 * Uploads by the draft "Resumable Uploads for HTTP": creates the upload, and adds the content to it. After a failure
 * that may pass it asks how much has arrived, and continues from there. Returns `undefined` if the service has no such
 * uploads.
 * @throws FileferryError, or the reason of the signal.
 */
export async function uploadResumably(upload: ResumableUpload): Promise<PutResult | undefined> {
  const { send, content, file, options, fetch } = upload;
  const { signal, onProgress, onSaved, keep = false } = options;
  const { size } = content;
  let { id } = upload;
  let offset = 0;
  let limit = Number.POSITIVE_INFINITY;
  /** Whether the offset is that of the service. */
  let isCertain = false;
  let hasRestarted = false;
  /** How often it has failed since something arrived, and when it gives up; 0 if it has not failed. */
  let failures = 0;
  let deadline = 0;
  /** When a PATCH has failed last. */
  let brokenAt = 0;

  function request(method: string, headers?: ClientRequest["headers"], transport?: Transport): Promise<Response> {
    return send(`/home/__svc__/uploads/${id}`, { method, ...(headers && { headers }), signal }, transport);
  }

  /** Takes the state of the upload from a response. Returns whether it is complete. */
  function readState({ headers }: Response): boolean {
    const arrived = Number(headers.get("Upload-Offset"));
    if (arrived > offset) failures = deadline = 0;
    offset = arrived;
    isCertain = true;
    const max = /max-append-size=(\d+)/.exec(headers.get("Upload-Limit") ?? "")?.[1];
    limit = Number(max ?? limit);
    return headers.get("Upload-Complete") === "?1";
  }

  async function create(): Promise<boolean> {
    signal?.throwIfAborted();
    // The service may create the upload all the same.
    const response = await untilAborted(upload.create(), signal, (late) => discard(toId(late)));
    id = toId(response);
    if (response === undefined || id === undefined) return false;
    readState(response);
    onSaved?.({ ...file, id });
    return true;
  }

  function discard(created: string | undefined): void {
    if (keep || created === undefined) return;
    send(`/home/__svc__/uploads/${created}`, { method: "DELETE" }).catch(() => undefined);
  }

  function append({ body, isLast }: ContentPart): Promise<Response> {
    const from = offset;
    const headers = {
      "Content-Type": "application/partial-upload",
      "Upload-Offset": `${offset}`,
      "Upload-Complete": isLast ? "?1" : "?0",
    };
    return request(
      "PATCH",
      headers,
      createUpload(body, onProgress && ((sent) => onProgress(from + sent, size)), fetch),
    );
  }

  /** Sends what is missing. Returns the response that has the validators of the file. */
  async function sendRest(): Promise<Response> {
    for (;;) {
      if (!isCertain) {
        const shown = await request("HEAD");
        if (readState(shown)) return shown;
        onProgress?.(offset, size);
      }
      const part = await content.read(offset, limit, signal);
      isCertain = false;
      const response = await append(part).catch((error) => {
        brokenAt = Date.now();
        throw error;
      });
      if (readState(response)) return response;
    }
  }

  /** Waits until it makes sense to continue. @throws the error if it does not. */
  async function recover(error: unknown): Promise<void> {
    if (!(error instanceof FileferryError) || error instanceof ContentError) throw error;
    if (error.status === 404 || error.status === 410) {
      if (hasRestarted || id === undefined) throw error;
      hasRestarted = true;
      id = undefined;
      offset = failures = deadline = 0;
      return;
    }
    const delay = toDelay(error, failures++);
    deadline ||= Date.now() + PATIENCE_MS;
    if (delay === undefined) throw error;
    if (Date.now() + delay > deadline) {
      // What the last PATCH has sent may have arrived, until the service says that it has not.
      const isUnknown = (): boolean => signal?.aborted || Date.now() + delay <= brokenAt + PATIENCE_MS;
      const mayContinue = await request("HEAD").then(readState, isUnknown);
      if (!mayContinue && deadline > 0) throw error;
    }
    await pause(delay, signal);
  }

  try {
    // What fails before there is an upload has nothing to go on with.
    if (id === undefined && !(await create())) return undefined;
    for (;;) {
      try {
        if (id === undefined && !(await create())) return undefined;
        const response = await sendRest();
        onProgress?.(offset, offset);
        return { etag: toEntityTag(response), modified: toModified(response) };
      } catch (error) {
        await recover(error);
        isCertain = false;
      }
    }
  } catch (error) {
    discard(id);
    throw error;
  }
}

/** The ID of the upload that a response has created. */
function toId(response: Response | undefined): string | undefined {
  return /\/uploads\/(\w+)$/.exec(response?.headers.get("Location") ?? "")?.[1];
}
