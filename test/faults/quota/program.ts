import { createClient } from "redis";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { createS3Storage, type S3StorageOptions } from "../../../src/storage/s3.ts";
import { createRedisStore } from "../../../src/stores/redis.ts";

/*
 * A process that stores files of random sizes in a storage with a quota, many at once, and says what became of them:
 *
 *     stored NAME    a file is there
 *     refused NAME   it did not fit
 *
 * It replaces, moves and removes only files of its own: of two processes that change one path at the same moment a
 * count may be wrong until a recount.
 */

/** What the process gets as its one argument. */
export interface Work {
  /** Begins the names of its files. */
  readonly name: string;
  readonly storage: { readonly root: string } | { readonly s3: S3StorageOptions };
  readonly redis: string;
  readonly limit: { readonly bytes: number; readonly files: number };
  readonly maxFileBytes: number;
  /** How many files it stores, and how many at once. */
  readonly files: number;
  readonly atOnce: number;
  /** Whether it also replaces, moves and removes files. */
  readonly changes: boolean;
  /** How many seconds pass for the quota in one, and since when, in milliseconds. Default: the time of the system. */
  readonly clock?: { readonly speed: number; readonly since: number };
  /** How long it takes to send each file, in milliseconds. Default: short, and another time for each. */
  readonly slowMs?: number;
}

const work: Work = JSON.parse(process.argv[2] ?? "");
const client = createClient({ url: work.redis });
client.on("error", () => undefined);
await client.connect();
const inner = "s3" in work.storage ? createS3Storage(work.storage.s3) : createDiskStorage(work.storage);
const storage = createQuotaStorage(inner, {
  store: createRedisStore(client),
  folders: [{ path: "/", ...work.limit }],
  stepBytes: 1000,
  clock: () => toTime(work.clock),
});

function toTime({ speed, since }: NonNullable<Work["clock"]> = { speed: 1, since: 0 }): number {
  return since + (Date.now() - since) * speed;
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit);
}

async function* content(bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; ) {
    const size = Math.min(left, 1 + below(2000));
    yield new Uint8Array(size);
    left -= size;
    if (below(3) === 0) await new Promise((resolve) => setTimeout(resolve, below(4)));
  }
}

async function say(name: string, change: () => Promise<unknown>): Promise<void> {
  const outcome = await change().then(
    () => "stored",
    (error: { readonly code?: string }) => {
      if (error.code === "no-space") return "refused";
      if (error.code === "not-found") return "missing";
      throw error;
    },
  );
  process.stdout.write(`${outcome} ${name}\n`);
}

async function* slowContent(bytes: number, milliseconds: number): AsyncGenerator<Uint8Array> {
  process.stdout.write("sending\n");
  for (let part = 0; part < 10; part += 1) {
    yield new Uint8Array(bytes / 10);
    await new Promise((resolve) => setTimeout(resolve, milliseconds / 10));
  }
}

function store(name: string): Promise<void> {
  const { maxFileBytes: size, slowMs } = work;
  if (slowMs !== undefined) return say(name, () => storage.write(`/${name}`, slowContent(size, slowMs), { size }));
  const bytes = below(work.maxFileBytes);
  const options = below(2) === 0 ? { size: bytes } : {};
  return say(name, () => storage.write(`/${name}`, content(bytes), options));
}

async function change(name: string): Promise<void> {
  const path = `/${name}`;
  const changes = [
    () => store(name),
    () => say(name, () => storage.remove(path)),
    () => say(name, () => storage.move(path, `${path}-moved`, { replace: true })),
    () => say(name, () => storage.copy(path, `${path}-copy`, { replace: true })),
  ];
  await changes[below(changes.length)]?.();
}

let next = 0;
async function writer(): Promise<void> {
  while (next < work.files) {
    const name = `${work.name}-${next++}`;
    await store(name);
    if (work.changes) await change(name);
  }
}

await Promise.all(Array.from({ length: work.atOnce }, writer));
await client.close();
