import { handOnUploads } from "../../contracts/handed-on.ts";
import type { QuotaLimit } from "../../contracts/quota.ts";
import type { DiscardedUpload, StorageUploads, UploadKey, UploadState } from "../../contracts/storage-uploads.ts";
import { type Amount, add, NOTHING, subtract } from "./amount.ts";
import { type ChangingUploads, toNeeded } from "./upload-sum.ts";
import { admit, createFileExchange, type QuotaVerbs } from "./writes.ts";

/** Creates the uploads of a storage with quotas. What an upload will need is reserved as long as it exists. */
export function createQuotaUploads(
  verbs: QuotaVerbs,
  uploads: StorageUploads,
  { run }: ChangingUploads,
): StorageUploads {
  const { admissions } = verbs;

  /** Counts what an upload needs more, or less. With limits, what it needs more has to fit. */
  async function reserveFor(path: string, more: Amount, limits: readonly QuotaLimit[]): Promise<void> {
    const reservation = admissions.open(limits);
    await reservation.raise(more);
    await reservation.settle({ uploads: more }, await admissions.countedAround([path]));
  }

  async function create(...[key, path, draft]: Parameters<StorageUploads["create"]>): Promise<UploadState> {
    return run(key, path, NOTHING, async () => {
      const state = await uploads.create(key, path, draft);
      try {
        await reserveFor(path, toNeeded(state), admissions.limitsOf(path, draft.quota));
      } catch (error) {
        await uploads.discard(key);
        throw error;
      }
      return state;
    });
  }

  async function append(
    ...[key, offset, content, options = {}]: Parameters<StorageUploads["append"]>
  ): Promise<UploadState> {
    const before = await uploads.find(key);
    if (before === undefined || before.size !== undefined) return uploads.append(key, offset, content, options);
    const reservation = admissions.open(admissions.limitsOf(before.path, options.quota));
    const admitted = admit(verbs, content, { reservation, isSized: false });
    return run(key, before.path, toNeeded(before), async () => {
      let after: UploadState | undefined;
      try {
        after = await uploads.append(key, offset, admitted, options);
        return after;
      } finally {
        // What has come before a failure is kept, too.
        after ??= await peek(key).catch(() => undefined);
        const more = after === undefined ? NOTHING : subtract(toNeeded(after), toNeeded(before));
        await reservation.settle({ uploads: more }, await admissions.countedAround([before.path]));
      }
    });
  }

  /** Finds an upload without taking over from another call. */
  async function peek({ owner, id }: UploadKey): Promise<UploadState | undefined> {
    for await (const state of uploads.list(owner)) if (state.key.id === id) return state;
    return undefined;
  }

  async function update(...[key, change]: Parameters<StorageUploads["update"]>): Promise<UploadState> {
    const before = change.size === undefined ? undefined : await uploads.find(key);
    if (before === undefined) return uploads.update(key, change);
    return run(key, before.path, toNeeded(before), async () => {
      const state = await uploads.update(key, change);
      await reserveFor(state.path, subtract(toNeeded(state), toNeeded(before)), []);
      return state;
    });
  }

  async function complete(
    ...[key, options = {}]: Parameters<StorageUploads["complete"]>
  ): ReturnType<StorageUploads["complete"]> {
    const state = await uploads.find(key);
    if (state === undefined || state.done !== undefined) return uploads.complete(key, options);
    const path = options.path ?? state.path;
    const reservation = admissions.open(admissions.limitsOf(path, options.quota));
    const exchange = createFileExchange(verbs, path, reservation);
    return run(key, state.path, toNeeded(state), async () => {
      try {
        await exchange.begin(state.offset, toNeeded(state));
        const entry = await uploads.complete(key, options);
        await exchange.count(entry, subtract(NOTHING, toNeeded(state)));
        return entry;
      } finally {
        exchange.end();
        await reservation.release();
      }
    });
  }

  async function discard(key: UploadKey): Promise<DiscardedUpload | undefined> {
    const state = await uploads.find(key);
    if (state === undefined) return uploads.discard(key);
    return run(key, state.path, toNeeded(state), async () => {
      const discarded = await uploads.discard(key);
      if (discarded === "unfinished") await reserveFor(state.path, subtract(NOTHING, toNeeded(state)), []);
      return discarded;
    });
  }

  const { join, ...others } = handOnUploads(uploads);
  return {
    ...others,
    create,
    append,
    update,
    complete,
    discard,
    ...(join && {
      async join(keys, path, options = {}) {
        const found = await Promise.all(keys.map((key) => uploads.find(key)));
        const states = found.filter((state) => state !== undefined);
        const bytes = states.reduce((sum, { offset }) => sum + offset, 0);
        const reservation = admissions.open(admissions.limitsOf(path, options.quota));
        const exchange = createFileExchange(verbs, path, reservation);
        try {
          if (states.length === keys.length) await exchange.begin(bytes, creditOf(states));
          const entry = await join(keys, path, options);
          await exchange.count(entry);
          return entry;
        } finally {
          exchange.end();
          await reservation.release();
        }
      },
    }),
  };
}

/** What is reserved for the parts of a file. A part may be in it several times. */
function creditOf(states: readonly UploadState[]): Amount {
  const unique = new Map(states.map((state) => [state.key.id, toNeeded(state)]));
  return [...unique.values()].reduce(add, NOTHING);
}
