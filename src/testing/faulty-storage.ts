import { sourceOfBytes, toByteSource, toByteStream } from "../contracts/byte-source.ts";
import { type MemberBatches, toBatches, toMembers } from "../contracts/member-batches.ts";
import type {
  ByteRange,
  ContentLocation,
  ListOptions,
  StorageAdapter,
  StorageEntry,
  StoredFile,
  WriteOptions,
} from "../contracts/storage-adapter.ts";
import type { StorageAttributes } from "../contracts/storage-attributes.ts";
import { toStoredFile } from "../contracts/stored-file.ts";
import { toFaultyContent, toFaultySource } from "./faulty-storage/content.ts";
import {
  type Ask,
  applyFault,
  checkFault,
  type DecideFault,
  leave,
  type Signals,
  type StorageVerb,
} from "./faulty-storage/faults.ts";
import { toFaultyUploads } from "./faulty-storage/uploads.ts";

/**
 * Creates a storage that fails as `decide` says, and otherwise behaves like `inner`. It serves tests of code that uses
 * a storage.
 *
 * Without faults it keeps every promise that `inner` keeps. If a read returns its bytes immediately, they are one
 * chunk, and the storage asks `decide` about it when the file is opened. Where `locateContent` leads there are no
 * faults.
 *
 * A method throws `TypeError` for a fault that its step cannot have.
 */
export function createFaultyStorage(inner: StorageAdapter, decide: DecideFault): StorageAdapter {
  const calls = new Map<StorageVerb, number>();

  function begin(verb: StorageVerb, path: string): Ask {
    const number = (calls.get(verb) ?? 0) + 1;
    calls.set(verb, number);
    return (step, count = number) => checkFault(step, decide({ verb, path, step, count }));
  }

  /** Runs a method that returns one result. */
  async function run<T>(ask: Ask, act: () => Promise<T>, ends: Signals = []): Promise<T> {
    await applyFault(ask("call"), ends);
    const result = await act();
    await applyFault(ask("response"), ends);
    return result;
  }

  async function* listBatches(
    path: string,
    options: ListOptions | undefined,
    left: AbortSignal,
  ): AsyncGenerator<readonly StorageEntry[]> {
    const ask = begin("list", path);
    await applyFault(ask("call"), [left]);
    let count = 0;
    for await (const batch of toBatches(inner.list(path, options))) {
      let passed = 0;
      for (const index of batch.keys()) {
        count += 1;
        const fault = ask("entry", count);
        if (fault === undefined) continue;
        if (index > passed) yield batch.slice(passed, index);
        passed = index;
        if ((await applyFault(fault, [left])) === 0) return;
      }
      yield passed === 0 ? batch : batch.slice(passed);
    }
    await applyFault(ask("end"), [left]);
  }

  function list(path: string, options?: ListOptions): MemberBatches {
    const left = new AbortController();
    const members = toMembers(() => listBatches(path, options, left.signal));
    const batches = () => toInterruptible(members.batches(), left);
    return Object.assign(toInterruptible(members, left), { batches });
  }

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    const ask = begin("read", path);
    await applyFault(ask("call"));
    const file = await inner.read(path, range);
    try {
      await applyFault(ask("response"));
      return toFaultyFile(file, ask);
    } catch (error) {
      await release(file);
      throw error;
    }
  }

  function write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options: WriteOptions = {},
  ): ReturnType<StorageAdapter["write"]> {
    const { signal } = options;
    const ask = begin("write", path);
    return run(ask, () => inner.write(path, toFaultyContent(content, ask, signal), options), [signal]);
  }

  function toFaultyAttributes(attributes: StorageAttributes): StorageAttributes {
    return {
      properties: (path) => run(begin("properties", path), () => attributes.properties(path)),
      change: (path, changes) => run(begin("change", path), () => attributes.change(path, changes)),
    };
  }

  const locate = async (path: string): Promise<ContentLocation | undefined> => inner.locateContent?.(path);
  const tagOf = async (path: string): Promise<string | undefined> => inner.listingTag?.(path);

  return {
    stat: (path) => run(begin("stat", path), () => inner.stat(path)),
    list,
    ...(inner.locateContent && {
      locateContent: (path: string) => run(begin("locateContent", path), () => locate(path)),
    }),
    ...(inner.listingTag && { listingTag: (path: string) => run(begin("listingTag", path), () => tagOf(path)) }),
    read,
    write,
    createFolder: (path, options) => run(begin("createFolder", path), () => inner.createFolder(path, options)),
    remove: (path, options) => run(begin("remove", path), () => inner.remove(path, options)),
    copy: (from, to, options) => run(begin("copy", from), () => inner.copy(from, to, options), [options?.signal]),
    move: (from, to, options) => run(begin("move", from), () => inner.move(from, to, options), [options?.signal]),
    ...(inner.attributes && { attributes: toFaultyAttributes(inner.attributes) }),
    ...(inner.uploads && { uploads: toFaultyUploads(inner.uploads, { begin, run }) }),
  };
}

/** Wraps an iterator. If the caller leaves early, pending waits end. */
function toInterruptible<T>(steps: AsyncIterableIterator<T>, left: AbortController): AsyncIterableIterator<T> {
  const interruptible: AsyncIterableIterator<T> = {
    next: () => steps.next(),
    async return() {
      leave(left);
      await steps.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => interruptible,
  };
  return interruptible;
}

/** Returns the same file. Bytes with a fault become a source. */
function toFaultyFile(file: StoredFile, ask: Ask): StoredFile {
  const { entry, source } = file;
  if (source === undefined) return { entry, body: toByteStream(toFaultySource(toByteSource(file.body), ask)) };
  if ("readInto" in source) return toStoredFile(entry, toFaultySource(source, ask));
  const first = source.byteLength === 0 ? undefined : ask("chunk", 1);
  const end = ask("end");
  if (first === undefined && end === undefined) return file;
  const askAgain: Ask = (step, count) => (step === "end" ? end : count === 1 ? first : undefined);
  return toStoredFile(entry, toFaultySource(sourceOfBytes(source), askAgain));
}

async function release(file: StoredFile): Promise<void> {
  if (file.source === undefined) await file.body.cancel();
  else if ("readInto" in file.source) await file.source.close();
}
