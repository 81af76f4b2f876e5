import { createDiskStorage } from "../../../storage/disk.ts";
import { createMemoryStorage } from "../../../storage/memory.ts";
import { addProblem, type ConfigContext } from "../context.ts";
import type { ConfigFile } from "../schema.ts";
import { findFolderProblem, type ServeSettings, warnOfClosedFolder } from "../serve-settings.ts";
import { openAzureStorage } from "./azure.ts";
import { createDiskProbe } from "./probe.ts";
import { openS3Storage } from "./s3.ts";

/** Adds a problem if the folder of a storage cannot be served. */
export async function checkStorageFolder(
  storage: NonNullable<ConfigFile["storage"]>,
  context: ConfigContext,
): Promise<void> {
  if (storage.type !== "disk") return;
  const problem = await findFolderProblem(context.toPath(storage.root));
  if (problem !== undefined) addProblem(context, "storage.root", problem);
}

/**
 * Opens the storage, and its check at the start. Problems of a remote storage are added to the context. Only the code
 * of the storage that is used is loaded.
 */
export async function openStorage(
  storage: NonNullable<ConfigFile["storage"]>,
  context: ConfigContext,
): Promise<Pick<ServeSettings, "checkStorage" | "probeStorage"> & Pick<ServeSettings["service"], "storage">> {
  if (storage.type === "memory") return { storage: createMemoryStorage() };
  if (storage.type === "disk") {
    const { type, root: given, ...options } = storage;
    const root = context.toPath(given);
    const checkStorage = (): Promise<void> => warnOfClosedFolder(root, context.logger);
    return { storage: createDiskStorage({ ...options, root }), checkStorage, probeStorage: createDiskProbe(root) };
  }
  const made = await (storage.type === "azure" ? openAzureStorage(storage) : openS3Storage(storage, process.env));
  if ("check" in made) return { storage: made, checkStorage: made.check, probeStorage: made.check };
  for (const problem of made) addProblem(context, "storage", problem);
  return { storage: createMemoryStorage() };
}
