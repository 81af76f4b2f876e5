import type { FileClient } from "../client/file-client.ts";
import { toCreationError, toShownError } from "./errors.ts";
import { createStore, createThrottle, type ReadonlyStore } from "./store.ts";
import type { UploadActions, UploadItem, UploadListOptions, UploadOptions } from "./types.ts";

/** The uploads of one client. */
export type UploadStore = ReadonlyStore<readonly UploadItem[]> & UploadActions;

/** The list before the first upload, which servers render. */
export const NO_UPLOADS: readonly UploadItem[] = [];

/** An upload with what it needs. */
interface Job {
  item: UploadItem;
  readonly file: File;
  readonly metadata: UploadOptions["metadata"];
  overwrite: boolean;
  /** Aborts the request, while there is one. */
  aborting: AbortController | undefined;
  onEnd: () => void;
}

/** @throws TypeError if `concurrency` is not a positive integer. */
export function createUploadStore(
  client: Pick<FileClient, "put">,
  { concurrency = 3 }: UploadListOptions = {},
): UploadStore {
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new TypeError("The option concurrency must be a positive integer.");
  }
  const jobs = new Map<string, Job>();
  const waiting = new Set<Job>();
  const running = new Set<Job>();
  const { subscribe, getState, setState } = createStore(NO_UPLOADS);
  const changes = createThrottle(() => setState(Array.from(jobs.values(), ({ item }) => item)));
  let lastId = 0;

  /** The jobs that an action is for: one, or all. */
  function select(id: string | undefined): readonly Job[] {
    return [...jobs.values()].filter(({ item }) => id === undefined || id === item.id);
  }

  function update(job: Job, change: Partial<UploadItem>): void {
    job.item = { ...job.item, ...change };
    changes.callSoon();
  }

  /** Adds a job to the queue. The promise resolves when it has ended. */
  function enqueue(job: Job): Promise<void> {
    waiting.add(job);
    return new Promise((resolve) => {
      job.onEnd = resolve;
    });
  }

  function startNext(): void {
    for (const job of waiting) {
      if (running.size >= concurrency) return;
      waiting.delete(job);
      void run(job);
    }
  }

  async function run(job: Job): Promise<void> {
    running.add(job);
    update(job, { state: "uploading" });
    const outcome = await send(job);
    running.delete(job);
    end(job, outcome);
    startNext();
  }

  async function send(job: Job): Promise<Partial<UploadItem>> {
    const { item, file, overwrite, metadata } = job;
    job.aborting = new AbortController();
    const { signal } = job.aborting;
    const onProgress = (sent: number): void => update(job, { sent });
    try {
      await client.put(item.path, file, { signal, onProgress, metadata, ifNoneMatch: overwrite ? undefined : "*" });
      return { state: "done", sent: item.total };
    } catch (cause) {
      if (signal.aborted) return { state: "aborted" };
      return { state: "failed", error: overwrite ? toShownError(cause) : toCreationError(cause) };
    }
  }

  function end(job: Job, outcome: Partial<UploadItem>): void {
    update(job, outcome);
    // The list is up to date when the promise of the last upload resolves.
    if (running.size + waiting.size === 0) changes.callNow();
    job.onEnd();
  }

  return {
    subscribe,
    getState,

    async upload(folder, files, { overwrite = false, metadata } = {}) {
      const added = Array.from(files, (file) => toJob(String(++lastId), folder, file, { overwrite, metadata }));
      for (const job of added) jobs.set(job.item.id, job);
      const ended = Promise.all(added.map(enqueue));
      startNext();
      changes.callNow();
      await ended;
      return added.map(({ item }) => item);
    },

    abort(id) {
      for (const job of select(id)) {
        if (waiting.delete(job)) end(job, { state: "aborted" });
        else job.aborting?.abort();
      }
    },

    async retry(id, { overwrite } = {}) {
      const job = jobs.get(id);
      if (job === undefined || !["failed", "aborted"].includes(job.item.state)) return;
      job.overwrite = overwrite ?? job.overwrite;
      update(job, { state: "waiting", sent: 0, error: undefined });
      const ended = enqueue(job);
      startNext();
      changes.callNow();
      await ended;
    },

    clear(id) {
      for (const job of select(id)) if (!waiting.has(job) && !running.has(job)) jobs.delete(job.item.id);
      changes.callNow();
    },
  };
}

function toJob(id: string, folder: string, file: File, options: Pick<Job, "metadata" | "overwrite">): Job {
  const { name, size: total } = file;
  const path = `${folder === "/" ? "" : folder}/${name}`;
  const item: UploadItem = { id, name, path, state: "waiting", sent: 0, total, error: undefined };
  return { item, file, ...options, aborting: undefined, onEnd: () => undefined };
}
