import cluster, { type Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { writeFile } from "node:fs/promises";
import { Writable } from "node:stream";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ServeOutputs } from "../../../src/cli/commands/serve.ts";
import { readConfigFile } from "../../../src/cli/config/file.ts";
import type { ServeSettings } from "../../../src/cli/config/serve-settings.ts";
import type { PrimaryMessage } from "../../../src/cli/workers/messages.ts";
import { serveByWorkers } from "../../../src/cli/workers/primary.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { configure } from "../../cli/configure.ts";
import { createRecordingLogger } from "../../support/logger.ts";

/** A worker whose process a test plays. */
class PlayedWorker extends EventEmitter {
  readonly received: PrimaryMessage[] = [];
  readonly process = { pid: 1, exitCode: null, signalCode: "SIGKILL", kill: () => this.end() };

  isConnected(): boolean {
    return true;
  }

  send(message: PrimaryMessage): void {
    if (message.type === "stop") this.end();
    else this.received.push(message);
  }

  listen(): void {
    this.emit("message", { type: "listening", url: "http://127.0.0.1:8080/", port: 8080 });
  }

  end(): void {
    this.emit("exit");
    this.emit("disconnect");
  }
}

const workers: PlayedWorker[] = [];

const output = new Writable({ write: (_chunk, _encoding, done) => done() });
const outputs = { stdout: output, stderr: output, quiet: true } as unknown as ServeOutputs;

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
let others: Set<unknown>;
beforeEach(() => {
  workers.length = 0;
  // Not by a mock of the module, which another test file of this process may have loaded.
  vi.spyOn(cluster, "fork").mockImplementation(() => {
    const worker = new PlayedWorker();
    workers.push(worker);
    return worker as unknown as Worker;
  });
  others = new Set(SIGNALS.flatMap((signal) => process.rawListeners(signal)));
});
afterEach(() => {
  vi.mocked(cluster.fork).mockRestore();
  for (const signal of SIGNALS) {
    for (const listener of process.rawListeners(signal)) {
      if (!others.has(listener)) process.off(signal, listener as () => void);
    }
  }
});

it("replaces a worker that ends while the others still start", async () => {
  const logger = createRecordingLogger();
  const authentication = { name: "none", authenticate: async () => ({ outcome: "unknown" as const }) };
  const service = { storage: createMemoryStorage(), authentication, logger };
  const settings: ServeSettings = { host: "127.0.0.1", port: 8080, service };
  const serving = serveByWorkers(settings, 3, outputs);
  await expect.poll(() => workers.length).toBe(1);
  workers[0]?.listen();
  await expect.poll(() => workers.length).toBe(3);
  workers[0]?.end();
  workers[1]?.listen();
  workers[2]?.listen();
  await expect.poll(() => workers.length, { timeout: 5000 }).toBe(4);
  expect(logger.text()).toContain("A worker ended and is replaced.");
  workers[3]?.listen();
  process.emit("SIGTERM", "SIGTERM");
  await serving;
});

it("gives workers the configuration of its start, with the accounts of the last SIGHUP", async () => {
  const accounts = (...names: string[]) => [
    { type: "accounts", accounts: names.map((username) => ({ username, password: `secret of ${username}` })) },
  ];
  const members = { storage: { type: "memory" }, session: { store: "redis://127.0.0.1:1/0" } };
  const file = await configure({ ...members, authentication: accounts("alice") });
  const logger = createRecordingLogger();
  const serving = serveByWorkers(await readConfigFile(file, () => logger), 2, outputs);
  await expect.poll(() => workers.length).toBe(1);
  const [worker] = workers;
  if (worker === undefined) throw new Error("There is no worker.");
  const ask = async () => {
    worker.emit("message", { type: "config" });
    const message = worker.received.pop();
    if (message?.type !== "config") throw new Error("The worker got no configuration.");
    const readConfig = async () => message.config;
    const { sessionStore, idempotency } = await readConfigFile(file, () => logger, {
      worker: {
        readConfig,
        onEvent: () => undefined,
        onRequest: () => undefined,
        withFileLock: (_file, work) => work(),
      },
    });
    expect([sessionStore?.store.kind, idempotency]).toEqual(["redis", undefined]);
    return JSON.stringify(message.config);
  };
  await writeFile(file, JSON.stringify({ idempotency: {}, authentication: accounts("alice", "bob") }));
  expect(await ask()).not.toContain("bob");
  process.emit("SIGHUP", "SIGHUP");
  await expect.poll(() => worker.received.some(({ type }) => type === "reload")).toBe(true);
  worker.received.length = 0;
  expect(await ask()).toContain("bob");
  await writeFile(file, "{");
  process.emit("SIGHUP", "SIGHUP");
  await expect.poll(() => worker.received.some(({ type }) => type === "reload")).toBe(true);
  worker.received.length = 0;
  expect(await ask()).toContain("bob");
  process.emit("SIGTERM", "SIGTERM");
  await serving;
});
