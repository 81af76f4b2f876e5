import { statfs } from "node:fs/promises";
import { userInfo } from "node:os";
import { isStorageError, type StorageAdapter } from "../../contracts/storage-adapter.ts";
import { toResolver } from "../config/read/config-file.ts";
import { type Finding, ok, problem, warning } from "../findings.ts";
import type { Examined } from "./examined.ts";

const PROBE_BYTES = 65_536;
/** Less free space is worth a warning. */
const FREE_SPACE_BYTES = 1_073_741_824;
/** What Linux calls file systems in memory: tmpfs and ramfs (statfs(2)). */
const IN_MEMORY: readonly number[] = [0x0102_1994, 0x8584_58f6];

/** Tries what the service does with its storage: it writes, reads, moves and removes a file of its own. */
export async function* examineStorage({ file, config, settings }: Examined): AsyncGenerator<Finding> {
  const { storage = { type: "disk", root: "./files" } } = config;
  yield describeUser();
  if (storage.type === "memory") {
    yield warning("storage", "files are in memory", "use a disk or a bucket for files that must stay");
    return;
  }
  yield* tryStorage(settings.service.storage);
  if (storage.type !== "disk") return;
  yield* examineDisk(toResolver(file)(storage.root));
  if (storage.durability === "rename") {
    const advice = 'set storage.durability to "fsync" if no upload may be lost';
    yield warning("storage.durability", "a power failure may undo an upload that was acknowledged", advice);
  }
}

function describeUser(): Finding {
  if (process.getuid === undefined) return ok("user", userInfo().username);
  const text = `${userInfo().username} (${process.getuid()})`;
  return process.getuid() === 0
    ? warning("user", text, "run the doctor as the user of the service, who has other permissions")
    : ok("user", text);
}

async function* examineDisk(root: string): AsyncGenerator<Finding> {
  const { type, bavail, bsize } = await statfs(root);
  if (IN_MEMORY.includes(type)) {
    yield warning("storage.root", "is a file system in memory", "use one on a device: files end with the machine");
  }
  const free = bavail * bsize;
  const text = `${Math.floor(free / 1_000_000)} MB are free`;
  yield free < FREE_SPACE_BYTES ? warning("storage.root", text, "make room") : ok("storage.root", text);
}

async function* tryStorage(storage: StorageAdapter): AsyncGenerator<Finding> {
  const [first, second] = [toProbePath(), toProbePath()];
  try {
    const startedAt = performance.now();
    const { size } = await storage.write(first, toProbeContent(), { size: PROBE_BYTES, ifNoneMatch: "*" });
    const written = Math.round(performance.now() - startedAt);
    if (size !== PROBE_BYTES || !(await isWhole(storage, first))) throw new Error("what was written cannot be read");
    if (await replaces(storage, first)) {
      yield problem("storage", "a file was created twice", "this file system or bucket does not support conditions");
    }
    await storage.move(first, second);
    if (!(await isWhole(storage, second))) throw new Error("a file that was moved cannot be read");
    await storage.remove(second);
    yield ok("storage", `writes and flushes in ${written} ms, reads, moves and removes`);
  } catch (error) {
    yield problem("storage", (error as Error).message, "let the user of the service read and write in the storage");
    for (const path of [first, second]) await storage.remove(path).catch(() => undefined);
  }
}

/** A path at which no account has anything: homes have no such names. */
export function toProbePath(): string {
  return `/fileferry-doctor-${crypto.randomUUID()}`;
}

/** The content of a probe. */
export async function* toProbeContent(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(PROBE_BYTES).fill(0x2e);
}

async function isWhole(storage: StorageAdapter, path: string): Promise<boolean> {
  const { body } = await storage.read(path);
  let size = 0;
  for await (const chunk of body) size += chunk.byteLength;
  return size === PROBE_BYTES;
}

/** Whether a second write creates the file again, which the condition forbids. */
async function replaces(storage: StorageAdapter, path: string): Promise<boolean> {
  try {
    await storage.write(path, toProbeContent(), { size: PROBE_BYTES, ifNoneMatch: "*" });
    return true;
  } catch (error) {
    if (!isStorageError(error)) throw error;
    return false;
  }
}
