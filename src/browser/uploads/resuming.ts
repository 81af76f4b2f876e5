import { type Answer, hasSucceeded } from "./send.ts";

/** The requests of one upload in several requests, in the words of its protocol. */
export interface UploadRequests {
  /** Creates the upload. */
  create(): Promise<Answer>;
  /** Asks how much of it the service has. */
  find(url: string): Promise<Answer>;
  /** Sends what follows the offset. */
  append(url: string, offset: number): Promise<Answer>;
  /** Whether the upload is complete after a successful request. */
  isComplete(answer: Answer): boolean;
}

/** Receives what happens to an upload. */
export interface UploadListener {
  /** The upload was created. */
  onCreated?(url: string, answer: Answer): void;
  /** The service has told how much it has. */
  onFound?(offset: number, answer: Answer): void;
  /** The upload was interrupted, and the next attempt comes later. */
  onInterrupted(): void;
}

/** How an upload is run. */
export interface RunOptions extends UploadListener {
  /** The URL of an upload to go on with. Default: a new one is created. */
  readonly url: string | undefined;
  readonly patience: Patience;
  readonly signal: AbortSignal;
}

/**
 * Runs an upload to its end, however often the connection breaks. An upload that the service does not know any more
 * starts from the beginning, once. Returns the last response: a success, a refusal, or what could not be overcome.
 */
export async function runUpload(requests: UploadRequests, options: RunOptions): Promise<Answer> {
  const { patience, signal } = options;
  let { url } = options;
  /** Where to go on. Unknown after an interruption. */
  let offset: number | undefined;
  let furthest = -1;
  let conflictAt: number | undefined;
  let mayRestart = true;

  function ask(): Promise<Answer> {
    if (url === undefined) return requests.create();
    return offset === undefined ? requests.find(url) : requests.append(url, offset);
  }

  /** Takes the offset of a success. Returns false if the response does not help to go on. */
  function advance(answer: Answer): boolean {
    const isNew = url === undefined;
    url ??= answer.header("Location") ?? undefined;
    const next = readOffset(answer) ?? (isNew ? 0 : undefined);
    if (url === undefined || next === undefined) return false;
    if (offset !== undefined && next <= offset) return false;
    if (isNew) options.onCreated?.(url, answer);
    else if (offset === undefined) options.onFound?.(next, answer);
    if (next > furthest) {
      furthest = next;
      patience.restore();
    }
    offset = next;
    return true;
  }

  /** Decides what follows a response, and prepares it. */
  function judge(answer: Answer): "end" | "now" | "later" {
    const { status } = answer;
    if (hasSucceeded(answer)) {
      const isAdvanced = advance(answer);
      if (requests.isComplete(answer)) return "end";
      if (isAdvanced) return "now";
    } else if (url !== undefined && mayRestart && (status === 404 || status === 410)) {
      mayRestart = false;
      url = offset = undefined;
      return "now";
    } else if (url !== undefined && status === 409) {
      const isNew = offset !== conflictAt;
      conflictAt = offset;
      offset = undefined;
      return isNew ? "now" : "later";
    } else if (!mayPass(status)) return "end";
    offset = undefined;
    return "later";
  }

  for (;;) {
    const answer = await ask();
    const next = judge(answer);
    if (next === "end" || signal.aborted) return answer;
    if (next === "now") continue;
    options.onInterrupted();
    if (!(await patience.wait()) || signal.aborted) return answer;
  }
}

const TEMPORARY = [0, 408, 423, 429, 500, 502, 503, 504];

/** Whether the same request may succeed later. What the user must change first, such as a full storage, is not. */
export function mayPass(status: number): boolean {
  return TEMPORARY.includes(status);
}

function readOffset(answer: Answer): number | undefined {
  const value = answer.header("Upload-Offset");
  return value === null ? undefined : Number(value);
}

/** Decides how long to try again. */
export interface Patience {
  /** Waits until the next attempt. Returns false, without waiting, if there was no progress for too long. */
  wait(): Promise<boolean>;
  /** There was progress: the next interruption is the first one again. */
  restore(): void;
}

const DELAYS = [1, 2, 4, 8];
const MAX_DELAY = 15;
const MAX_SECONDS = 300;

/** What {@link createPatience} needs of the browser. */
export interface PatienceOptions {
  /** Waits. Returns whether the browser was offline meanwhile, which does not count. */
  readonly pause: (milliseconds: number) => Promise<boolean>;
  /** The time in milliseconds. */
  readonly now: () => number;
}

/** Waits 1, 2, 4, 8, 15, 15, ... seconds, and gives up after five minutes without progress. */
export function createPatience({ pause, now }: PatienceOptions): Patience {
  let attempts = 0;
  let since: number | undefined;

  function restore(): void {
    attempts = 0;
    since = undefined;
  }

  return {
    restore,
    async wait() {
      since ??= now();
      if (now() - since >= 1000 * MAX_SECONDS) return false;
      if (await pause(1000 * (DELAYS[attempts++] ?? MAX_DELAY))) restore();
      return true;
    },
  };
}
