import { once } from "node:events";
import { createReadStream, createWriteStream, openAsBlob } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { Upload } from "tus-js-client";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createClient } from "../../../src/client.ts";
import { builtFolder, ensureBuilt, makeFolder } from "../../support/built.ts";
import { type BrokenLink, CUTS, openBrokenLink } from "../../support/links/broken-link.ts";
import { AUTHORIZATION } from "../../support/served.ts";
import { toWorkerBundle } from "../../support/workers/worker-bundle.ts";

const MIB = 1024 ** 2;
/** Three parts of a bucket, and a tail. */
const FILE_BYTES = 17 * MIB + 7;

const WORKER = `
import { createAccountsAuthenticator, createFileService } from "./index.js";
import { createR2Storage } from "./storage/r2.js";
import { toWorkerHandler } from "./workers.js";

export default toWorkerHandler(({ FILES }) => createFileService({
  storage: createR2Storage(FILES, { partBytes: ${5 * MIB} }),
  authentication: createAccountsAuthenticator({
    accounts: [{ username: "alice", password: "secret", home_folder_path: "/" }],
  }),
}));
`;

let script: string;

/** A process of workerd. */
interface Process {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a process over the bucket that Miniflare keeps in a folder. */
async function start(folder: string): Promise<Process> {
  const port = await findFreePort();
  const worker = new Miniflare({
    modules: [{ type: "ESModule", path: join(builtFolder, "worker.js"), contents: script }],
    compatibilityDate: "2026-04-01",
    cf: false,
    r2Buckets: ["FILES"],
    r2Persist: folder,
    unsafeDirectSockets: [{ host: "127.0.0.1", port }],
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      stdout.resume();
      stderr.resume();
    },
  });
  await worker.ready;
  let stopped: Promise<void> | undefined;
  function stop(): Promise<void> {
    stopped ??= worker.dispose();
    return stopped;
  }
  onTestFinished(stop);
  return { port, stop };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await once(server.close(), "close");
  return port;
}

async function expectArrived(link: BrokenLink, port: number, client: string): Promise<void> {
  const headers = { authorization: AUTHORIZATION };
  const { body } = await fetch(`http://127.0.0.1:${port}/home/content.bin`, { headers });
  await pipeline(Readable.fromWeb(body as never), createWriteStream(join(link.root, "content.bin")));
  await link.expectArrived("content.bin", client);
}

/** Miniflare only simulates R2: on a busy machine it sometimes drops a request. */
describe("two processes of workerd over one R2 bucket", { retry: 1 }, () => {
  beforeAll(async () => {
    await ensureBuilt();
    const { outputFiles } = await build(toWorkerBundle(WORKER));
    script = outputFiles[0]?.text ?? "";
  }, 300_000);

  it("take an upload of tus-js-client, in turn for each connection", async () => {
    const folder = await makeFolder();
    const workers = [await start(folder), await start(folder)] as const;
    let connections = 0;
    const next = () => (workers[connections++ % 2] ?? workers[0]).port;
    const link = await openBrokenLink({ root: await makeFolder(), next, fileBytes: FILE_BYTES });
    await new Promise<void>((resolve, reject) => {
      const upload = new Upload(createReadStream(link.file), {
        endpoint: `${link.proxy.origin}/home/`,
        headers: { Authorization: AUTHORIZATION },
        metadata: { filename: "content.bin" },
        chunkSize: Math.ceil(FILE_BYTES / CUTS / 3),
        retryDelays: [0, 100, 200, 400, 800],
        onError: reject,
        onSuccess: () => resolve(),
      });
      upload.start();
    });
    await expectArrived(link, workers[0].port, "tus-js-client, in R2, from two processes in turn");
  });

  it("replace each other: the client continues when one ends in the middle", async () => {
    const folder = await makeFolder();
    let running = await start(folder);
    const link = await openBrokenLink({
      root: await makeFolder(),
      next: () => running.port,
      fileBytes: FILE_BYTES,
    });
    const credentials = { username: "alice", password: "secret" };
    const client = createClient({ baseUrl: link.proxy.origin, credentials });
    let replaced: Promise<void> | undefined;
    async function replace(): Promise<void> {
      await running.stop();
      running = await start(folder);
    }
    await client.put("/content.bin", await openAsBlob(link.file), {
      resumable: true,
      onProgress(sent) {
        if (sent > FILE_BYTES / 2) replaced ??= replace();
      },
    });
    expect(replaced).toBeDefined();
    await replaced;
    await expectArrived(link, running.port, "fileferry/client, in R2, with a process that ends in the middle");
  });
});
