import { hasCode, type StorageAdapter, type StorageEntry } from "../../contracts/storage-adapter.ts";
import { makeFolders } from "./folders.ts";
import { ignoreMissing, listIfFolder } from "./list-folder.ts";
import { readSmallText, writeSmallText } from "./small-texts.ts";
import { createTimedId, isTimedId, toTimeOfId } from "./timed-ids.ts";

/** Where records are, and what the time is. */
export interface RecordSpace {
  readonly storage: StorageAdapter;
  /** The time in milliseconds. */
  readonly clock: () => number;
}

/** How long what has a record may take. A record that is older was left by a crash. */
const COMPLETION_MILLISECONDS = 3_600_000;
/** More than any record, which has two paths and some thousand IDs at most. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Stores a record of what begins, so that another process can end it after a crash. The function that it returns
 * removes the record, and never rejects.
 */
export async function storeTimedRecord(
  { storage, clock }: RecordSpace,
  folder: string,
  record: object,
): Promise<() => Promise<void>> {
  const path = `${folder}/${createTimedId(clock())}`;
  const write = (): Promise<StorageEntry> => writeSmallText(storage, path, JSON.stringify(record));
  const forget = (): Promise<void> => storage.remove(path, { kind: "file", permanent: true }).catch(() => undefined);
  try {
    await write().catch(async (error: unknown) => {
      if (!hasCode(error, "parent-missing")) throw error;
      await makeFolders(storage, folder);
      await write();
    });
  } catch (error) {
    await forget();
    throw error;
  }
  return forget;
}

/**
 * Ends what crashes have left: calls a function with each old record, as its JSON says, and then removes it. A record
 * whose end fails stays, and hinders no other one. Rejects with the first failure, after all others.
 */
export async function endTimedRecords(
  { storage, clock }: RecordSpace,
  folder: string,
  end: (record: unknown) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];

  async function endAt(path: string): Promise<void> {
    const record = await readRecord(storage, path);
    if (record !== undefined) await end(record);
    await storage.remove(path, { kind: "file", permanent: true }).catch(ignoreMissing);
  }

  for await (const batch of listIfFolder(storage, folder)) {
    for (const { name } of batch) {
      if (!isTimedId(name) || clock() - toTimeOfId(name) < COMPLETION_MILLISECONDS) continue;
      await endAt(`${folder}/${name}`).catch((error: unknown) => failures.push(error));
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Returns `undefined` if there is no record, or none that can be read. */
async function readRecord(storage: StorageAdapter, path: string): Promise<unknown> {
  try {
    return JSON.parse((await readSmallText(storage, path, MAX_BYTES)) ?? "");
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, "not-found", "not-a-file")) return undefined;
    throw error;
  }
}
