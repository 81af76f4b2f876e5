import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { createNodeServer } from "../../../src/runtimes/node/server.ts";
import { createFileService } from "../../../src/service/service.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { basic } from "../../support/service.ts";
import { amount } from "../../support/trust.ts";
import { connectWire, delay, listen, type WireClient } from "./setup.ts";

const PERMITS = 4;
const AUTHORIZATION = `Host: x\r\nAuthorization: ${basic("alice", "secret")}\r\n`;

const head = (line: string, more = ""): string => `${line} HTTP/1.1\r\n${AUTHORIZATION}${more}\r\n`;
const large = head("GET /home/large");
const REQUESTS: readonly string[] = [
  large,
  large + large,
  head("GET /home/small"),
  head("HEAD /home/large"),
  head("GET /home/large", "If-None-Match: *\r\n"),
  head("GET /home/large", "Range: bytes=0-0,9000000-\r\n"),
  head("GET /home/none"),
  head("GET /home/", "Accept: application/zip\r\n"),
  `${head("PUT /home/new", "Content-Length: 1000\r\n")}some`,
  `${head("PUT /home/new", "Content-Length: 4\r\n")}some`,
  `${head("PUT /home/none/new", "Content-Length: 1000\r\n")}some`,
  head("PUT /home/new", "Content-Length: 4\r\nExpect: 100-continue\r\n"),
  `${head("PUT /home/new", "Transfer-Encoding: chunked\r\n")}4\r\nsome\r\n0\r\n\r\n${large}`,
  `${head("POST /home/", "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000\r\n")}--x\r\n`,
  head("POST /home/", "Content-Type: application/json\r\nContent-Length: 100000\r\n"),
  `${head("POST /home/", "Content-Type: application/json\r\nContent-Length: 100000\r\n")}${" ".repeat(70_000)}`,
];

/** Ways in which a client disconnects. */
const CUTS: readonly ((client: WireClient) => void)[] = [
  ({ socket }) => socket.destroy(),
  ({ socket }) => socket.resetAndDestroy(),
  ({ socket }) => socket.end(),
];

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** How many downloads start before one is refused. */
async function countFree(port: number): Promise<number> {
  const clients: WireClient[] = [];
  try {
    for (;;) {
      const client = await connectWire(port);
      clients.push(client);
      client.send(large);
      const answer = await client.until(/\r\n\r\n/);
      client.socket.pause();
      if (answer.startsWith("HTTP/1.1 503 ")) return clients.length - 1;
    }
  } finally {
    for (const { socket } of clients) socket.destroy();
  }
}

it("releases the permit of each transfer on Node, whenever and however its client disconnects", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-slots-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "large"), Buffer.alloc(20_000_000));
  await writeFile(join(folder, "small"), "small");
  const logger = createRecordingLogger();
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
  const service = createFileService({
    storage: createDiskStorage({ root: folder, durability: "rename" }),
    authentication: createAccountsAuthenticator({ accounts, logger }),
    logger,
    limits: { transfersPerAccount: PERMITS },
  });
  const port = await listen(createNodeServer(service, { lingerSeconds: 0.05 }) as never);

  const trials = amount({ short: 60, long: 2000 });
  for (let seed = 1; seed <= trials; seed++) {
    const random = createRandom(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const clients = await Promise.all(Array.from({ length: PERMITS }, () => connectWire(port)));
    await Promise.all(
      clients.map(async (client) => {
        client.send(pick(REQUESTS));
        if (random() < 0.5) client.socket.pause();
        await delay(random() * 30);
        pick(CUTS)(client);
        client.socket.resume();
        // A client that has only half-closed reads the response, which may be long.
        await delay(20);
        client.socket.destroy();
      }),
    );
    if (seed % 10 === 0 || seed === trials) {
      await expect.poll(() => countFree(port), { timeout: 5000, message: `seed ${seed}` }).toBe(PERMITS);
    }
  }
}, 600_000);
