import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { type Problem, toProblem } from "../requests.ts";
import { createPartsProgress } from "./parts-progress.ts";
import { endUploads, toFileRequests, toJoinRequests, toPartRequests } from "./protocols.ts";
import type { RememberedUpload, RememberedUploads, UploadIdentity } from "./remembered-uploads.ts";
import { createPatience, mayPass, runUpload } from "./resuming.ts";
import { type Answer, type FileUpload, hasSucceeded, type OnProgress, type Sending, sendByPut } from "./send.ts";
import { waitOnline } from "./wait-online.ts";

/** What an upload in several requests needs besides the file. */
export interface ResumableOptions {
  readonly identity: UploadIdentity;
  readonly remembered: RememberedUploads;
  /** The number of parts that a new upload has, which are sent at the same time. */
  readonly parts: number;
  /** The maximum number of bytes of one request. */
  readonly maxAppendBytes: number;
  readonly texts: ScriptTexts;
}

/** How often the browser notes that the service keeps a running upload longer. */
const RENEW_MS = 60_000;

/**
 * Sends a file in several requests. Goes on with the upload that the browser remembers of the file, if there is one.
 * Folders that take files only as a whole get it by PUT.
 */
export function sendResumably(upload: FileUpload, options: ResumableOptions, onProgress: OnProgress): Sending {
  const { file, path, mayReplace } = upload;
  const { identity, remembered, texts, maxAppendBytes } = options;
  const controller = new AbortController();
  const { signal } = controller;
  const kept = findRemembered(remembered, identity, mayReplace);
  const slices = toSlices(file, kept?.urls.length ?? options.parts);
  const urls: (string | undefined)[] = slices.map((_, index) => kept?.urls[index]);
  const patience = createPatience({ pause: (milliseconds) => waitOnline(milliseconds, signal), now: Date.now });
  const progress = createPartsProgress({
    size: file.size,
    parts: slices.length,
    isResumed: kept !== undefined,
    texts,
    onProgress,
    onAdvance: patience.restore,
  });
  /** The response that ended the upload. */
  let last: Answer | undefined;
  let isCancelled = false;
  let whole: Sending | undefined;
  /** How long the service keeps the upload after its last byte, in milliseconds. */
  let lifetime = 0;
  let rememberedAt = 0;

  const known = (): string[] => urls.flatMap((url) => url ?? []);

  function remember(): void {
    if (isCancelled || known().length < slices.length) return;
    rememberedAt = Date.now();
    const expires = rememberedAt + lifetime;
    const entry = { ...identity, urls: known(), expires, mayReplace: kept?.mayReplace ?? mayReplace };
    for (const replaced of remembered.save(entry)) endUploads(replaced.urls);
  }

  async function sendPart(slice: Blob, index: number): Promise<Answer> {
    function onSent(bytes: number): void {
      progress.send(index, bytes);
      // Every byte renews the time that the service keeps the upload. A log-out may have cleared what is remembered.
      if (Date.now() - rememberedAt > RENEW_MS && remembered.find(identity) !== undefined) remember();
    }
    const context = { signal, maxAppendBytes, onSent };
    const isWhole = slices.length === 1;
    const requests = isWhole ? toFileRequests(upload, context) : toPartRequests(path.slice(0, -1), slice, context);
    const answer = await runUpload(requests, {
      url: urls[index],
      patience,
      signal,
      onCreated(url, created) {
        urls[index] = url;
        progress.start(index);
        lifetime = readLifetime(created);
        remember();
      },
      onFound(offset, found) {
        progress.find(index, offset);
        lifetime = readLifetime(found);
        remember();
      },
      onInterrupted: progress.interrupt,
    });
    // The other parts keep what they have.
    if (!signal.aborted && !hasSucceeded(answer)) {
      last = answer;
      controller.abort();
    }
    return answer;
  }

  function join(): Promise<Answer> {
    return runUpload(toJoinRequests(upload, known()), {
      url: undefined,
      patience,
      signal,
      onInterrupted: progress.interrupt,
    });
  }

  /** Ends the upload, so that neither side keeps anything of it. */
  function end(): undefined {
    remembered.forget(known());
    endUploads(known());
  }

  async function run(): Promise<Problem | undefined> {
    const [answer] = await Promise.all(slices.map(sendPart));
    if (!signal.aborted) last = slices.length === 1 ? answer : await join();
    if (isCancelled || last === undefined) return end();
    const { status, body } = last;
    if (hasSucceeded(last)) {
      remembered.forget(known());
      // The upload of the joined file is not needed. The service forgets it, and keeps the file.
      const joined = last.header("Location");
      if (joined !== null) endUploads([joined]);
      return undefined;
    }
    if (!mayResume(last) || known().length < slices.length) end();
    if (status === 0) return { kind: "network", message: texts.networkLost };
    if (status !== 501) return toProblem(status, body, texts);
    whole = sendByPut(upload, onProgress, texts);
    return whole.finished;
  }

  return {
    finished: run(),
    abort() {
      isCancelled = true;
      remembered.forget(known());
      controller.abort();
      whole?.abort();
    },
  };
}

/** The remembered upload of a file, unless it must not replace a file and this one may. */
export function findRemembered(
  remembered: RememberedUploads,
  identity: UploadIdentity,
  mayReplace: boolean,
): RememberedUpload | undefined {
  const found = remembered.find(identity);
  return found?.mayReplace || !mayReplace ? found : undefined;
}

/** Whether an upload stays as it is after a failure, so that a retry goes on with it. */
function mayResume({ status }: Answer): boolean {
  return mayPass(status) || status === 401 || status === 507;
}

function toSlices(file: File, count: number): Blob[] {
  const size = Math.ceil(file.size / count);
  return Array.from({ length: count }, (_, index) => file.slice(index * size, (index + 1) * size));
}

/** How long the service keeps an upload from now on, in milliseconds. */
function readLifetime({ header }: Answer): number {
  const seconds = /\bmax-age=(\d+)/.exec(header("Upload-Limit") ?? "")?.[1];
  return seconds === undefined ? Date.parse(header("Upload-Expires") ?? "") - Date.now() : 1000 * Number(seconds);
}
