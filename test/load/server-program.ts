// The process whose memory and descriptors are looked at: fileferry over a folder, or the least that node:http can do.
// Bundled by server-process.ts.
import { readFile } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import { closeNodeServer, createNodeServer } from "../../src/runtimes/node/server.ts";
import { createFileService } from "../../src/service/service.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { quickHasher } from "../support/quick-hasher.ts";
import type { Answer, Order, Settings } from "./server-process.ts";

/** Beyond any test: a kept connection stays. Node's own is 5 s. */
const KEPT_MILLISECONDS = 3_600_000;
/** What differs by less from look to look is the same. */
const FALLING = 0.99;
const MOST_MILLISECONDS = 15_000;

const settings: Settings = JSON.parse(process.argv[2] ?? "");
const { server, end } = settings.kind === "bare" ? serveBare() : await serveFiles();
server.keepAliveTimeout = KEPT_MILLISECONDS;
server.listen(0, "127.0.0.1", () => tell({ port: (server.address() as AddressInfo).port }));

process.on("message", async (order: Order) => {
  if (order.do === "usage") return tell(await measure(order.settleMilliseconds));
  await end(order.deadlineSeconds);
  // Nothing else may keep the process alive.
  process.disconnect();
});

function tell(answer: Answer): void {
  process.send?.(answer);
}

/**
 * What is still in use once the collector has been everywhere, and given pages back. It does both when it has time, and
 * on a busy machine it has little: so it is looked until nothing has become free for as long as is asked, or it has had
 * its time.
 */
async function measure(settleMilliseconds: number): Promise<Answer> {
  const begun = performance.now();
  let least = Number.POSITIVE_INFINITY;
  let settledAt = begun;
  for (;;) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { heapUsed, external, rss } = process.memoryUsage();
    const live = heapUsed + external;
    const now = performance.now();
    if (live < least * FALLING) [least, settledAt] = [live, now];
    if (now - settledAt >= settleMilliseconds || now - begun >= MOST_MILLISECONDS) return { live, rss };
  }
}

async function serveFiles(): Promise<{ server: Server; end(deadlineSeconds: number): Promise<void> }> {
  const { root, accounts, limits } = settings;
  const logger = {
    info() {},
    warn() {},
    error: (fields: object, text: string) => void process.stderr.write(`${text} ${inspect(fields)}\n`),
  };
  const entries = await Promise.all(
    accounts.map(async (username) => ({
      username,
      password: await quickHasher.hash("secret"),
      home_folder_path: "/",
    })),
  );
  const service = createFileService({
    storage: createDiskStorage({ root }),
    authentication: createAccountsAuthenticator({ accounts: entries, passwordHasher: quickHasher, logger }),
    logger,
  });
  const server = createNodeServer(service, limits) as Server;
  async function end(deadlineSeconds: number): Promise<void> {
    await closeNodeServer(server, { deadlineSeconds });
    await service.close();
  }
  return { server, end };
}

/** Answers with a file as well, so that either server has files, buffers and answers behind it. */
function serveBare(): { server: Server; end(): Promise<void> } {
  const server = createServer((request, response) => {
    readFile(join(settings.root, request.url?.replace("/home", "") ?? ""), (error, content) => {
      response.writeHead(error ? 404 : 200, { "Content-Length": content?.byteLength ?? 0 }).end(content);
    });
  });
  async function end(): Promise<void> {
    server.closeAllConnections();
    server.close();
  }
  return { server, end };
}
