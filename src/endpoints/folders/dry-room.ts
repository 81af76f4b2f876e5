import type { AccountFiles } from "../../account/files.ts";
import type { QuotaLimit } from "../../contracts/quota.ts";
import { hasCode } from "../../contracts/storage-adapter.ts";
import { isWithinFolder } from "../../contracts/storage-path.ts";
import { createError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import type { AccountContext } from "../../request/context.ts";
import { findUsage, type ShownUsage, toLimitsAround } from "./quota-usage.ts";

/** Throws HttpError `no-space` unless quotas leave room for a copy or a move, after the commands before it. */
export type RequireRoom = (verb: "copy" | "move", from: readonly string[], to: readonly string[]) => Promise<void>;

/** The room that the commands of one dry run need and free. */
export interface DryRoom {
  readonly requireRoom: RequireRoom;
  /** Runs a removal, which leaves room for the commands after it: the trash gives its files up where there is none. */
  remove(path: readonly string[], run: () => Promise<void>): Promise<void>;
}

/** How much is stored, more or less. */
interface Amount {
  readonly bytes: number;
  readonly files: number;
}

const NOTHING: Amount = { bytes: 0, files: 0 };

const add = (one: Amount, other: Amount, factor: 1 | -1): Amount => ({
  bytes: one.bytes + factor * other.bytes,
  files: one.files + factor * other.files,
});

/** Creates the {@link DryRoom} of one request. */
export function createDryRoom(context: AccountContext): DryRoom {
  const { config, files } = context;
  const { quota } = config;
  /** By the folder of a limit. */
  const planned = new Map<string, Amount>();

  const plannedIn = (folder: string): Amount => planned.get(folder) ?? NOTHING;

  function plan(limits: readonly QuotaLimit[], amount: Amount, factor: 1 | -1): void {
    for (const { path } of limits) planned.set(path, add(plannedIn(path), amount, factor));
  }

  const requireRoom: RequireRoom = async (verb, from, to) => {
    if (quota === undefined) return;
    const [old, place] = [files.realPathOf(from), files.realPathOf(to)];
    const isMove = verb === "move";
    // What moves within the folder of a limit is in it already.
    const limits = toLimitsAround(context, place).filter(({ path }) => !isMove || !isWithinFolder(old, path));
    const left = isMove ? toLimitsAround(context, old).filter(({ path }) => !isWithinFolder(place, path)) : [];
    if (limits.length + left.length === 0) return;
    const source = await measure(files, from);
    const replaced = await measure(files, to);
    const more = add(source, replaced, -1);
    for (const limit of limits) {
      const { bytes, files: count } = await findUsage(quota, limit.path, [limit]);
      const before = plannedIn(limit.path);
      const fits = hasRoom(bytes, more.bytes, before.bytes) && hasRoom(count, more.files, before.files);
      if (!fits) throw createError("quota-used-up");
    }
    plan(limits, more, 1);
    plan(left, source, -1);
  };

  async function remove(path: readonly string[], run: () => Promise<void>): Promise<void> {
    const limits = toLimitsAround(context, files.realPathOf(path));
    const removed = limits.length === 0 ? NOTHING : await measure(files, path);
    await run();
    plan(limits, removed, -1);
  }

  return { requireRoom, remove };
}

/** Whether there is room for more, in addition to what is planned. A change that needs no more always fits. */
function hasRoom({ available }: ShownUsage, more: number, planned: number): boolean {
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
