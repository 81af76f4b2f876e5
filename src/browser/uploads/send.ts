import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { findProblem, HEADERS, type Problem, toProblem, toUrl } from "../requests.ts";
import { readSenderName, toSenderFields } from "./sender-name.ts";

/** The upload of a file in progress. */
export interface Sending {
  /** Resolves with the problem, or with `undefined` if the upload succeeded or was aborted. */
  readonly finished: Promise<Problem | undefined>;
  abort(): void;
}

/**
 * Receives the progress of an upload: bytes that have left the browser, what else the user should know, and how many of
 * the bytes the service had before.
 */
export type OnProgress = (sent: number, note?: string, found?: number) => void;

/** A file to send to a path below the folder of this page. */
export interface FileUpload {
  readonly file: File;
  readonly path: readonly string[];
  /** Whether the upload may replace an existing file. */
  readonly mayReplace: boolean;
}

/** A response. `status` is 0 if there is none, because the connection broke or the request was aborted. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  header(name: string): string | null;
}

/** What a request of an upload may have. */
export interface ProgressOptions {
  readonly body?: Blob | FormData;
  readonly onProgress?: (sent: number) => void;
  readonly signal?: AbortSignal;
  /** After this time without any progress of the body, the connection counts as broken. */
  readonly stallMs?: number;
}

/** Sends a request. Unlike `fetch`, it reports the progress of the body. */
export function sendWithProgress(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  { body, onProgress, signal, stallMs }: ProgressOptions = {},
): Promise<Answer> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    let stall: ReturnType<typeof setTimeout> | undefined;
    request.open(method, url);
    for (const [name, value] of Object.entries({ ...HEADERS, ...headers })) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => {
      clearTimeout(stall);
      if (stallMs !== undefined) stall = setTimeout(abort, stallMs);
      onProgress?.(loaded);
    };
    // The service may take its time with a body that has arrived.
    request.upload.onload = () => clearTimeout(stall);
    request.onloadend = () => {
      clearTimeout(stall);
      signal?.removeEventListener("abort", abort);
      const { status, responseText } = request;
      resolve({ status, body: responseText, header: (name) => request.getResponseHeader(name) });
    };
    signal?.addEventListener("abort", abort);
    request.send(body ?? null);
    if (signal?.aborted) abort();
  });
}

/** Whether a response is a success. */
export function hasSucceeded({ status }: Pick<Answer, "status">): boolean {
  return status >= 200 && status < 300;
}

/** The condition that keeps an existing file, and the sender of a new one. */
export function toCreationFields({ mayReplace }: FileUpload): Readonly<Record<string, string>> {
  return mayReplace ? toSenderFields() : { "If-None-Match": "*", ...toSenderFields() };
}

/** Sends a file by PUT (4.2). */
export function sendByPut(upload: FileUpload, onProgress: OnProgress, texts: ScriptTexts): Sending {
  // The file's own type, such as text/html, would select another variant of the response.
  const headers = { "Content-Type": "application/octet-stream", ...toCreationFields(upload) };
  return send(upload, { method: "PUT", url: toUrl(upload.path), headers, body: upload.file }, onProgress, texts);
}

/** Sends a file as a form (4.6), which replaces an existing file. The caller must ask the user first. */
export function sendByForm(upload: FileUpload, onProgress: OnProgress, texts: ScriptTexts): Sending {
  const { file, path } = upload;
  const body = new FormData();
  body.append("action", "upload-file");
  const sender = readSenderName();
  // Before the file: the service asks for it first.
  if (sender !== undefined) body.append("sender", sender);
  body.append("upload-file", file, path.at(-1));
  return send(upload, { method: "POST", url: toUrl(path.slice(0, -1), "/"), headers: {}, body }, onProgress, texts);
}

interface UploadRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: File | FormData;
}

function send(
  { file, path, mayReplace }: FileUpload,
  { method, url, headers, body }: UploadRequest,
  onProgress: OnProgress,
  texts: ScriptTexts,
): Sending {
  const controller = new AbortController();
  const { signal } = controller;

  async function run(): Promise<Problem | undefined> {
    const answer = await sendWithProgress(method, url, headers, {
      body,
      signal,
      onProgress: (sent) => onProgress(Math.min(sent, file.size)),
    });
    if (hasSucceeded(answer) || signal.aborted) return undefined;
    if (answer.status === 0) return findProblem(toUrl(path), mayReplace, texts);
    return toProblem(answer.status, answer.body, texts);
  }

  return { finished: run(), abort: () => controller.abort() };
}
