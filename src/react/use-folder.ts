import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import type { FileClient } from "../client/file-client.ts";
import { createFolderStore, UNLISTED } from "./folder.ts";
import type { FolderListing, FolderState } from "./types.ts";

/**
 * Lists a folder while the component is mounted. Another path or client is another listing: nothing of the previous one
 * is shown. Create the client once, not with every rendering.
 */
export function useFolder(client: FileClient, path: string): FolderListing {
  const store = useMemo(() => createFolderStore(client, path), [client, path]);
  const shown = useRef(store);
  useEffect(() => {
    shown.current = store;
    return store.open();
  }, [store]);
  const state = useSyncExternalStore(store.subscribe, store.getState, getServerState);
  // An upload may end when another folder is shown: that one is reloaded.
  const reload = useCallback(() => shown.current.reload(), []);
  return { ...state, reload };
}

function getServerState(): FolderState {
  return UNLISTED;
}
