import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { FileService } from "../../../src/contracts/file-service.ts";
import { closeNodeServer, createNodeServer } from "../../../src/runtimes/node/server.ts";
import { toNodeListener, toNodeMiddleware } from "../../../src/runtimes/node.ts";
import { createFileService } from "../../../src/service/service.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { AUTHORIZATION } from "../../support/served.ts";
import {
  connectWire,
  deferred,
  delay,
  eventually,
  listen,
  PlainResponse as Response,
  serve,
  stubService,
} from "./setup.ts";

const get = "GET /home/a HTTP/1.1\r\nHost: x\r\n\r\n";

/** A client that asks for as much as it gets, for ever. */
async function ask(port: number, depth: number): Promise<{ ended: Promise<unknown>; text(): string }> {
  const client = await connectWire(port);
  client.socket.on("data", (chunk) => {
    const answers = chunk.toString("latin1").match(/HTTP\/1\.1/g)?.length ?? 0;
    if (client.socket.writable) client.send(get.repeat(answers));
  });
  client.send(get.repeat(depth));
  const ended = new Promise((resolve) => client.socket.once("close", resolve));
  return { ended, text: client.text };
}

/** Seconds until a server is closed. */
async function secondsToClose(...args: Parameters<typeof closeNodeServer>): Promise<number> {
  const begun = performance.now();
  await closeNodeServer(...args);
  return (performance.now() - begun) / 1000;
}

describe("a server that closes", () => {
  it.each([1, 2, 10])("ends under clients that always have %i requests on their way", async (depth) => {
    let begun = 0;
    let ended = 0;
    const { server, port } = await serve(async () => {
      begun += 1;
      await delay(20);
      ended += 1;
      return new Response("whole");
    });
    const clients = await Promise.all(Array.from({ length: 4 }, () => ask(port, depth)));
    await delay(100);
    // An idle connection is closed at once, without a word.
    await eventually(() => begun - ended === clients.length, "a request of each client");
    const before = begun;
    expect(await secondsToClose(server)).toBeLessThan(5);
    await Promise.all(clients.map((client) => client.ended));
    // One more where an answer's head was out already.
    expect(begun - before).toBeLessThanOrEqual(4);
    for (const client of clients) expect(client.text()).toMatch(/Connection: close\r\n(?:[^\r]+\r\n)*\r\nwhole$/i);
  });

  it("says so in each answer, whatever the service says of the connection, and in a failure", async () => {
    const go = deferred();
    const { server, port } = await serve(async (request) => {
      await go.promise;
      if (request.url.endsWith("bad")) return new Response("x", { headers: { "Content-Length": "100" } });
      return new Response("whole", { headers: { Connection: "keep-alive" } });
    });
    const texts = [get, get.replace("/a", "/bad"), get.replace("GET", "HEAD"), get.replace("/home/a", "http://[")];
    const clients = await Promise.all(texts.map(() => connectWire(port)));
    for (const [index, client] of clients.entries()) client.send(texts[index] as string);
    await delay(50);
    const closed = closeNodeServer(server);
    go.resolve();
    for (const [index, client] of clients.entries()) {
      const { text } = await client.ended();
      if (index === 3) continue;
      expect(text.match(/^connection: .*$/gim), texts[index]).toEqual([expect.stringMatching(/^connection: close$/i)]);
    }
    await closed;
  });

  it("is a host's: its own routes end their connections, too", async () => {
    const middleware = toNodeMiddleware(stubService(() => new Response("whole")));
    const server = createServer((req, res) => {
      middleware(req, res, () => {
        res.write("begun ");
        setTimeout(() => res.end("ended"), 100);
      });
    });
    const client = await connectWire(await listen(server));
    const text = get.replace("/home", "/other");
    client.send(text);
    await client.until("begun");
    const closing = secondsToClose(server);
    // The head of the first answer was out already.
    client.send(text);
    expect((await client.ended()).text).toMatch(/ended[\s\S]*\r\nConnection: close\r\n[\s\S]*ended/i);
    expect(await closing).toBeLessThan(5);
  });
});

