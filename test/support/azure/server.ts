import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createAzureClient } from "../../../src/storage/azure/client.ts";
import { toAzureSettings } from "../../../src/storage/azure/options.ts";
import { type AzureStorage, type AzureStorageOptions, createAzureStorage } from "../../../src/storage/azure.ts";
import { projectFolder } from "../built.ts";

const PROGRAM = join(projectFolder, "test/azurite/node_modules/azurite/dist/src/blob/main.js");

/** Why there is no emulator. */
export const azuriteMissing = existsSync(PROGRAM)
  ? undefined
  : "azurite is not installed: npm ci --prefix test/azurite";

/** A container of a running emulator. */
export interface AzureContainer {
  readonly options: AzureStorageOptions;
  /** Stores a blob without any check. */
  put(key: string, text: string): Promise<void>;
  storage(others?: Partial<AzureStorageOptions>): AzureStorage;
  stop(): Promise<void>;
}

/** Starts an emulator that keeps everything in memory, and creates a container. */
export async function createContainer(): Promise<AzureContainer> {
  const [account, key, container] = ["fileferrytests", randomBytes(64).toString("base64"), "files"];
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
  const options = { account, key, container, endpoint: `${await readAddress(child)}/${account}` };
  const client = createAzureClient(toAzureSettings(options));
  const { status } = await client.call({ method: "PUT", query: { restype: "container" } });
  if (status !== 201) throw new Error(`The emulator responded ${status} to a new container.`);

  async function put(key: string, text: string): Promise<void> {
    const body = new TextEncoder().encode(text);
    const stored = await client.call({ method: "PUT", key, body, headers: { "x-ms-blob-type": "BlockBlob" } });
    if (stored.status !== 201) throw new Error(`The emulator responded ${stored.status} to a new blob.`);
  }

  async function stop(): Promise<void> {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill();
    await ended;
  }

  return { options, put, storage: (others) => createAzureStorage({ ...options, ...others }), stop };
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
