import { createCipheriv } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { onTestFinished } from "vitest";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { serve } from "../served.ts";
import { amount, reportFigure } from "../trust.ts";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.ts";

const MIB = 1024 ** 2;
/** How large the uploaded file is. It ends in the middle of a block of everything. */
export const FILE_BYTES = amount({ short: 4 * MIB, long: 1024 * MIB }) + 7;
/** How often the link is cut: after the same part of the file each time. */
export const CUTS = amount({ short: 3, long: 20 });

/** A service on a disk behind a link that is cut, and a file to be uploaded. */
export interface BrokenLink {
  readonly proxy: CuttingProxy;
  readonly file: string;
  /** The folder of the service's files. */
  readonly root: string;
  /**
   * Fails unless a file of the service has the same bytes as the uploaded one, and the link was cut as often as it
   * should. Reports what a client has done in how many seconds.
   */
  expectArrived(name: string, client: string): Promise<void>;
}

/** A service that is not of {@link openBrokenLink}. */
export interface LinkedService {
  /** The port that the next connection goes to. */
  next(): number;
  /** The folder of its files. */
  readonly root: string;
  /** How large the uploaded file is. Default: {@link FILE_BYTES}. */
  readonly fileBytes?: number;
}

/** Opens a link for the rest of a test. By default to a service of this process. */
export async function openBrokenLink(service?: LinkedService): Promise<BrokenLink> {
  const { root, next, fileBytes = FILE_BYTES } = service ?? (await serveFolder(await makePlace()));
  const file = join(await makePlace(), "content.bin");
  await writeContent(file, fileBytes);
  const proxy = await startCuttingProxy(next, { bytes: Math.floor(fileBytes / (CUTS + 1)), times: CUTS });
  onTestFinished(() => proxy.close());
  const begin = Date.now();
  return {
    proxy,
    file,
    root,
    async expectArrived(name, client) {
      const seconds = (Date.now() - begin) / 1000;
      if (proxy.cuts() !== CUTS) throw new Error(`The link was cut ${proxy.cuts()} times, and not ${CUTS}.`);
      await expectSameContent(file, join(root, name));
      const row = `Uploads of ${Math.round(fileBytes / MIB)} MiB over a link that is cut ${CUTS} times`;
      reportFigure({ row, what: `by ${client}, byte for byte`, value: seconds, unit: "s" });
    },
  };
}

async function makePlace(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-link-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function serveFolder(root: string): Promise<LinkedService> {
  const served = await serve(createDiskStorage({ root }));
  onTestFinished(() => served.close());
  return { root, next: () => served.port };
}

/** Writes bytes without a pattern, quickly. */
async function writeContent(file: string, bytes: number): Promise<void> {
  const cipher = createCipheriv("aes-128-ctr", Buffer.alloc(16, 1), Buffer.alloc(16));
  async function* zeros(): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; left -= MIB) yield Buffer.alloc(Math.min(left, MIB));
  }
  await pipeline(zeros, cipher, createWriteStream(file));
}

async function expectSameContent(expected: string, found: string): Promise<void> {
  const [one, other] = await Promise.all([stat(expected), stat(found)]);
  if (one.size !== other.size) throw new Error(`The file has ${other.size} bytes, and not ${one.size}.`);
  // Both streams have chunks of the same sizes.
  const chunks = createReadStream(found, { highWaterMark: MIB })[Symbol.asyncIterator]();
  for await (const chunk of createReadStream(expected, { highWaterMark: MIB })) {
    const { value } = await chunks.next();
    if (!(chunk as Buffer).equals(value)) throw new Error("The file has other bytes.");
  }
}
