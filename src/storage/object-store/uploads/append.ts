import { hasCode, StorageError } from "../../../contracts/storage-adapter.ts";
import type { AppendOptions } from "../../../contracts/storage-uploads.ts";
import { receive } from "../../content.ts";
import { limitAppend } from "../../upload-checks.ts";
import type { ContentReader } from "../content-reader.ts";
import type { UploadMemory } from "../part-memory.ts";
import { type ObjectPart, toParts } from "../parts.ts";
import type { UploadBucket } from "./bucket.ts";
import { behindTail, type Thrown, toReader, untilFailure } from "./content.ts";
import { createPartSender, type PartSender } from "./part-sender.ts";
import { createRunningUpload, type RunningUpload, type UploadStep } from "./running-upload.ts";
import type { ObjectUploadStates, UploadVersion } from "./states.ts";
import { type StoredParts, type StoredTail, type StoredUpload, toClosed, toPartCount } from "./stored-upload.ts";

/** How an append ends early. */
export interface AppendControls {
  /** Aborts when another call wants the upload, or the caller gives up. */
  readonly signal: AbortSignal;
  /** Has that signal abort with `locked`. */
  stop(): void;
  /** Frees an upload that the bucket does not know any more. `false`: another caller has changed it. */
  lose(version: UploadVersion): Promise<boolean>;
}

/** What an append has stored in the bucket. It counts when the state names it. */
interface StoredContent {
  readonly tags: readonly string[];
  readonly tail: StoredTail | undefined;
}

/** An append, and what it works with. */
interface RunningAppend {
  readonly open: RunningUpload;
  /** The state with which it began. */
  readonly before: StoredUpload;
  readonly sender: PartSender;
  readonly memory: UploadMemory;
  /** Ends it, also while it waits for memory. */
  readonly signal: AbortSignal;
}

/** A signal that follows another one until it is unlinked. */
interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(error: unknown): void;
  unlink(): void;
}

/** Adds content to an upload that is open. Returns its new state. */
export type Append = (
  version: UploadVersion,
  content: AsyncIterable<Uint8Array>,
  options: AppendOptions,
  controls: AppendControls,
) => Promise<StoredUpload>;

