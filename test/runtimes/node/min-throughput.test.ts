import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { type ConnectionOptions, connect as tlsConnect } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createNodeServer, type NodeServerOptions } from "../../../src/runtimes/node/server.ts";
import { createFileService } from "../../../src/service/service.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { hasOpenssl, makeCertificate } from "../../support/certificates.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { basic } from "../../support/service.ts";
import {
  connectWire,
  deferred,
  delay,
  eventually,
  listen,
  PlainResponse as Response,
  serve,
  stubService,
  type WireClient,
} from "./setup.ts";

/** Only the minimum throughput: silence alone cuts nothing here. */
const MINIMUM_ONLY = { idleSeconds: 0, minBytesPerSecond: 1000, throughputWindowSeconds: 0.4 };
const OFF = { ...MINIMUM_ONLY, minBytesPerSecond: 0 };
const get = "GET /home/a HTTP/1.1\r\nHost: x\r\n\r\n";
const put = (length: number): string => `PUT /home/a HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

/** Sends a byte now and then; the returned function returns how many were sent. */
function drip(client: WireClient, bytes: number, everyMilliseconds: number): () => number {
  let count = 0;
  const timer = setInterval(() => {
    if (count === bytes || client.socket.destroyed) return clearInterval(timer);
    count += 1;
    client.send("x");
  }, everyMilliseconds);
  onTestFinished(() => clearInterval(timer));
  return () => count;
}

/** Responds with the number of bytes that arrived. */
async function count(request: Request): Promise<Response> {
  return new Response(`${(await request.arrayBuffer()).byteLength} bytes`);
}

/** A service over a folder of the disk, and its events. */
async function serveFolder(): Promise<{ port: number; folder: string; events: FileEvent[] }> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-pace-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const logger = createRecordingLogger();
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
  const events: FileEvent[] = [];
  const service = createFileService({
    storage: createDiskStorage({ root: folder }),
    authentication: createAccountsAuthenticator({ accounts, logger }),
    logger,
    onEvent: (event) => void events.push(event),
  });
  return { port: await listen(createNodeServer(service, MINIMUM_ONLY) as never), folder, events };
}

/** A certificate in a folder that is removed after the test. */
async function makeTls(): Promise<{ key: Buffer; cert: Buffer }> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-pace-tls-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { key, cert } = makeCertificate(folder);
  return { key: await readFile(key), cert: await readFile(cert) };
}

/** How many descriptors this process has below a folder. */
function descriptorsOf(folder: string): number {
  return readdirSync("/proc/self/fd").filter((fd) => readLink(`/proc/self/fd/${fd}`).startsWith(`${folder}/`)).length;
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

describe("an upload that comes too slowly, by a byte now and then", () => {
  it("is cut as a silent one is, however often a byte comes", async () => {
    const failed = deferred<unknown>();
    const { port } = await serve(async (request) => {
      await request.arrayBuffer().catch(failed.resolve);
      return new Response("never seen");
    }, MINIMUM_ONLY);
    const client = await connectWire(port);
    client.send(put(1_000_000));
    drip(client, 1_000_000, 20);
    expect((await client.ended()).text).toBe("");
    expect(await failed.promise).toMatchObject({ code: "ECONNRESET" });
  });

  it("leaves the previous file, no temporary file, no descriptor, and its event", async () => {
    const { port, folder, events } = await serveFolder();
    await writeFile(join(folder, "a"), "previous");
    const client = await connectWire(port);
    client.send(put(1_000_000).replace("\r\n\r\n", `\r\nAuthorization: ${basic("alice", "secret")}\r\n\r\n`));
    drip(client, 1_000_000, 20);
    await client.ended();
    await eventually(() => events.some(({ id }) => id === 40022), "the event of a failed upload");
    expect(events.map(({ id }) => id)).toEqual([40007, 40021, 40022]);
    await eventually(() => readdirSync(folder).length === 1, "the temporary file to be gone");
    expect(await readFile(join(folder, "a"), "utf8")).toBe("previous");
    expect(descriptorsOf(folder)).toBe(0);
  });

  it("is cut also after a fast start, which counts for one window at most", async () => {
    const { port } = await serve(count, MINIMUM_ONLY);
    const client = await connectWire(port);
    client.send(put(1_000_000));
    client.send("x".repeat(200_000));
    drip(client, 1_000_000, 20);
    expect((await client.ended()).text).toBe("");
  });

  it("is cut in chunks whose frames are larger than what they hold", async () => {
    const { port } = await serve(count, { ...MINIMUM_ONLY, minBytesPerSecond: 200 });
    const client = await connectWire(port);
    client.send("PUT /home/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    const timer = setInterval(() => client.socket.destroyed || client.send(`${"0".repeat(12)}1\r\nx\r\n`), 20);
    onTestFinished(() => clearInterval(timer));
    expect((await client.ended()).text).toBe("");
  });

  it("is accepted at any speed without a minimum", async () => {
    const { port } = await serve(count, OFF);
    const client = await connectWire(port);
    client.send(put(40));
    drip(client, 40, 20);
    expect(await client.until("bytes")).toContain("40 bytes");
  });
});

describe("an upload that comes slowly, but fast enough", () => {
  it("is accepted, however many windows it takes", async () => {
    const { port } = await serve(count, { ...MINIMUM_ONLY, minBytesPerSecond: 100 });
    const client = await connectWire(port);
    client.send(put(15_000));
    for (let sent = 0; sent < 15_000; sent += 500) {
      client.send("x".repeat(500));
      await delay(50);
    }
    expect(await client.until("bytes")).toContain("15000 bytes");
  });

  it("may stand still for less than a window", async () => {
    const { port } = await serve(count, { ...MINIMUM_ONLY, minBytesPerSecond: 100, throughputWindowSeconds: 1.5 });
    const client = await connectWire(port);
    client.send(put(2000));
    for (let turn = 0; turn < 4; turn++) {
      client.send("x".repeat(500));
      await delay(600);
    }
    expect(await client.until("bytes")).toContain("2000 bytes");
  });

  it("does not spend credit while the service is working", async () => {
    const { port } = await serve(async (request) => {
      const reader = request.body?.getReader();
      let size = 0;
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
        size += part.value.byteLength;
        // As long as two windows; the client has sent all it can.
        if (size === part.value.byteLength) await delay(800);
      }
      await delay(800);
      return new Response(`${size} bytes`);
    }, MINIMUM_ONLY);
    const client = await connectWire(port);
    client.send(put(400_000));
    client.send("x".repeat(400_000));
    expect(await client.until("bytes")).toContain("400000 bytes");
  });
});

describe("a download that is read too slowly", () => {
  it("is broken off, and its source is released", async () => {
    let cancels = 0;
    const chunk = new Uint8Array(65_536);
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(chunk),
      cancel() {
        cancels += 1;
      },
    });
    const { port } = await serve(() => new Response(stream), MINIMUM_ONLY);
    const client = await connectWire(port);
    client.socket.pause();
    client.send(get);
    const timer = setInterval(() => client.socket.read(1), 20);
    onTestFinished(() => clearInterval(timer));
    await eventually(() => cancels === 1, "the end of the download");
  });

  it("leaves no descriptor, and its event", async () => {
    const { port, folder, events } = await serveFolder();
    await writeFile(join(folder, "a"), Buffer.alloc(30_000_000));
    const client = await connectWire(port);
    client.socket.pause();
    client.send(get.replace("\r\n\r\n", `\r\nAuthorization: ${basic("alice", "secret")}\r\n\r\n`));
    await eventually(() => descriptorsOf(folder) === 1, "the download to begin");
    await eventually(() => events.some(({ id }) => id === 40018), "the event of a client that is gone");
    await eventually(() => descriptorsOf(folder) === 0, "the descriptor to be closed");
    expect(events.map(({ id }) => id)).toEqual([40007, 40004, 40018]);
  });
});

describe("a download that is read slowly, but fast enough", () => {
  /** Reads a response of 12 MB at about 10 MB a second: longer than a window. */
  async function takeSlowly(options: NodeServerOptions, toSocket: (port: number) => Promise<Socket>): Promise<number> {
    const whole = new Uint8Array(12_000_000);
    const { port } = await serve(() => new Response(whole), {
      ...MINIMUM_ONLY,
      ...options,
      throughputWindowSeconds: 0.5,
    });
    const { socket } = await connectWire(port, await toSocket(port));
    socket.write(get);
    let size = 0;
    socket.on("data", (chunk: Buffer) => {
      size += chunk.byteLength;
      socket.pause();
      setTimeout(() => socket.resume(), chunk.byteLength / 10_000);
    });
    const startedAt = performance.now();
    while (size < whole.byteLength && !socket.destroyed && performance.now() - startedAt < 20_000) await delay(50);
    return size - whole.byteLength;
  }

  it("is sent completely, also if the service gives the body in one piece", async () => {
    expect(await takeSlowly({}, async (port) => connect(port, "127.0.0.1"))).toBeGreaterThan(0);
  }, 30_000);

  it.skipIf(!hasOpenssl())(
    "is sent completely over TLS (openssl makes the certificate)",
    async () => {
      const toSocket = async (port: number): Promise<Socket> => {
        const socket = tlsConnect({ port, host: "127.0.0.1", rejectUnauthorized: false });
        await new Promise((resolve) => socket.once("secureConnect", resolve));
        return socket;
      };
      expect(await takeSlowly({ tls: await makeTls() }, toSocket)).toBeGreaterThan(0);
    },
    30_000,
  );

  it("does not spend credit while the service is working", async () => {
    async function* parts(): AsyncGenerator<Uint8Array> {
      for (let part = 0; part < 3; part++) {
        yield new TextEncoder().encode(`part ${part};`);
        await delay(900);
      }
    }
    const { port } = await serve(
      () => new Response(Readable.toWeb(Readable.from(parts())) as ReadableStream<Uint8Array>),
      MINIMUM_ONLY,
    );
    const client = await connectWire(port);
    client.send(get);
    await client.until("part 1;");
    expect(await client.until("part 2;")).toContain("200 OK");
  });
});

describe.skipIf(process.platform !== "linux")("a download that fills the system's buffers (needs /proc)", () => {
  const whole = new Uint8Array(40_000_000);
  const NONE = { idleSeconds: 0, minBytesPerSecond: 0 };
  const MINIMUM = { ...NONE, minBytesPerSecond: 1000, throughputWindowSeconds: 2 };
  const IDLE = { ...NONE, idleSeconds: 2 };
  const LIMITS: readonly (readonly [what: string, host: string, options: NodeServerOptions, isSecure?: boolean])[] = [
    ["minimum throughput", "127.0.0.1", MINIMUM],
    ["minimum throughput, over IPv6", "::1", MINIMUM],
    ["idle time", "127.0.0.1", IDLE],
    ...(hasOpenssl()
      ? ([
          ["minimum throughput, over TLS", "127.0.0.1", MINIMUM, true],
          ["idle time, over TLS", "127.0.0.1", IDLE, true],
        ] as const)
      : []),
  ];
  /**
   * The system takes megabytes, and then more when a third of its buffer is free: so much must leave within a window.
   */
  const STEADY_BYTES_PER_SECOND = 3_000_000;
  /** A write of one part of a body, and the head of the response. */
  const HELD_BYTES = 65_536 + 1024;

  /** Starts a download whose client reads at a rate, also after a moment in which a busy machine let it read nothing.
   * Returns whether it was cut within the time.
   */
  async function isCut(
    [, host, options, isSecure]: (typeof LIMITS)[number],
    bytesPerSecond: number,
    milliseconds: number,
    isHalfClosed: boolean,
  ): Promise<boolean> {
    let isClosed = false;
    let held = 0;
    const server = createNodeServer(
      stubService(() => new Response(whole)),
      { ...options, ...(isSecure && { tls: await makeTls() }) },
    ) as Server;
    const sockets: Socket[] = [];
    server.on(isSecure ? "secureConnection" : "connection", (own: Socket) => {
      sockets.push(own);
      own.on("close", () => {
        isClosed = true;
      });
    });
    const port = await listen(server, host);
    // The client holds no more than that: the rest waits in the system.
    const socket = isSecure
      ? tlsConnect({ port, host, rejectUnauthorized: false, highWaterMark: 1024 } as ConnectionOptions)
      : connect({ port, host, highWaterMark: 1024 } as NetConnectOpts);
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined);
    const readingSince = performance.now();
    let readBytes = 0;
    const readWhatIsDue = (): void => {
      const due = Math.floor((bytesPerSecond * (performance.now() - readingSince)) / 1000) - readBytes;
      const size = Math.min(due, socket.readableLength);
      if (size > 0) readBytes += (socket.read(size) as Uint8Array).byteLength;
    };
    socket.on("readable", readWhatIsDue);
    socket.write(get);
    const timer = setInterval(readWhatIsDue, 20);
    onTestFinished(() => clearInterval(timer));
    await eventually(() => isHeldFor(port), "something to wait for the client");
    if (isHalfClosed) socket.end();
    for (const startedAt = performance.now(); !isClosed && performance.now() - startedAt < milliseconds; ) {
      held = Math.max(held, ...sockets.map(({ writableLength }) => writableLength));
      await delay(20);
    }
    // Over TLS a half-close ends the connection immediately.
    if (!isHalfClosed) expect(held).toBeGreaterThan(0);
    expect(held, "bytes that the process holds for the client").toBeLessThanOrEqual(HELD_BYTES);
    // After a cut the system does not go on for minutes to offer what it holds.
    expect(isHeldFor(port)).toBe(!isClosed);
    return isClosed;
  }

  /** Whether the system still holds anything for clients of a port. */
  function isHeldFor(port: number): boolean {
    const own = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
    const lines = ["tcp", "tcp6"].flatMap((name) => readFileSync(`/proc/self/net/${name}`, "utf8").split("\n"));
    // sl, local and remote address, state, tx_queue:rx_queue
    const fields = lines.map((line) => line.trim().split(/\s+/));
    return fields.some(([, local, , , queues]) => local?.endsWith(own) && !queues?.startsWith("00000000"));
  }

  /** The limits by which the download was cut. */
  async function findCuts(bytesPerSecond: number, milliseconds: number): Promise<readonly string[]> {
    const isEachCut = await Promise.all(LIMITS.map((limit) => isCut(limit, bytesPerSecond, milliseconds, false)));
    return LIMITS.flatMap(([what], index) => (isEachCut[index] ? [what] : []));
  }

  it("goes on while its client reads steadily", async () => {
    expect(await findCuts(STEADY_BYTES_PER_SECOND, 6000)).toEqual([]);
  }, 20_000);

  it("is cut if its client reads a byte now and then", async () => {
    expect(await findCuts(50, 10_000)).toEqual(LIMITS.map(([what]) => what));
  }, 20_000);

  it("is cut if its client reads nothing", async () => {
    expect(await findCuts(0, 10_000)).toEqual(LIMITS.map(([what]) => what));
  }, 20_000);

  // Over TLS the connection ends with the client's side.
  it("is cut if its client reads nothing and has half-closed the connection", async () => {
    const limits = LIMITS.filter(([, , , isSecure]) => !isSecure);
    const areCut = await Promise.all(limits.map((limit) => isCut(limit, 0, 10_000, true)));
    expect(areCut).toEqual(limits.map(() => true));
  }, 20_000);
});

describe("a kept connection without a request", () => {
  it("is no transfer and needs no throughput", async () => {
    const { port } = await serve(() => new Response("ok"), MINIMUM_ONLY);
    const client = await connectWire(port);
    client.send(get);
    await client.until("ok");
    await delay(900);
    client.send(get);
    await client.until(/ok[\s\S]*ok/);
  });
});
