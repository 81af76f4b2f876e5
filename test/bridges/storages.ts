import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";

/** A storage that bridges are played over. Each call creates an empty one. */
export type PlayedStorage = readonly [name: string, create: () => Promise<StorageAdapter>];

/** The storages that every run plays the bridges over. */
export const STORAGES: readonly PlayedStorage[] = [
  ["memory", async () => createMemoryStorage()],
  ["a disk", async () => createDiskStorage({ root: await createFolder() })],
];

const folders: string[] = [];

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-bridges-"));
  folders.push(folder);
  return folder;
}

export async function removeFolders(): Promise<void> {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
}

/** A storage over another one that signs URLs, as one in a bucket does. */
export function withSignedUrls(storage: StorageAdapter): StorageAdapter {
  const signing: StorageAdapter = {
    ...storage,
    locateContent: async (path) => ({ storage: signing, path, medium: "bucket" }),
  };
  return Object.assign(signing, {
    async presignRead(path: string, request: { readonly seconds: number }): Promise<string | undefined> {
      if ((await storage.stat(path)) === undefined) return undefined;
      return `https://store.example${path}?${new URLSearchParams(Object.entries(request).map(([n, v]) => [n, String(v)]))}`;
    },
  });
}
