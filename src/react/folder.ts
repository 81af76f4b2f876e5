import type { FileClient } from "../client/file-client.ts";
import type { Entry } from "../client/results.ts";
import { toShownError } from "./errors.ts";
import { createStore, createThrottle, type ReadonlyStore } from "./store.ts";
import type { FolderListing, FolderState } from "./types.ts";

/** The listing of one folder. */
export interface FolderStore extends ReadonlyStore<FolderState> {
  /** Lists the folder. The returned function aborts this; a reload then does nothing. */
  readonly open: () => () => void;
  readonly reload: FolderListing["reload"];
}

/** The state before the first listing, which servers render. */
export const UNLISTED: FolderState = { entries: [], isLoading: true, error: undefined };

export function createFolderStore(client: Pick<FileClient, "list">, path: string): FolderStore {
  const { subscribe, getState, setState } = createStore(UNLISTED);
  /** Aborts the last listing, while the store is open. */
  let aborting: AbortController | undefined;
  /** Whether the state has a complete listing. */
  let isListed = false;

  async function load(): Promise<void> {
    aborting?.abort();
    aborting = new AbortController();
    const { signal } = aborting;
    const found: Entry[] = [];
    const arrivals = createThrottle(() => update({ entries: [...found] }));

    /** What comes after an abort is not shown. */
    function update(change: Partial<FolderState>): void {
      if (!signal.aborted) setState({ ...getState(), ...change });
    }

    update({ isLoading: true });
    try {
      for await (const entry of client.list(path, { signal })) {
        signal.throwIfAborted();
        found.push(entry);
        if (!isListed) arrivals.callSoon();
      }
      signal.throwIfAborted();
      isListed = true;
      update({ entries: found, isLoading: false, error: undefined });
    } catch (cause) {
      const entries = isListed ? getState().entries : found;
      update({ entries, isLoading: false, error: toShownError(cause) });
    } finally {
      arrivals.cancel();
    }
  }

  return {
    subscribe,
    getState,
    open() {
      void load();
      return () => {
        aborting?.abort();
        aborting = undefined;
      };
    },
    async reload() {
      if (aborting !== undefined) await load();
    },
  };
}
