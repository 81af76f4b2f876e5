import type { ScriptTexts } from "../../contracts/script-texts.ts";
import { findProblem, HEADERS, type Problem, toProblem, toUrl } from "../requests.ts";

/** A request in progress. */
export interface Sending {
  /** Resolves with the problem, or with `undefined` if the request succeeded or was aborted. */
  readonly finished: Promise<Problem | undefined>;
  abort(): void;
}

/**
 * Whether the service accepts PUT. It does not if only its browser API is mounted. `undefined` if it does not respond.
 */
export async function findMayPut(): Promise<boolean | undefined> {
  try {
    const response = await fetch(toUrl(["file"]), { method: "OPTIONS", headers: HEADERS });
    const allowed = response.headers.get("Allow");
    return response.ok && (allowed === null || /\bPUT\b/.test(allowed));
  } catch {
    return undefined;
  }
}

/** A file to send to a path below the folder of this page. */
export interface FileUpload {
  readonly file: File;
  readonly path: readonly string[];
  /** Whether the upload may replace an existing file. */
  readonly mayReplace: boolean;
}

/** Sends a file by PUT (4.2). */
export function sendByPut(upload: FileUpload, onProgress: (sent: number) => void, texts: ScriptTexts): Sending {
  // The file's own type, such as text/html, would select another variant of the response.
  const headers = { "Content-Type": "application/octet-stream", ...(!upload.mayReplace && { "If-None-Match": "*" }) };
  return send(upload, { method: "PUT", url: toUrl(upload.path), headers, body: upload.file }, onProgress, texts);
}

/** Sends a file as a form (4.6), which replaces an existing file. The caller must ask the user first. */
export function sendByForm(upload: FileUpload, onProgress: (sent: number) => void, texts: ScriptTexts): Sending {
  const { file, path } = upload;
  const body = new FormData();
  body.append("action", "upload-file");
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
  onProgress: (sent: number) => void,
  texts: ScriptTexts,
): Sending {
  // `fetch` does not report the progress of a request body.
  const request = new XMLHttpRequest();
  request.open(method, url);
  for (const [name, value] of Object.entries({ ...HEADERS, ...headers })) request.setRequestHeader(name, value);
  const finished = new Promise<Problem | undefined>((resolve) => {
    request.upload.onprogress = ({ loaded }) => onProgress(Math.min(loaded, file.size));
    request.onload = () => {
      const { status, responseText } = request;
      resolve(status >= 200 && status < 300 ? undefined : toProblem(status, responseText, texts));
    };
    request.onerror = () => resolve(findProblem(toUrl(path), mayReplace, texts));
    request.onabort = () => resolve(undefined);
  });
  request.send(body);
  return { finished, abort: () => request.abort() };
}
