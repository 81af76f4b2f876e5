import { type BigIntStats, fstatSync } from "node:fs";
import type { UploadState } from "../../../contracts/storage-uploads.ts";
import { watchSteps } from "../../../contracts/watch-steps.ts";
import { BIGINT } from "../system-calls.ts";
import { writeContent } from "../write-content.ts";
import { toStateOf } from "./convert.ts";
import type { UploadLock } from "./lock.ts";
import type { DiskUploadAccess } from "./open.ts";
import type { DiskUpload, UploadStates } from "./states.ts";

type Content = AsyncIterable<Uint8Array>;

/** Where an append stores its content. */
export interface AppendTarget {
  readonly upload: DiskUpload;
  readonly descriptor: number;
  readonly offset: number;
  readonly signal: AbortSignal;
}

/** Stores the content of appends. */
export interface ContentStore {
  /** Stores content as it arrives. What has arrived stays, even if the content fails. */
  store(target: AppendTarget, content: Content): Promise<UploadState>;
  /** Stores content if its check passes, else nothing. */
  storeChecked(target: AppendTarget, content: Content, verify: () => Promise<void>): Promise<UploadState>;
}

/** Creates the {@link ContentStore} of a disk storage. */
export function createContentStore(access: DiskUploadAccess, states: UploadStates): ContentStore {
  async function store({ upload, descriptor, offset }: AppendTarget, content: Content): Promise<UploadState> {
    let stats: BigIntStats;
    try {
      await writeContent(descriptor, content, { position: offset, keepsPart: true });
    } finally {
      stats = await access.flushOnce(upload.key, descriptor);
    }
    return toStateOf(upload, stats);
  }

  /** The state says meanwhile that the bytes do not count. */
  async function storeChecked(
    { upload, descriptor, offset, signal }: AppendTarget,
    content: Content,
    verify: () => Promise<void>,
  ): Promise<UploadState> {
    const checked = { ...upload, checkedTo: offset };
    await states.write(checked);
    try {
      await writeContent(descriptor, content, { position: offset });
      await verify();
      signal.throwIfAborted();
      await access.flush(descriptor);
    } catch (error) {
      await access.truncateTo(descriptor, offset);
      await access.withoutCheck(checked);
      throw error;
    }
    return toStateOf(await access.withoutCheck(checked), fstatSync(descriptor, BIGINT));
  }

  return { store, storeChecked };
}

/** Passes content on, and stops when another process wants the upload. */
export function watched(content: Content, lock: UploadLock): Content {
  return watchSteps(() => content, { onStep: () => lock.check() });
}
