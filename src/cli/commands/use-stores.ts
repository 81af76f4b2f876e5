import { isStorageError, type StorageErrorCode } from "../../contracts/storage-adapter.ts";
import { toPathSegments } from "../../contracts/storage-path.ts";
import { readWithoutServer } from "../config/without-server.ts";
import { createFailure } from "../failure.ts";
import { escapeText, type Output } from "../log/terminal.ts";
import { openStores } from "../stores.ts";

/** What a command works on. */
export interface ConfiguredPart {
  readonly config: string;
  /** The key of the configuration that must be there. */
  readonly key: "quota" | "trash";
  readonly stderr: Output;
  /** Makes the text of a failure of the storage. */
  toProblem(code: StorageErrorCode, message: string): string;
}

/**
 * Opens the storage of a configuration with its wrappers for a command, and closes it after the work. Rejects with a
 * failure: of status 1 if the storage fails, of status 2 if the configuration is wrong.
 */
export async function useStores(
  { config, key, stderr, toProblem }: ConfiguredPart,
  work: (stores: Awaited<ReturnType<typeof openStores>>) => Promise<void>,
): Promise<void> {
  const {
    sinks = [],
    sessionStore: _sessions,
    lockStore: _locks,
    ...settings
  } = await readWithoutServer(config, stderr);
  if (settings[key] === undefined) throw createFailure(2, [`${config}: ${key}: is missing`]);
  if (settings.hasOwnStorage) {
    throw createFailure(2, [`${config}: storage: no other process has the files of a storage in memory`]);
  }
  const closers: (() => unknown)[] = [() => Promise.all(sinks.map((sink) => sink.close()))];
  try {
    await work(await openStores(settings, closers));
  } catch (error) {
    throw isStorageError(error) ? createFailure(1, [`error: ${toProblem(error.code, error.message)}`]) : error;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Rejects a path of a flag that is not canonical, with status 2. */
export function requireCanonical(path: string): void {
  try {
    toPathSegments(path);
  } catch {
    throw createFailure(2, [`error: ${escapeText(path)} is not a canonical path, such as /shared`]);
  }
}
