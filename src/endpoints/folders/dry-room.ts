import type { AccountFiles } from "../../account/files.ts";
import { isStorageError } from "../../contracts/storage-adapter.ts";
import { isWithinFolder, parentOf } from "../../contracts/storage-path.ts";
import { createError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import type { AccountContext } from "../../request/context.ts";
import { findUsage, type ShownUsage, toLimitsAround } from "./quota-usage.ts";

/** Throws unless quotas leave room for a copy or a move, in addition to those before it in the same dry run. */
export type RequireRoom = (verb: "copy" | "move", from: readonly string[], to: readonly string[]) => Promise<void>;

/** How much is stored. */
interface Amount {
  readonly bytes: number;
  readonly files: number;
}

/** Creates the check of one dry run. Its function throws HttpError `no-space`. */
export function createRoomCheck(context: AccountContext): RequireRoom {
  const { config, files } = context;
  const { quota } = config;
  /** By the folder of a limit. */
  const planned = new Map<string, Amount>();

  return async function requireRoom(verb, from, to) {
    const place = files.realPathOf(from);
    // What moves within the folder of a limit is in it already.
    const limits = toLimitsAround(context, parentOf(files.realPathOf(to))).filter(
      ({ path }) => verb === "copy" || !isWithinFolder(place, path),
    );
    if (quota === undefined || limits.length === 0) return;
    const [source, replaced] = [await measure(files, from), await measure(files, to)];
    const sums = new Map<string, Amount>();
    for (const limit of limits) {
      const before = planned.get(limit.path);
      const sum = {
        bytes: Math.max(0, source.bytes - replaced.bytes) + (before?.bytes ?? 0),
        files: Math.max(0, source.files - replaced.files) + (before?.files ?? 0),
      };
      const usage = await findUsage(quota, limit.path, [limit]);
      if (!hasRoom(usage.bytes, sum.bytes) || !hasRoom(usage.files, sum.files)) throw createError("quota-used-up");
      sums.set(limit.path, sum);
    }
    for (const [path, sum] of sums) planned.set(path, sum);
  };
}

function hasRoom({ available }: ShownUsage, needed: number): boolean {
  return available === null || needed === 0 || needed <= available;
}

/** What is at a path. What the account may not see does not count. */
async function measure(files: AccountFiles, path: readonly string[]): Promise<Amount> {
  const kind = await files.kindOf(path);
  if (kind === "file") return { bytes: (await files.inspect(path))?.entry.size ?? 0, files: 1 };
  let [bytes, count] = [0, 0];
  const waiting = kind === undefined ? [] : [path];
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
      const isHidden = isHttpError(error) && error.failure === "denied";
      if (!isHidden && !isStorageError(error)) throw error;
    }
  }
  return { bytes, files: count };
}
