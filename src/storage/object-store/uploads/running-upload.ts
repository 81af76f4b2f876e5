import { hasCode, StorageError } from "../../../contracts/storage-adapter.ts";
import type { ObjectUploadStates, UploadVersion } from "./states.ts";
import type { StoredUpload } from "./stored-upload.ts";

/** A change of a state; `undefined` if there is nothing to change. */
export type UploadStep = ((upload: StoredUpload) => StoredUpload) | undefined;

/** The state of an upload while an append runs. Other processes may take the upload over at any time. */
export interface RunningUpload {
  /** The state that was written last. */
  current(): StoredUpload;
  version(): UploadVersion;
  /** Replaces the state. @throws StorageError `locked` if another process has taken over. */
  note(step: NonNullable<UploadStep>): Promise<StoredUpload>;
  /**
   * From now on notes regularly what `nextStep` returns. If it returns nothing, looks whether another process has taken
   * over. Returns a function that ends this.
   */
  watch(nextStep: () => UploadStep): () => void;
}

/** A process that is killed loses at most what has arrived in this time. */
const NOTE_MS = 2000;

/** Opens an upload for an append. `onTakeover` is called when another process has taken over. */
export function createRunningUpload(
  states: ObjectUploadStates,
  first: UploadVersion,
  onTakeover: () => void,
): RunningUpload {
  let version = first;
  let previous: Promise<unknown> = Promise.resolve();

  /** Runs one request about the state at a time. */
  function withLock<T>(work: () => Promise<T>): Promise<T> {
    const result = previous.then(work);
    previous = result.catch(() => undefined);
    return result;
  }

  function note(step: NonNullable<UploadStep>): Promise<StoredUpload> {
    return withLock(async () => {
      const next = await states.replace(version, step(version.upload));
      if (next === undefined) throw new StorageError("locked");
      version = next;
      return next.upload;
    });
  }

  function look(): Promise<void> {
    return withLock(async () => {
      const found = await states.read(version.upload.key);
      if (found?.object.etag !== version.object.etag) throw new StorageError("locked");
    });
  }

  function watch(nextStep: () => UploadStep): () => void {
    let isBusy = false;

    async function noteOrLook(): Promise<void> {
      if (isBusy) return;
      isBusy = true;
      const step = nextStep();
      try {
        await (step === undefined ? look() : note(step));
      } catch (error) {
        // After any other failure the append goes on: its end notes everything.
        if (hasCode(error, "locked")) onTakeover();
      } finally {
        isBusy = false;
      }
    }

    const timer = setInterval(() => void noteOrLook(), NOTE_MS);
    return () => clearInterval(timer);
  }

  return { current: () => version.upload, version: () => version, note, watch };
}
