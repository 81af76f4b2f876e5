import { hasCode, type RemoveOptions, StorageError } from "../../contracts/storage-adapter.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import { isOfKind, meetsConditions } from "../conditions.ts";
import type { CopiedObjects } from "../object-store/copied-objects.ts";
import { isKey, type ObjectLocation, toPropertiesKey } from "../object-store/keys.ts";
import { listAllObjects } from "../object-store/member-pages.ts";
import { changeBlob } from "./change.ts";
import type { AzureClient } from "./client.ts";
import { isMissingBlob } from "./errors.ts";
import { headBlob, isAnyBlobBelow } from "./head.ts";
import { listBlobs } from "./list.ts";
import { putFolderMarker } from "./write.ts";

/** How many removals are sent in parallel. */
const MAX_PARALLEL = 16;

/** Removes blobs. */
export interface AzureRemover {
  /** Removes a file, or a folder with everything below it. */
  remove(location: ObjectLocation, conditions: RemoveOptions): Promise<void>;
  /** Removes the blobs of a folder that were copied and, if no others are left, its properties. */
  removeCopied(location: ObjectLocation, copied: CopiedObjects): Promise<void>;
  /** Removes a blob, if there is one. */
  removeBlob(key: string): Promise<void>;
  /** Removes the properties of what is, or was, at a location. */
  removeProperties(location: ObjectLocation): Promise<void>;
}

/** Creates the remover of one storage. */
export function createAzureRemover(client: AzureClient): AzureRemover {
  const { prefix } = client.settings;

  async function remove(location: ObjectLocation, conditions: RemoveOptions): Promise<void> {
    const { parent, key } = location;
    if (parent === undefined) throw new StorageError("denied", "The root folder cannot be removed.");
    const file = await headBlob(client, key);
    if (!isOfKind(file === undefined ? "folder" : "file", conditions)) throw new StorageError("not-found", key);
    if (file === undefined) return removeFolder(location, conditions);
    if (!meetsConditions(file.etag, conditions)) throw new StorageError("precondition-failed", key);
    await keepFolder(parent);
    await removeFile(key, conditions);
    await removeLeftProperties(location);
  }

  async function removeFolder(location: ObjectLocation, { ifMatch }: RemoveOptions, copied?: CopiedObjects) {
    const { key, folder, parent = prefix } = location;
    if (!(await isAnyBlobBelow(client, folder))) throw new StorageError("not-found", key);
    if (ifMatch !== undefined) throw new StorageError("precondition-failed", key);
    await keepFolder(parent);
    for await (const page of listAllObjects((request) => listBlobs(client, request), folder)) {
      const keys = copied === undefined ? page.map((blob) => blob.key) : await copied.select(page);
      await inParallel(keys, { most: MAX_PARALLEL }, removeBlob);
    }
    if (copied?.hasRemaining() !== true) await removeLeftProperties(location);
  }

  /**
   * Gives a marker to a folder that other tools created without one, because its last member may be removed next: it
   * exists only through its members.
   */
  async function keepFolder(folder: string): Promise<void> {
    if (folder === prefix || (await headBlob(client, folder)) !== undefined) return;
    await putFolderMarker(client, folder).catch((error: unknown) => {
      if (!hasCode(error, "precondition-failed")) throw error;
    });
  }

  /** Removes the properties after their member, so that a change at this moment does not leave them. */
  async function removeProperties(location: ObjectLocation): Promise<void> {
    const key = toPropertiesKey(location);
    if (isKey(key)) await removeBlob(key);
  }

  /** Removes the properties of a member that is gone. Its removal has succeeded, so errors are ignored. */
  async function removeLeftProperties(location: ObjectLocation): Promise<void> {
    await removeProperties(location).catch(() => undefined);
  }

  const removeBlob = (key: string): Promise<void> => removeFile(key, {});

  async function removeFile(key: string, { ifMatch }: RemoveOptions): Promise<void> {
    await changeBlob(client, {
      key,
      conditions: ifMatch === undefined ? {} : { ifMatch },
      what: `DELETE ${key}`,
      async send(headers) {
        const own = { "x-ms-delete-snapshots": "include" };
        const response = await client.call({ method: "DELETE", key, headers: { ...headers, ...own } });
        return isMissingBlob(response) && ifMatch === undefined ? { ...response, status: 202 } : response;
      },
    });
  }

  return {
    remove,
    removeCopied: (location, copied) => removeFolder(location, {}, copied),
    removeBlob,
    removeProperties,
  };
}
