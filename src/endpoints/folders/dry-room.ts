import type { AccountFiles } from "../../account/files.ts";
import { isStorageError } from "../../contracts/storage-adapter.ts";
import { parentOf } from "../../contracts/storage-path.ts";
import { createError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import type { AccountContext } from "../../request/context.ts";
import { findUsage, type ShownUsage, toLimitsAround } from "./quota-usage.ts";

/** Throws unless quotas leave room for a copy, in addition to the copies before it in the same dry run. */
export type RequireRoom = (from: readonly string[], to: readonly string[]) => Promise<void>;

/** How much is stored. */
interface Amount {
  readonly bytes: number;
  readonly files: number;
}

const NOTHING: Amount = { bytes: 0, files: 0 };

/** Creates the check of one dry run. Its function throws HttpError `no-space`. */
export function createRoomCheck(context: AccountContext): RequireRoom {
  const { config, files } = context;
  const { quota } = config;
  let planned = NOTHING;

  return async function requireRoom(from, to) {
    const folder = parentOf(files.realPathOf(to));
    const limits = toLimitsAround(context, folder);
    if (quota === undefined || limits.length === 0) return;
    const [source, replaced] = [await measure(files, from), await measure(files, to)];
    const bytes = planned.bytes + Math.max(0, source.bytes - replaced.bytes);
    const count = planned.files + Math.max(0, source.files - replaced.files);
    const usage = await findUsage(quota, folder, limits);
    if (!hasRoom(usage.bytes, bytes) || !hasRoom(usage.files, count)) throw createError("quota-used-up");
    planned = { bytes, files: count };
  };
}

function hasRoom({ available }: ShownUsage, needed: number): boolean {
  return available === null || needed === 0 || needed <= available;
}

/** What is at a path. What the account may not see does not count. */
async function measure(files: AccountFiles, path: readonly string[]): Promise<Amount> {
  const kind = await files.kindOf(path);
  if (kind === undefined) return NOTHING;
  if (kind === "file") return { bytes: (await files.inspect(path))?.entry.size ?? 0, files: 1 };
  let [bytes, count] = [0, 0];
  const waiting = [path];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    try {
      for await (const { name, kind: own, size } of files.list(folder, undefined, "long")) {
        if (own === "folder") waiting.push([...folder, name]);
        if (own !== "file") continue;
        bytes += size;
        count += 1;
      }
    } catch (error) {
      // Removed meanwhile, or not to be seen.
      if (!isStorageError(error) && !isDenied(error)) throw error;
    }
  }
  return { bytes, files: count };
}

function isDenied(error: unknown): boolean {
  return isHttpError(error) && error.failure === "denied";
}
