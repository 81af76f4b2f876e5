import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import { createNodeServer } from "../../src/runtimes/node/server.ts";
import { toNodeListener } from "../../src/runtimes/node.ts";
import { createFileService } from "../../src/service/service.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { listen } from "../runtimes/node/raw-client.ts";
import { AUTHORIZATION } from "../support/served.ts";

const quietLogger = { info() {}, warn() {}, error() {} };
const FILES = 24;
const SIZE = 700_000;

/** A service on files each of which is made of one byte alone. */
async function createService() {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-buffers-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (let index = 0; index < FILES; index += 1)
    await writeFile(join(folder, `${index}`), Buffer.alloc(SIZE, index + 1));
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
  const authentication = createAccountsAuthenticator({ accounts, logger: quietLogger });
  return createFileService({ storage: createDiskStorage({ root: folder }), authentication, logger: quietLogger });
}

/** Downloads a file, or the first `most` bytes of it; how many of the bytes were another file's. */
function download(
  port: number,
  index: number,
  most = Number.POSITIVE_INFINITY,
): Promise<{ size: number; foreign: number }> {
  return new Promise((resolve, reject) => {
    const request = get({ port, path: `/home/${index}`, headers: { Authorization: AUTHORIZATION } }, (response) => {
      let [size, foreign] = [0, 0];
      response.on("data", (chunk: Buffer) => {
        size += chunk.byteLength;
        for (const byte of chunk) if (byte !== index + 1) foreign += 1;
        if (size >= most) request.destroy();
      });
      response.on("close", () => resolve({ size, foreign })).on("error", () => undefined);
    });
    request.on("error", (error) => (most < SIZE ? resolve({ size: 0, foreign: 0 }) : reject(error)));
  });
}

it("downloads that share buffers, cut ones among them, bring each client the bytes of its own file", async () => {
  const port = await listen(createNodeServer(await createService()) as Server);
  for (let round = 0; round < 4; round += 1) {
    const whole = Array.from({ length: FILES }, (_, index) => download(port, index));
    const cut = Array.from({ length: FILES }, (_, index) => download(port, index, 1 + index * 20_000));
    for (const { size, foreign } of await Promise.all(whole)) expect([size, foreign]).toEqual([SIZE, 0]);
    for (const { foreign } of await Promise.all(cut)) expect(foreign).toBe(0);
  }
});

it("what a middleware has put in the place of the response's methods gets chunks that it may keep, and need not say when they passed", async () => {
  const answer = toNodeListener(await createService());
  const kept: Buffer[] = [];
  const server = createNodeServer(async () => new Response());
  server.removeAllListeners("request").on("request", (request: IncomingMessage, response: ServerResponse) => {
    const write = response.write.bind(response) as (chunk: Buffer) => boolean;
    response.write = (chunk: Buffer) => {
      // The tests also fetch the OpenAPI document of each service.
      if (request.url?.startsWith("/home/")) kept.push(chunk);
      return write(chunk);
    };
    answer(request, response);
  });
  const port = await listen(server as Server);
  expect(await download(port, 5)).toEqual({ size: SIZE, foreign: 0 });
  await download(port, 6);
  const bytes = Buffer.concat(kept);
  expect(bytes.subarray(0, 500_000).every((byte) => byte === 6)).toBe(true);
});
