import { hasCode, StorageError } from "../contracts/storage-adapter.ts";
import type { UploadKey } from "../contracts/storage-uploads.ts";

/**
 * Runs one call at a time for each upload, in this process. A later call takes over: the signal of a running append
 * aborts with `locked`, and the later call starts when the append has ended. Other calls wait for each other.
 */
export interface UploadWriters {
  /** Runs a short call. @throws StorageError `locked` if an append does not end in time. */
  run<T>(key: UploadKey, work: () => Promise<T>): Promise<T>;
  /**
   * Runs an append. Its signal is that of the caller and of the takeover. `stop` aborts it with `locked`, for takeovers
   * by other processes.
   * @throws StorageError `offset-mismatch` if another call takes over before it starts.
   */
  append<T>(
    key: UploadKey,
    work: (signal: AbortSignal, stop: () => void) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
}

/** Options of {@link createUploadWriters}. */
export interface UploadWritersOptions {
  /** How long a call waits for the running one, in milliseconds. */
  readonly waitMilliseconds?: number;
}

/** A call that uses an upload, or waits for it. */
interface Holder {
  stop(): void;
  /** Resolves when this call and all before it have ended. */
  readonly ended: Promise<void>;
}

const WAIT_MILLISECONDS = 10_000;

/** Creates the {@link UploadWriters} of a storage. */
export function createUploadWriters({
  waitMilliseconds = WAIT_MILLISECONDS,
}: UploadWritersOptions = {}): UploadWriters {
  const holders = new Map<string, Holder>();

  function takeOver<T>({ owner, id }: UploadKey, work: () => Promise<T>, controller?: AbortController): Promise<T> {
    const name = `${id} ${owner}`;
    const previous = holders.get(name);
    const result = (async () => {
      previous?.stop();
      if (previous !== undefined && !(await endsWithin(previous.ended, waitMilliseconds, controller?.signal))) {
        throw new StorageError("locked");
      }
      if (controller !== undefined) throwIfSuperseded(controller.signal);
      return work();
    })();
    const ended = Promise.allSettled([result, previous?.ended]).then(() => {
      if (holders.get(name) === holder) holders.delete(name);
    });
    const holder: Holder = { stop: () => controller?.abort(new StorageError("locked")), ended };
    holders.set(name, holder);
    return result;
  }

  async function append<T>(
    key: UploadKey,
    work: (signal: AbortSignal, stop: () => void) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    signal?.throwIfAborted();
    const controller = new AbortController();
    const stop = (): void => controller.abort(new StorageError("locked"));
    const abort = (): void => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      return await takeOver(key, () => work(controller.signal, stop), controller);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  return { run: takeOver, append };
}

/**
 * Throws if the signal of an append has aborted before it has read any content. If another call has taken over, that is
 * `offset-mismatch`: the append has changed nothing, and the other call may change the offset.
 */
export function throwIfSuperseded(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const { reason } = signal;
  throw hasCode(reason, "locked") ? createSuperseded() : reason;
}

/** The error of an append that another call has taken over from before it has read any content. */
export function createSuperseded(): StorageError {
  return new StorageError("offset-mismatch", "Another call has taken over.");
}

/** Whether a promise resolves within a time. An abort ends the wait, too. */
async function endsWithin(ended: Promise<void>, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let giveUp: () => void = () => undefined;
  const isTooLate = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const isAborted = new Promise<true>((resolve) => {
    giveUp = () => resolve(true);
    signal?.addEventListener("abort", giveUp);
  });
  try {
    return await Promise.race([ended.then(() => true as const), isTooLate, isAborted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}
