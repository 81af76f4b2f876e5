import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** Whether a Redis is installed, and a name for tests that need it: it says why a test was skipped. */
export const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;
export const redisNote = hasRedis ? "" : " (skipped: redis-server is not installed)";

/** A Redis of one's own, on this machine's loopback, that keeps nothing. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** Ends it; it may be started again on its port. */
  stop(): Promise<void>;
  /** Lets it answer nothing, with its connections open; or again. */
  freeze(isFrozen: boolean): void;
  start(): Promise<void>;
}

/** Keeps nothing on the disk. */
const UNSAVED: readonly string[] = ["--save", "", "--appendonly", "no"];

/** Starts a Redis on a free port, with a password where one is given. */
export async function startRedis(password?: string, flags = UNSAVED): Promise<TestRedis> {
  const port = await findFreePort();
  const secret = password === undefined ? [] : ["--requirepass", password];
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const own = ["--port", String(port), "--bind", "127.0.0.1", ...flags, ...secret];
    const started = spawn("redis-server", own, { stdio: ["ignore", "pipe", "inherit"], cwd: tmpdir() });
    child = started;
    let printed = "";
    started.stdout.on("data", (chunk) => (printed += chunk));
    const deadline = performance.now() + 10_000;
    while (!printed.includes("Ready to accept connections")) {
      if (started.exitCode !== null || performance.now() > deadline) throw new Error(`No Redis: ${printed}`);
      await delay(10);
    }
  }

  async function stop(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  function freeze(isFrozen: boolean): void {
    child?.kill(isFrozen ? "SIGSTOP" : "SIGCONT");
  }

  await start();
  const authority = password === undefined ? "" : `:${password}@`;
  return { url: `redis://${authority}127.0.0.1:${port}`, port, start, stop, freeze };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
