import { describe, expect, it } from "vitest";
import { type StorageAdapter, StorageError } from "../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { storageCases } from "../../src/testing/storage-cases.ts";

type Content = AsyncIterable<Uint8Array>;

/** Storages that break one promise of the contract each. */
const BROKEN: Readonly<Record<string, (whole: StorageAdapter) => Partial<StorageAdapter>>> = {
  "commits what came before the content broke off": (whole) => ({
    write: async (path, content, { size: _, ...options } = {}) => whole.write(path, upToFailure(content), options),
  }),
  "does not count the bytes": (whole) => ({
    write: (path, content, { size: _, ...options } = {}) => whole.write(path, content, options),
  }),
  "does not hear the signal": (whole) => ({
    write: (path, content, { signal: _, ...options } = {}) => whole.write(path, content, options),
  }),
  "does not know If-Match": (whole) => ({
    write: (path, content, { ifMatch: _, ...options } = {}) => whole.write(path, content, options),
  }),
  "does not know If-None-Match": (whole) => ({
    write: (path, content, { ifNoneMatch: _, ...options } = {}) => whole.write(path, content, options),
  }),
  "takes the content before it looks at the place": (whole) => ({
    write: async (path, content, options) => whole.write(path, again(await all(content)), options),
  }),
  "makes missing parents": (whole) => ({
    write: async (path, content, options) => {
      const parent = path.slice(0, path.lastIndexOf("/")) || "/";
      if ((await whole.stat(parent)) === undefined) await whole.createFolder(parent);
      return whole.write(path, content, options);
    },
  }),
  "makes a folder that is there": (whole) => ({
    createFolder: (path) => except("already-exists", whole.createFolder(path)),
  }),
  "removes what is not there": (whole) => ({ remove: (path) => except("not-found", whole.remove(path)) }),
  "does not know the kind of a removal": (whole) => ({
    remove: (path, { kind: _, ...options } = {}) => whole.remove(path, options),
  }),
  "judges the kind of a removal some time before it": (whole) => ({
    remove: async (path, { kind, ...options } = {}) => {
      if (kind !== undefined) {
        if ((await whole.stat(path))?.kind !== kind) throw new StorageError("not-found");
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      await whole.remove(path, options);
    },
  }),
  "lists members twice": (whole) => ({
    async *list(path) {
      for await (const entry of whole.list(path)) yield* [entry, entry];
    },
  }),
  "lists a missing folder as empty": (whole) => ({
    async *list(path) {
      if ((await whole.stat(path)) !== undefined) yield* whole.list(path);
    },
  }),
  "reads the whole file for a range": (whole) => ({ read: (path) => whole.read(path) }),
  "has one entity-tag for all": (whole) => ({
    stat: async (path) => {
      const entry = await whole.stat(path);
      return entry?.etag === undefined ? entry : { ...entry, etag: '"same"' };
    },
  }),
  "normalises names": (whole) => ({
    stat: (path) => whole.stat(path.normalize("NFC")),
    write: (path, content, options) => whole.write(path.normalize("NFC"), content, options),
  }),
  "is blind to case": (whole) => ({
    stat: (path) => whole.stat(path.toLowerCase()),
    read: (path, range) => whole.read(path.toLowerCase(), range),
    write: (path, content, options) => whole.write(path.toLowerCase(), content, options),
  }),
};

describe("the storage cases", () => {
  it.each(Object.entries(BROKEN))("find a storage that %s", async (_, breakIt) => {
    const failures: string[] = [];
    for (const { name, needs, run } of storageCases.filter((one) => !/10,000|2,000|deep/.test(one.name))) {
      if (needs === "makeLink") continue;
      const whole = createMemoryStorage();
      const storage = { ...whole, ...breakIt(whole) };
      const context = { storage, strongTags: true, atomicConditions: true } as const;
      const late = new Promise<string>((resolve) => setTimeout(resolve, 2000, "late").unref());
      const outcome = await Promise.race([
        run(context).then(
          () => "passed",
          () => "failed",
        ),
        late,
      ]);
      if (outcome !== "passed") failures.push(name);
      if (failures.length > 0) break;
    }
    expect(failures).not.toEqual([]);
  });
});

async function* upToFailure(content: Content): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch {
    // The end, as far as this storage knows.
  }
}

async function all(content: Content): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return chunks;
}

async function* again(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function except(code: string, work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof StorageError) || error.code !== code) throw error;
  });
}
