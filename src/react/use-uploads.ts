import { useEffect, useState, useSyncExternalStore } from "react";
import type { FileClient } from "../client/file-client.ts";
import type { UploadItem, UploadList, UploadListOptions } from "./types.ts";
import { createUploadStore, NO_UPLOADS, type UploadStore } from "./uploads.ts";

/**
 * Uploads files, a few at a time, while the component is mounted; unmounting aborts them. Another client is another
 * list: the uploads of the previous one are aborted, and no file goes to another account. Create the client once, not
 * with every rendering.
 *
 * @throws TypeError if `concurrency` is not a positive integer.
 */
export function useUploads(client: FileClient, options: UploadListOptions = {}): UploadList {
  const { subscribe, getState, ...actions } = useUploadStore(client, options);
  useEffect(() => () => actions.abort(), [actions.abort]);
  const uploads = useSyncExternalStore(subscribe, getState, getServerState);
  return { uploads, ...actions };
}

/** The store of a client. It is a state, as `useMemo` may drop what it holds, which would abort the uploads. */
function useUploadStore(client: FileClient, options: UploadListOptions): UploadStore {
  const create = () => ({ client, store: createUploadStore(client, options) });
  const [current, setCurrent] = useState(create);
  if (current.client === client) return current.store;
  const next = create();
  setCurrent(next);
  return next.store;
}

function getServerState(): readonly UploadItem[] {
  return NO_UPLOADS;
}
