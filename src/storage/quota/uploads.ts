import { handOnUploads } from "../../contracts/handed-on.ts";
import type { QuotaLimit } from "../../contracts/quota.ts";
import type { DiscardedUpload, StorageUploads, UploadKey, UploadState } from "../../contracts/storage-uploads.ts";
import type { Reservation } from "./admission.ts";
import { subtract } from "./amount.ts";
import { type CountedUpload, type CountedUploads, toNeeded } from "./counted-uploads.ts";
import { createQuotaJoin } from "./join.ts";
import type { ChangedPart } from "./settlement.ts";
import { admit, createFileCommit, type QuotaInternals } from "./writes.ts";

/** Creates the uploads of a storage with quotas. What an upload will need is reserved as long as it exists. */
export function createQuotaUploads(
  internals: QuotaInternals,
  uploads: StorageUploads,
  counted: CountedUploads,
): StorageUploads {
  const { admissions, counts } = internals;

  /** Runs a call with an upload that is open. */
  async function withOpen<T>(
    key: UploadKey,
    state: Pick<UploadState, "path" | "size" | "offset" | "done">,
    call: (upload: CountedUpload) => Promise<T>,
  ): Promise<T> {
    const upload = counted.open(key, state.path, toNeeded(state));
    try {
      return await call(upload);
    } finally {
      upload.close();
    }
  }

  /** Runs a call below the limits of an upload, and gives back what it has reserved and not counted. */
  async function withReservation<T>(
    path: string,
    quota: QuotaLimit | undefined,
    call: (reservation: Reservation) => Promise<T>,
  ): Promise<T> {
    const reservation = admissions.open(admissions.limitsOf(path, quota));
    try {
      return await call(reservation);
    } finally {
      await reservation.release();
    }
  }

  async function count(reservation: Reservation, change: ChangedPart): Promise<void> {
    await reservation.settle({ uploads: [change] }, await admissions.countedAfter([change.path]));
  }

  function create(...[key, path, draft]: Parameters<StorageUploads["create"]>): Promise<UploadState> {
    return withOpen(key, { path, offset: 0 }, (upload) =>
      withReservation(path, draft.quota, async (reservation) => {
        const state = await uploads.create(key, path, draft);
        upload.begin();
        try {
          await reservation.raise(toNeeded(state));
        } catch (error) {
          await uploads.discard(key);
          throw error;
        }
        await upload.grow(toNeeded(state), (change) => count(reservation, change));
        return state;
      }),
    );
  }

  async function append(
    ...[key, offset, content, options = {}]: Parameters<StorageUploads["append"]>
  ): Promise<UploadState> {
    const before = await uploads.find(key);
    if (before === undefined || before.size !== undefined) return uploads.append(key, offset, content, options);
    return withOpen(key, before, (upload) =>
      withReservation(before.path, options.quota, async (reservation) => {
        let after: UploadState | undefined;
        try {
          const admitted = admit(internals, content, { reservation, isSized: false });
          after = await reservation.during(
            (signal) => uploads.append(key, offset, admitted, signal ? { ...options, signal } : options),
            options.signal,
          );
          return after;
        } finally {
          // What has come before a failure is kept, too.
          after ??= await peek(key).catch(() => undefined);
          await upload.grow(toNeeded(after ?? before), (change) => count(reservation, change));
        }
      }),
    );
  }

  /** Finds an upload without taking over from another call. */
  async function peek({ owner, id }: UploadKey): Promise<UploadState | undefined> {
    for await (const state of uploads.list(owner)) if (state.key.id === id) return state;
    return undefined;
  }

  /** A length that is known now is reserved as at the creation. */
  async function update(...[key, { quota, ...change }]: Parameters<StorageUploads["update"]>): Promise<UploadState> {
    const { size } = change;
    const before = size === undefined ? undefined : await uploads.find(key);
    if (size === undefined || before === undefined) return uploads.update(key, change);
    return withOpen(key, before, (upload) =>
      withReservation(before.path, quota, async (reservation) => {
        const { bytes } = subtract(toNeeded({ ...before, size }), upload.free().amount);
        await reservation.raise({ bytes: Math.max(0, bytes), files: 0 });
        const state = await uploads.update(key, change);
        await upload.grow(toNeeded(state), (more) => count(reservation, more));
        return state;
      }),
    );
  }

  async function complete(
    ...[key, options = {}]: Parameters<StorageUploads["complete"]>
  ): ReturnType<StorageUploads["complete"]> {
    const state = await uploads.find(key);
    if (state === undefined || state.done !== undefined) return uploads.complete(key, options);
    const path = options.path ?? state.path;
    return withOpen(key, state, (upload) =>
      withReservation(path, options.quota, async (reservation) => {
        const commit = createFileCommit(internals, path, reservation);
        try {
          await commit.begin(state.offset, [upload.claim()]);
          const entry = await reservation.during(
            (signal) => uploads.complete(key, signal ? { ...options, signal } : options),
            options.signal,
          );
          await upload.spend((change) => commit.count(entry, [change]));
          return entry;
        } catch (error) {
          await commit.recountIfReplaced(error);
          throw error;
        } finally {
          commit.end();
        }
      }),
    );
  }

  async function discard(key: UploadKey): Promise<DiscardedUpload | undefined> {
    const state = await uploads.find(key);
    if (state === undefined) return discardLost(key);
    return withOpen(key, state, async (upload) => {
      const discarded = await uploads.discard(key);
      if (discarded === "unfinished") await upload.end((change) => count(admissions.open([]), change));
      return discarded;
    });
  }

  /** What is counted of an upload whose folder is gone is not known. */
  async function discardLost(key: UploadKey): Promise<DiscardedUpload | undefined> {
    const state = await peek(key);
    const discarded = await uploads.discard(key);
    if (state !== undefined && discarded === "unfinished") {
      await counts.markStale(await admissions.countedAround([state.path]));
    }
    return discarded;
  }

  const { join, ...others } = handOnUploads(uploads);
  return {
    ...others,
    create,
    append,
    update,
    complete,
    discard,
    ...(join && { join: createQuotaJoin(internals, { ...uploads, join }, counted) }),
  };
}