describe("a server that listens again", () => {
  it.each([
    ["of our own", createNodeServer],
    ["of a host's", (service: FileService) => createServer(toNodeListener(service))],
  ])("keeps its connections as before (%s)", async (_whose, createHost) => {
    const server = createHost(stubService(() => new Response("whole"))) as Server;
    await new Promise<void>((resolve) => server.listen(0, resolve));
    await closeNodeServer(server);
    const client = await connectWire(await listen(server));
    client.send(get + get);
    expect(await client.until(/whole[\s\S]*whole/)).not.toMatch(/^connection: close/im);
  });
});

describe("the deadline of a server that closes", () => {
  it.each([
    ["of our own", createNodeServer],
    ["of a host's", (service: FileService) => createServer(toNodeListener(service))],
  ])(
    "cuts an upload that drips, which leaves the former file and nothing beside it, on a server %s",
    async (_whose, createHost) => {
      const root = await mkdtemp(join(tmpdir(), "fileferry-closing-"));
      onTestFinished(() => rm(root, { recursive: true }));
      await writeFile(join(root, "a"), "former");
      const logger = createRecordingLogger();
      const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
      const authentication = createAccountsAuthenticator({ accounts, logger });
      const service = createFileService({ storage: createDiskStorage({ root }), authentication, logger });
      const server = createHost(service) as Server;
      const port = await listen(server);
      const client = await connectWire(port);
      const fields = `Host: x\r\nAuthorization: ${AUTHORIZATION}\r\nContent-Length: 1000000\r\n`;
      client.send(`PUT /home/a HTTP/1.1\r\n${fields}\r\n`);
      const drip = setInterval(() => client.send("x"), 20);
      onTestFinished(() => clearInterval(drip));
      await eventually(() => client.socket.bytesWritten > 0);
      while ((await readdir(root)).length === 1) await delay(5);
      const seconds = await secondsToClose(server, { deadlineSeconds: 0.3 });
      expect(seconds).toBeGreaterThan(0.25);
      expect(seconds).toBeLessThan(5);
      // By now, and not a little later: the process may end here.
      expect(await readdir(root)).toEqual(["a"]);
      expect(await readFile(join(root, "a"), "utf8")).toBe("former");
      expect((await client.ended()).text).toBe("");
    },
  );

  it.each(["of our own", "of a host's"])("cuts a download that nobody takes, on a server %s", async (whose) => {
    let cancelled = 0;
    const service = stubService(() => {
      const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(1024 * 1024));
      function cancel(): void {
        cancelled += 1;
      }
      return new Response(new ReadableStream({ pull, cancel }));
    });
    const isOwn = whose === "of our own";
    const server = (isOwn ? createNodeServer(service) : createServer(toNodeListener(service))) as Server;
    const client = await connectWire(await listen(server));
    client.socket.pause();
    client.send(get);
    await delay(50);
    expect(await secondsToClose(server, { deadlineSeconds: 0.2 })).toBeLessThan(5);
    await eventually(() => cancelled === 1);
  });

  it("does not wait for ever for a service that does not hear of the cut", async () => {
    const { server, port } = await serve(() => new Promise(() => undefined));
    const client = await connectWire(port);
    client.send(get);
    await delay(50);
    expect(await secondsToClose(server, { deadlineSeconds: 0.1 })).toBeLessThan(5);
  });

  it("is none with 0", async () => {
    const { server, port } = await serve(async () => {
      await delay(400);
      return new Response("whole");
    });
    const client = await connectWire(port);
    client.send(get);
    await delay(20);
    await closeNodeServer(server, { deadlineSeconds: 0 });
    expect((await client.ended()).text).toMatch(/whole$/);
  });

  it("refuses what is no number of milliseconds", async () => {
    const server = createNodeServer(stubService(() => new Response("ok")));
    for (const wrong of [-0.001, null, "", "5"]) {
      const closed = closeNodeServer(server, { deadlineSeconds: wrong as number });
      await expect(closed).rejects.toThrow("deadlineSeconds");
    }
  });
});
