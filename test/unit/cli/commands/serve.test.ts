import { Writable } from "node:stream";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type ServeOutputs, serve } from "../../../../src/cli/commands/serve.ts";
import type { ServeSettings } from "../../../../src/cli/config/serve-settings.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { createRecordingLogger } from "../../../support/logger.ts";

/** Settings whose start waits until `finish` is called. */
function toSlowSettings(): { settings: ServeSettings; finish: () => void } {
  let finish = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const logger = createRecordingLogger();
  const settings: ServeSettings = {
    host: "127.0.0.1",
    port: 0,
    checkStorage: () => slow,
    service: {
      storage: createMemoryStorage(),
      authentication: { name: "none", authenticate: async () => ({ outcome: "unknown" }) },
      logger,
    },
  };
  return { settings, finish };
}

function createOutputs(): { outputs: ServeOutputs; written: () => string } {
  let text = "";
  const output = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  const outputs = { stdout: output, stderr: output, quiet: true } as unknown as ServeOutputs;
  return { outputs, written: () => text };
}

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

describe("the start of serve", () => {
  beforeEach(() => {
    const others = new Set(SIGNALS.flatMap((signal) => process.rawListeners(signal)));
    onTestFinished(() => {
      for (const signal of SIGNALS) {
        for (const listener of process.rawListeners(signal)) {
          if (!others.has(listener)) process.off(signal, listener as () => void);
        }
      }
    });
  });

  it("opens no port after a SIGTERM that comes before it has ended", async () => {
    const { settings, finish } = toSlowSettings();
    const { outputs, written } = createOutputs();
    const serving = serve(settings, outputs);
    await new Promise(setImmediate);
    process.emit("SIGTERM", "SIGTERM");
    await serving;
    finish();
    await new Promise(setImmediate);
    expect(written()).toBe("");
  });

  it("remembers a SIGHUP that comes before the service can read anything again", async () => {
    const { settings, finish } = toSlowSettings();
    let reads = 0;
    const reloads = {
      tlsFiles: [],
      tlsVersion: "",
      readTls: async () => undefined,
      currentConfig: () => ({ authentication: [] }),
      async readAccounts() {
        reads += 1;
      },
    };
    const { outputs, written } = createOutputs();
    const serving = serve({ ...settings, reloads }, outputs);
    await new Promise(setImmediate);
    process.emit("SIGHUP", "SIGHUP");
    expect(reads).toBe(0);
    finish();
    await expect.poll(() => reads).toBe(1);
    await expect.poll(written).toContain("Listening on");
    process.emit("SIGTERM", "SIGTERM");
    await serving;
  });
});
