import { findProblem, HEADERS, type Problem, toProblem, toUrl } from "./requests.ts";
import type { ScriptTexts } from "./script-texts.ts";

/** A request under way. */
export interface Sending {
  /** Why it failed; nothing when it succeeded, and when it was aborted. */
  readonly finished: Promise<Problem | undefined>;
  abort(): void;
}

/** Puts a file at its path below the folder of this page (4.2). A file that is there stays unless it may be replaced. */
export function sendFile(
  file: File,
  path: readonly string[],
  mayReplace: boolean,
  onProgress: (sent: number) => void,
  texts: ScriptTexts,
): Sending {
  const url = toUrl(path);
  // fetch tells no progress of what it sends.
  const request = new XMLHttpRequest();
  request.open("PUT", url);
  for (const [name, value] of Object.entries(HEADERS)) request.setRequestHeader(name, value);
  // A type of the file's own, such as text/html, would ask for another kind of answer.
  request.setRequestHeader("Content-Type", "application/octet-stream");
  if (!mayReplace) request.setRequestHeader("If-None-Match", "*");
  const finished = new Promise<Problem | undefined>((resolve) => {
    request.upload.onprogress = ({ loaded }) => onProgress(Math.min(loaded, file.size));
    request.onload = () => {
      const { status, responseText } = request;
      resolve(status >= 200 && status < 300 ? undefined : toProblem(status, responseText, texts));
    };
    request.onerror = () => resolve(findProblem(url, mayReplace, texts));
    request.onabort = () => resolve(undefined);
  });
  request.send(file);
  return { finished, abort: () => request.abort() };
}