/** Creates the {@link Append} of a storage. */
export function createAppend(bucket: UploadBucket, states: ObjectUploadStates): Append {
  const { clock } = bucket;

  return async function append(version, content, options, { signal, stop, lose }) {
    const open = createRunningUpload(states, version, stop);
    const ended = createLinkedSignal(signal);
    const memory = bucket.memory.open({ owner: options.owner, signal: ended.signal, end: ended.abort });
    const sender = createPartSender(bucket, toPartCount(version.upload) + 1);
    try {
      const chunks = limitAppend(receive(content, { signal: ended.signal }), options);
      const running = { open, sender, memory, before: version.upload, signal: ended.signal };
      return await store(running, chunks, options.verify);
    } catch (error) {
      if (!hasCode(sender.failure()?.error, "not-found")) throw error;
      // Without a part that counts nothing is lost: the next append begins another multipart upload.
      if (toPartCount(open.current()) === 0)
        throw new StorageError("unavailable", "Its parts are gone.", { cause: error });
      if (!(await lose(open.version()))) throw new StorageError("locked");
      throw error;
    } finally {
      ended.unlink();
      memory.close();
    }
  };

  async function store(
    running: RunningAppend,
    chunks: AsyncIterable<Uint8Array>,
    verify: AppendOptions["verify"],
  ): Promise<StoredUpload> {
    const { open, before, sender, signal } = running;
    const arriving = untilFailure(chunks);
    // Checked content is noted only at its end.
    const endWatch = open.watch(() => (verify === undefined ? toNewParts(running) : undefined));
    const sent = await sendFullParts(running, behindTail(bucket, before.tail, arriving.chunks)).finally(endWatch);
    let failure = sent.failure ?? arriving.failure() ?? (await failureOf(verify, signal));
    /** If checked content fails, nothing of it counts. */
    const isKept = (): boolean => verify === undefined || failure === undefined;
    const tail = isKept() ? await putTail(before, sent.rest).catch(keepFailure) : undefined;
    const content = { tags: sender.tags(), tail };
    const stored = await open
      .note((upload) => toClosed(isKept() ? withContent(upload, before, content) : upload))
      .catch(async (error: unknown) => {
        // Another process has taken over. It knows of this tail only if the state has it: the note may have arrived.
        if (tail && hasCode(error, "locked"))
          await states.read(before.key).then(
            (found) => removeTail(tail, found?.upload),
            () => undefined,
          );
        throw isKept() ? error : failure?.error;
      });
    await removeTail(before.tail, stored);
    if (failure !== undefined) throw failure.error;
    return stored;

    /** The parts count also if the bytes after them cannot be stored. */
    function keepFailure(error: unknown): undefined {
      failure ??= { error };
    }
  }

  /** Sends the full parts of content. If nothing fails, the rest is what is left: less than a part. */
  async function sendFullParts(
    running: RunningAppend,
    content: AsyncIterable<Uint8Array>,
  ): Promise<{ readonly rest?: ObjectPart; readonly failure?: Thrown }> {
    const { before, sender, signal } = running;
    const reader = toReader(content);
    let rest: ObjectPart | undefined;
    let failure: Thrown | undefined;
    try {
      rest = await sendUntilRest(running, reader);
      // An append that ends while it waits for memory may have read only some of the tail, which then stays.
      if (before.tail !== undefined && reader.position() <= before.tail.bytes) signal.throwIfAborted();
    } catch (error) {
      failure = { error };
    }
    await sender.settle();
    await reader.close();
    failure = sender.failure() ?? failure;
    if (failure !== undefined) return { failure };
    return rest === undefined ? {} : { rest };
  }

  async function sendUntilRest(
    { open, before, sender, memory }: RunningAppend,
    reader: ContentReader,
  ): Promise<ObjectPart | undefined> {
    const key = states.toPartsKey(before);
    const sent = toPartCount(before);
    let parts: Pick<StoredParts, "id" | "partBytes"> | undefined = sent > 0 ? before.parts : undefined;
    const partBytes = parts?.partBytes ?? bucket.toPartBytes(before.size);
    const bytesOf = (number: number): number => bucket.bytesOf(partBytes, sent + number);
    const cut = { bytesOf, maxParts: Number.POSITIVE_INFINITY, size: undefined, keepsArrived: true } as const;
    for await (const part of toParts(reader, cut, memory)) {
      if (part.byteLength === 0) return undefined;
      if (before.isWhole === true) throw new StorageError("unsupported", "The upload was joined already.");
      if (part.byteLength < bytesOf(part.number)) return part;
      parts ??= await begin(open, partBytes);
      await sender.send({ key, id: parts.id }, sent + part.number, part);
      if (sender.failure() !== undefined) return undefined;
    }
    return undefined;
  }

  /** Begins the multipart upload, and notes it before it has a part. */
  async function begin(open: RunningUpload, partBytes: number): Promise<StoredParts> {
    const { mark, parts: unused } = open.current();
    const key = states.toPartsKey(open.current());
    const parts: StoredParts = { id: (await bucket.begin(key, mark)).id, partBytes, tags: [] };
    try {
      await open.note((current) => ({ ...current, parts }));
    } catch (error) {
      await bucket.abort({ key, id: parts.id }).catch(() => undefined);
      throw error;
    }
    // An earlier append has started it, and stored nothing that counts.
    if (unused !== undefined) await bucket.abort({ key, id: unused.id }).catch(() => undefined);
    return parts;
  }

  async function putTail({ key }: StoredUpload, part: ObjectPart | undefined): Promise<StoredTail | undefined> {
    if (part === undefined) return undefined;
    const tail = { key: states.toTailKey(key), bytes: part.byteLength };
    await bucket.putBytes(tail.key, part.bytes());
    part.release();
    return tail;
  }

  /** Removes a tail that is not in the current state: its bytes are in a part now or in a new tail, or do not count. */
  async function removeTail(tail: StoredTail | undefined, current: StoredUpload | undefined): Promise<void> {
    if (tail === undefined || tail.key === current?.tail?.key) return;
    await bucket.removeObjects([tail.key]).catch(() => undefined);
  }

  /** Returns a step that notes the parts that have arrived since the last note. */
  function toNewParts({ open, before, sender }: RunningAppend): UploadStep {
    const tags = sender.tags();
    const noted = toPartCount(open.current()) - toPartCount(before);
    if (tags.length === noted) return undefined;
    return (upload: StoredUpload): StoredUpload => withContent(upload, before, { tags, tail: undefined });
  }

  /** Returns the state with what an append has stored after the parts of the state before it. */
  function withContent(upload: StoredUpload, before: StoredUpload, { tags, tail }: StoredContent): StoredUpload {
    const { parts, tail: _, ...others } = upload;
    if (tags.length === 0 && tail === undefined) return upload;
    return {
      ...others,
      ...(parts && { parts: { ...parts, tags: [...(before.parts?.tags ?? []), ...tags] } }),
      ...(tail && { tail }),
      modified: clock(),
    };
  }
}

/** Returns why checked content must not count. */
async function failureOf(verify: AppendOptions["verify"], signal: AbortSignal): Promise<Thrown | undefined> {
  if (verify === undefined) return undefined;
  try {
    await verify();
    signal.throwIfAborted();
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** A signal that aborts with another one, and can be aborted by itself. */
function createLinkedSignal(outer: AbortSignal): LinkedSignal {
  const controller = new AbortController();
  const end = (): void => controller.abort(outer.reason);
  if (outer.aborted) end();
  outer.addEventListener("abort", end, { once: true });
  return {
    signal: controller.signal,
    abort: (error) => controller.abort(error),
    unlink: () => outer.removeEventListener("abort", end),
  };
}
