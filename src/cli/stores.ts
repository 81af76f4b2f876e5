import type { FileServiceOptions } from "../config/options.ts";
import type { AtomicKeyValueStore } from "../contracts/atomic-store.ts";
import { createQuotaStorage } from "../storage/quota.ts";
import { createTrashStorage } from "../storage/trash.ts";
import { createVersionsStorage } from "../storage/versions.ts";
import { createMemoryKeyValueStore } from "../stores/memory.ts";
import type { NamedStore, ServeSettings } from "./config/serve-settings.ts";
import { openSharedStore } from "./shared-store.ts";

/**
 * Opens the stores of the settings, and returns the options of the service with them. What closes a store is appended
 * to `closers` when it is open. Rejects with the failure of a store that does not work.
 */
export async function openStores(
  {
    service,
    sessionStore,
    lockStore,
    linkStore,
    quota,
    quotaStore,
    trash,
    versions,
    idempotency,
    answerStore,
  }: ServeSettings,
  closers: (() => unknown)[],
): Promise<FileServiceOptions> {
  async function open(named: NamedStore | undefined): Promise<AtomicKeyValueStore | undefined> {
    if (named === undefined) return undefined;
    const { store, close } = await openSharedStore(named.store, named.key);
    closers.push(close);
    return store;
  }

  const { session, webdav, links, storage, ...options } = service;
  const sessions = await open(sessionStore);
  const locks = (await open(lockStore)) ?? sessions;
  const linksKept = await open(linkStore);
  const counts = await open(quotaStore);
  const answers = (await open(answerStore)) ?? createMemoryKeyValueStore();
  const counted = quota && createQuotaStorage(storage, { ...quota, ...(counts && { store: counts }) });
  const versioned = versions && createVersionsStorage(counted ?? storage, versions);
  const kept = trash && createTrashStorage(versioned ?? counted ?? storage, trash);
  return {
    ...options,
    storage: kept ?? versioned ?? counted ?? storage,
    ...(counted && { quota: counted.quota }),
    ...(versioned && { versions: versioned.versions }),
    ...(kept && { trash: kept.trash }),
    ...(idempotency && { idempotency: { ...idempotency, store: answers } }),
    ...(session !== undefined && { session }),
    ...(sessions && { session: { ...session, store: sessions } }),
    ...(webdav && { webdav: { ...webdav, ...(locks && { lockStore: locks }) } }),
    ...(links && { links: { ...links, ...(linksKept && { store: linksKept }) } }),
  };
}
