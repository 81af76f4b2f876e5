import type { AccountFiles } from "../../account/files.ts";
import type { QuotaLimit } from "../../contracts/quota.ts";
import { hasCode } from "../../contracts/storage-adapter.ts";
import { isWithinFolder } from "../../contracts/storage-path.ts";
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

  function plan({ path }: QuotaLimit, { bytes, files: count }: Amount): void {
    const before = planned.get(path);
    planned.set(path, { bytes: bytes + (before?.bytes ?? 0), files: count + (before?.files ?? 0) });
  }

  return async function requireRoom(verb, from, to) {
    if (quota === undefined) return;
    const [old, place] = [files.realPathOf(from), files.realPathOf(to)];
    const isMove = verb === "move";
    // What moves within the folder of a limit is in it already.
    const limits = toLimitsAround(context, place).filter(({ path }) => !isMove || !isWithinFolder(old, path));
    const left = isMove ? toLimitsAround(context, old).filter(({ path }) => !isWithinFolder(place, path)) : [];
    if (limits.length + left.length === 0) return;
    const source = await measure(files, from);
    const replaced = await measure(files, to);
    const more = { bytes: source.bytes - replaced.bytes, files: source.files - replaced.files };
    for (const limit of limits) {
      const { bytes, files: count } = await findUsage(quota, limit.path, [limit]);
      const before = planned.get(limit.path);
      const fits = hasRoom(bytes, more.bytes, before?.bytes) && hasRoom(count, more.files, before?.files);
      if (!fits) throw createError("quota-used-up");
    }
    for (const limit of limits) plan(limit, more);
    for (const limit of left) plan(limit, { bytes: -source.bytes, files: -source.files });
  };
}

/** Whether there is room for more, in addition to what is planned. A change that needs no more always fits. */
function hasRoom({ available }: ShownUsage, more: number, planned = 0): boolean {
  return available === null || more <= 0 || planned + more <= available;
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
      if (!isHidden && !hasCode(error, "not-found", "not-a-folder", "denied")) throw error;
    }
  }
  return { bytes, files: count };
}
