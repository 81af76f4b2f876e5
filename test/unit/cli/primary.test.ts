import { EventEmitter } from "node:events";
import { Writable } from "node:stream";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ServeOutputs } from "../../../src/cli/commands/serve.ts";
import type { ServeSettings } from "../../../src/cli/config/serve-settings.ts";
import { serveByWorkers } from "../../../src/cli/workers/primary.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createRecordingLogger } from "../../support/logger.ts";

/** A worker whose process a test plays. */
class PlayedWorker extends EventEmitter {
  readonly process = { pid: 1, exitCode: null, signalCode: "SIGKILL", kill: () => this.end() };

  isConnected(): boolean {
    return true;
  }

  send({ type }: { type: string }): void {
    if (type === "stop") this.end();
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
vi.mock("node:cluster", () => ({
  default: {
    fork() {
      const worker = new PlayedWorker();
      workers.push(worker);
      return worker;
    },
  },
}));

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
let others: Set<unknown>;
beforeEach(() => {
  others = new Set(SIGNALS.flatMap((signal) => process.rawListeners(signal)));
});
afterEach(() => {
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
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const outputs = { stdout: output, stderr: output, quiet: true } as unknown as ServeOutputs;
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
