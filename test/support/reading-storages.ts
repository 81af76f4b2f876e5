import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { CONTENT, contentOf, MODIFIED } from "./conditional-read-rows.ts";
import { fillStorage, overrideStorage } from "./storage.ts";

/** A storage with the files of the table in its root. */
export interface ReadingStorage {
  readonly storage: StorageAdapter;
  close(): Promise<void>;
}

/** The storages that the table of reading is compared with. */
export const readingStorages: Readonly<Record<string, () => Promise<ReadingStorage>>> = {
  memory: createMemory,
  disk: createDisk,
  "an adapter of streams alone": async () => {
    const { storage, close } = await createMemory();
    return { storage: withStreamsAlone(storage), close };
  },
};

/** Returns what an adapter without sources would give. */
export function withStreamsAlone(base: StorageAdapter): StorageAdapter {
  return overrideStorage(base, {
    async read(path, range) {
      const { entry, body } = await base.read(path, range);
      return { entry, body };
    },
  });
}

async function createMemory(): Promise<ReadingStorage> {
  const storage = createMemoryStorage({ clock: () => MODIFIED });
  await fill(storage);
  return { storage, close: async () => undefined };
}

async function createDisk(): Promise<ReadingStorage> {
  const root = await mkdtemp(join(tmpdir(), "fileferry-reading-"));
  const storage = createDiskStorage({ root, durability: "rename" });
  await fill(storage);
  for (const file of ["data.bin", "empty.txt"]) await utimes(join(root, file), MODIFIED / 1000, MODIFIED / 1000);
  return { storage, close: () => rm(root, { recursive: true }) };
}

async function fill(storage: StorageAdapter): Promise<void> {
  await fillStorage(storage, { "/data.bin": CONTENT, "/empty.txt": contentOf("empty.txt") });
}
