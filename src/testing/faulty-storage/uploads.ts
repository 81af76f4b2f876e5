import type { StorageUploads } from "../../contracts/storage-uploads.ts";
import { toFaultyContent } from "./content.ts";
import type { Ask, Signals, UploadVerb } from "./faults.ts";

/** What the uploads need of their storage with faults. */
export interface FaultyUploadsOptions {
  /** Begins a call. `path` is the path of a new upload or of a joined file, otherwise the id of the upload. */
  begin(verb: UploadVerb, path: string): Ask;
  /** Runs a method that returns one result. */
  run<T>(ask: Ask, act: () => Promise<T>, ends?: Signals): Promise<T>;
}

/** Creates uploads that fail as the storage says. A list has the steps of its call alone. */
export function toFaultyUploads(inner: StorageUploads, { begin, run }: FaultyUploadsOptions): StorageUploads {
  async function* list(owner?: string): ReturnType<StorageUploads["list"]> & AsyncGenerator {
    await run(begin("uploads.list", owner ?? ""), async () => undefined);
    yield* inner.list(owner);
  }

  const { read } = inner;

  return {
    create: (key, path, draft) =>
      run(begin("uploads.create", path), () => inner.create(key, path, draft), [draft.signal]),
    find: (key) => run(begin("uploads.find", key.id), () => inner.find(key)),
    append(key, offset, content, options = {}) {
      const { signal } = options;
      const ask = begin("uploads.append", key.id);
      return run(ask, () => inner.append(key, offset, toFaultyContent(content, ask, signal), options), [signal]);
    },
    update: (key, change) => run(begin("uploads.update", key.id), () => inner.update(key, change)),
    complete: (key, options) =>
      run(begin("uploads.complete", key.id), () => inner.complete(key, options), [options?.signal]),
    discard: (key) => run(begin("uploads.discard", key.id), () => inner.discard(key)),
    list,
    ...(read && { read: (key) => toFaultyContent(read(key), begin("uploads.read", key.id), undefined) }),
    ...(inner.join && {
      join: (keys, path, options) =>
        run(begin("uploads.join", path), async () => inner.join?.(keys, path, options) as never, [options?.signal]),
    }),
  };
}
