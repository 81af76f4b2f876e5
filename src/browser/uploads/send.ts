import type { ScriptTexts } from "../../contracts/script-texts.ts";
import { findProblem, HEADERS, type Problem, toProblem, toUrl } from "../requests.ts";

/** A request under way. */
export interface Sending {
  /** Why it failed; nothing when it succeeded, and when it was aborted. */
  readonly finished: Promise<Problem | undefined>;
  abort(): void;
}

/** Whether files can be put: not where the service is mounted for browsers alone, which have forms. Nothing where it does not answer. */
export async function findMayPut(): Promise<boolean | undefined> {
  try {
    const response = await fetch(toUrl(["file"]), { method: "OPTIONS", headers: HEADERS });
    const allowed = response.headers.get("Allow");
    return response.ok && (allowed === null || /\bPUT\b/.test(allowed));
  } catch {
    return undefined;
  }
}

/** A file on its way to a path below the folder of this page. */
export interface Upload {
  readonly file: File;
  readonly path: readonly string[];
  /** Otherwise a file that is there stays. */
  readonly mayReplace: boolean;
}

/** Puts a file (4.2). */
export function putFile(upload: Upload, onProgress: (sent: number) => void, texts: ScriptTexts): Sending {
  // A type of the file's own, such as text/html, would ask for another kind of answer.
  const headers = { "Content-Type": "application/octet-stream", ...(!upload.mayReplace && { "If-None-Match": "*" }) };
  return send(upload, { method: "PUT", url: toUrl(upload.path), headers, body: upload.file }, onProgress, texts);
}

/** Sends a file as a form does (4.6), which replaces what is there: to be asked for before. */
export function sendForm(upload: Upload, onProgress: (sent: number) => void, texts: ScriptTexts): Sending {
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
  { file, path, mayReplace }: Upload,
  { method, url, headers, body }: UploadRequest,
  onProgress: (sent: number) => void,
  texts: ScriptTexts,
): Sending {
  // fetch tells no progress of what it sends.
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
