import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AzureRequest, createAzureClient, describeAzureRequest } from "../../../src/storage/azure/client.ts";
import { toAzureSettings } from "../../../src/storage/azure/options.ts";
import { type AzureStorage, type AzureStorageOptions, createAzureStorage } from "../../../src/storage/azure.ts";
import { projectFolder } from "../built.ts";

const PROGRAM = join(projectFolder, "test/azurite/node_modules/azurite/dist/src/blob/main.js");

/** Why no emulator can run here. */
export const azuriteMissing = existsSync(PROGRAM)
  ? undefined
  : "azurite is not installed: npm ci --prefix test/azurite";

/** A container of a running emulator. */
export interface AzureContainer {
  readonly options: AzureStorageOptions;
  /** Stores a blob without any check. */
  put(key: string, text: string): Promise<void>;
  storage(others?: Partial<AzureStorageOptions>): AzureStorage;
  /**
   * Runs some work with another container, and removes that one afterwards: the emulator looks at all of its blobs for
   * each call.
   */
  besides(work: (container: Pick<AzureContainer, "put" | "storage">) => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an emulator that keeps everything in memory, and creates a container. */
export async function createContainer(): Promise<AzureContainer> {
  const [account, key] = ["fileferrytests", randomBytes(64).toString("base64")];
  const flags = [
    "--blobHost",
    "127.0.0.1",
    "--blobPort",
    "0",
    "--inMemoryPersistence",
    "--disableTelemetry",
    "--silent",
  ];
  const child = spawn(process.execPath, [PROGRAM, ...flags], {
    env: { ...process.env, AZURITE_ACCOUNTS: `${account}:${key}` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const endpoint = `${await readAddress(child)}/${account}`;
  let containers = 0;

  function open(container: string) {
    const options = { account, key, container, endpoint };
    const client = createAzureClient(toAzureSettings(options));

    async function call(request: AzureRequest, expected: number): Promise<void> {
      const { status } = await client.call(request);
      if (status !== expected) throw new Error(`The emulator responded ${status} to ${describeAzureRequest(request)}.`);
    }

    return {
      options,
      make: () => call({ method: "PUT", query: { restype: "container" } }, 201),
      remove: () => call({ method: "DELETE", query: { restype: "container" } }, 202),
      put(key: string, text: string): Promise<void> {
        const body = new TextEncoder().encode(text);
        return call({ method: "PUT", key, body, headers: { "x-ms-blob-type": "BlockBlob" } }, 201);
      },
      storage: (others?: Partial<AzureStorageOptions>) => createAzureStorage({ ...options, ...others }),
    };
  }

  const { options, make, put, storage } = open("files");
  await make();

  const besides: AzureContainer["besides"] = async (work) => {
    containers += 1;
    const { make, remove, ...container } = open(`files-${containers}`);
    await make();
    try {
      await work(container);
    } finally {
      await remove();
    }
  };

  async function stop(): Promise<void> {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill();
    await ended;
  }

  return { options, put, storage, besides, stop };
}

/** Waits for the line that says where the emulator listens. */
async function readAddress(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(chunk);
    const [, address] = /listens on (http:\/\/[\d.:]+)/.exec(text) ?? [];
    if (address === undefined) continue;
    child.stdout?.resume();
    return address;
  }
  throw new Error(`The emulator did not start: ${text}`);
}
