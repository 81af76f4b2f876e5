import type { FileServiceOptions } from "../../config/options.ts";
import { toServiceConfig } from "../../config/service-config.ts";
import { hasCode, isStorageError } from "../../contracts/storage-adapter.ts";
import { isHttpError } from "../../http/http-error.ts";
import { findExpiredFiles } from "../../service/retention.ts";
import { createFileService } from "../../service/service.ts";
import { readWithoutServer } from "../config/without-server.ts";
import { createFailure } from "../failure.ts";
import { escapeLine, escapeText, type Output } from "../log/terminal.ts";
import { openStores } from "../stores.ts";

/** The flags of `fileferry sweep`. */
export interface SweepFlags {
  readonly config: string;
  /** Only print the files that `retention` would remove. */
  readonly dryRun?: true;
}

/**
 * Ends what has expired, as the service does every ten minutes. Rejects with a failure: of status 1 if the storage or a
 * store fails, of status 2 if the configuration is wrong.
 */
export async function runSweep(
  { config, dryRun }: SweepFlags,
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output },
): Promise<void> {
  const settings = await readWithoutServer(config, stderr);
  if (settings.hasOwnStorage) {
    throw createFailure(2, [`${config}: storage: no other process has the files of a storage in memory`]);
  }
  const closers: (() => unknown)[] = [() => Promise.all((settings.sinks ?? []).map((sink) => sink.close()))];
  try {
    const options = await openStores(settings, closers);
    await warnOfMissing(options, stderr);
    if (dryRun) {
      const { storage, retention, clock } = toServiceConfig(options);
      const onDenied = (error: unknown, path: string): void => {
        const reason = isStorageError(error) ? `${error.code}: ${error.message}` : String(error);
        stderr.write(`error: ${escapeText(path)} is left out: ${escapeLine(reason)}\n`);
      };
      for await (const { path, entry } of findExpiredFiles(storage, retention, { now: clock(), onDenied })) {
        stdout.write(`would remove ${escapeText(path)}, ${entry.size} bytes of ${entry.modified.toISOString()}\n`);
      }
      return;
    }
    const service = createFileService(options);
    closers.push(service.close);
    stdout.write(`swept: ${await service.sweep()}\n`);
  } catch (error) {
    throw isStorageError(error) || isHttpError(error) ? createFailure(1, [`error: ${error.message}`]) : error;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** A rule for a folder that does not exist may be a typing error. */
async function warnOfMissing(
  { storage, retention = [] }: Pick<FileServiceOptions, "storage" | "retention">,
  stderr: Output,
): Promise<void> {
  for (const { path } of retention) {
    try {
      if ((await storage.stat(path)) !== undefined) continue;
    } catch (error) {
      // The sweep itself reports what it may not list.
      if (!hasCode(error, "denied")) throw error;
      continue;
    }
    stderr.write(`warning: retention: the folder ${escapeText(path)} does not exist\n`);
  }
}
