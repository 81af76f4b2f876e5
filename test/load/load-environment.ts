import { mkdir, mkdtemp, readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NodeServerLimits } from "../../src/runtimes/node/server-limits.ts";
import { type Client, delay, eventually, get, logIn, openAll, openClient, put } from "./clients.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import { type SlowClient, sendSlowly, takeSlowly } from "./slow-clients.ts";

/** A server with clients. Its folder has a small file, a large one, and the files that uploads replace. */
export interface LoadEnvironment {
  readonly server: ServerProcess;
  /** Connections that have had the small file each, and stay. */
  openIdle(count: number): Promise<readonly Client[]>;
  /** Asks for the small file. */
  toGet(index: number): string;
  /** Writes one of eight files, none of the others. */
  toPut(index: number): string;
  /** Starts uploads of the files, from the first on. Resolves when all have started. */
  beginUploads(): Promise<readonly SlowClient[]>;
  /** Starts downloads of the large file. Resolves when all have started. */
  beginReaders(count: number): Promise<readonly SlowClient[]>;
  /** How many downloads have the large file open. */
  readersOpen(): number;
  /** How many temporary files of uploads there are. */
  countTemporary(): Promise<number>;
  /**
   * Returns how many files have all of their new content, and how many all of their old content. Any other file has
   * neither.
   */
  readUploads(): Promise<{ readonly whole: number; readonly former: number }>;
}

/** What is served, and how. */
export interface LoadEnvironmentOptions {
  readonly kind?: "fileferry" | "bare";
  readonly uploads: number;
  readonly limits?: NodeServerLimits;
}

const UPLOAD_BYTES = 256 * 1024;
/** More than the systems of both sides take of it by themselves. */
const LARGE_BYTES = 32 * 1024 * 1024;
/** Enough accounts for 500 uploads within the default number of transfers per account. */
const ACCOUNTS = ["alice", "bob", "carol", "dave"];
/** How long anything may take to begin, on a machine with other things to do. */
const PATIENCE_MILLISECONDS = 120_000;

/** Fills a folder of its own in the given one, and serves it from another process. */
export async function createLoadEnvironment(
  program: string,
  folder: string,
  { kind = "fileferry", uploads, limits = {} }: LoadEnvironmentOptions,
): Promise<LoadEnvironment> {
  const root = await mkdtemp(join(folder, "root-"));
  const [upFolder, large] = [join(root, "up"), join(root, "large")];
  await fill(root, uploads);
  const server = await startServer(program, { kind, root, accounts: ACCOUNTS, limits });
  const isOwn = kind === "fileferry";
  const sessions = isOwn ? await Promise.all(ACCOUNTS.map((account) => logIn(server.port, account))) : [];

  const sessionOf = (index: number): string => sessions[index % sessions.length] ?? "";
  const toGet = (index: number): string => get("/home/small", sessionOf(index));
  const toPut = (index: number): string => `${put(`/home/other-${index % 8}`, sessionOf(index), 4)}text`;
  const readersOpen = (): number => server.descriptors(large);

  async function openIdle(count: number): Promise<readonly Client[]> {
    return openAll(count, async (index) => {
      const client = await openClient(server.port);
      const { status } = await client.exchange(toGet(index));
      if (status !== 200) throw new Error(`Answered ${status}`);
      return client;
    });
  }

  async function beginUploads(): Promise<readonly SlowClient[]> {
    const begun = await openAll(uploads, (index) =>
      sendSlowly(server.port, { path: `/home/up/${index}`, session: sessionOf(index), content: toContent(index) }),
    );
    for (let waited = 0; (await countTemporary()) < uploads; waited += 50) {
      if (waited > PATIENCE_MILLISECONDS) throw new Error("Not all uploads began.");
      await delay(50);
    }
    return begun;
  }

  async function beginReaders(count: number): Promise<readonly SlowClient[]> {
    const begun = await openAll(count, (index) => takeSlowly(server.port, "/home/large", sessionOf(index)));
    await eventually("the downloads", PATIENCE_MILLISECONDS, () => readersOpen() === count);
    return begun;
  }

  async function countTemporary(): Promise<number> {
    return (await readdir(upFolder)).filter((name) => name.endsWith(".tmp")).length;
  }

  async function readUploads(): Promise<{ whole: number; former: number }> {
    const kept = { whole: 0, former: 0 };
    for (let index = 0; index < uploads; index += 1) {
      const content = await readFile(join(upFolder, String(index)));
      if (content.equals(toContent(index))) kept.whole += 1;
      if (content.equals(Buffer.from(toFormer(index)))) kept.former += 1;
    }
    return kept;
  }

  return { server, openIdle, toGet, toPut, beginUploads, beginReaders, readersOpen, countTemporary, readUploads };
}

async function fill(root: string, uploads: number): Promise<void> {
  await mkdir(join(root, "up"));
  await writeFile(join(root, "small"), "x".repeat(1024));
  await writeFile(join(root, "large"), "");
  await truncate(join(root, "large"), LARGE_BYTES);
  await openAll(uploads, (index) => writeFile(join(root, "up", String(index)), toFormer(index)));
}

function toFormer(index: number): string {
  return `former content of ${index}`;
}

function toContent(index: number): Buffer {
  return Buffer.alloc(UPLOAD_BYTES, `new content of ${index};`);
}
