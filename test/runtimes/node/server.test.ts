import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, connect as tlsConnect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Connection } from "../../../src/contracts/connection.ts";
import { closeNodeServer, createNodeServer } from "../../../src/runtimes/node/server.ts";
import { toNodeListener } from "../../../src/runtimes/node.ts";
import { hasOpenssl, makeCertificate, NEW_KEY, runOpenssl } from "../../support/certificates.ts";
import {
  connectWire,
  deferred,
  delay,
  eventually,
  exchange,
  listen,
  PlainResponse as Response,
  serve,
  stubService,
  type WireClient,
} from "./setup.ts";

const get = "GET /home/a HTTP/1.1\r\nHost: x\r\n\r\n";

describe.skipIf(!hasOpenssl())("HTTPS on Node (openssl makes the certificates)", () => {
  let folder = "";
  const pem: Record<string, Buffer> = {};

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "fileferry-tls-"));
    const selfSigned = (name: string, subject: string): void =>
      void makeCertificate(folder, { subject, key: `${name}.key`, cert: `${name}.crt` });
    const signed = (name: string, subject: string): void => {
      const request = `${name}.csr`;
      runOpenssl(folder, "req", "-new", ...NEW_KEY, "-keyout", `${name}.key`, "-out", request, "-subj", subject);
      const authority = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"];
      runOpenssl(folder, "x509", "-req", "-in", request, ...authority, "-out", `${name}.crt`, "-days", "2");
    };
    writeFileSync(join(folder, "empty"), "");
    selfSigned("ca", "/CN=authority");
    selfSigned("stranger", "/CN=alice");
    signed("server", "/CN=localhost");
    signed("alice", "/O=Example/CN=alice");
    signed("two", "/CN=alice/CN=admin");
    signed("nameless", "/O=Example");
    for (const name of ["ca", "stranger", "server", "alice", "two", "nameless"]) {
      pem[`${name}.crt`] = readFileSync(join(folder, `${name}.crt`));
      if (name !== "ca") pem[`${name}.key`] = readFileSync(join(folder, `${name}.key`));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function keys(name: string): { key: Buffer; cert: Buffer } {
    return { key: pem[`${name}.key`] as Buffer, cert: pem[`${name}.crt`] as Buffer };
  }

  /** A server that asks for certificates, and what it learns of its clients. */
  async function serveTls(withAuthority = true): Promise<{ port: number; connections: Connection[]; urls: string[] }> {
    const connections: Connection[] = [];
    const urls: string[] = [];
    const ca = withAuthority ? { ca: pem["ca.crt"] as Buffer } : {};
    const { port } = await serve(
      (request, connection) => {
        connections.push(connection);
        urls.push(request.url);
        return new Response("ok");
      },
      { tls: { ...keys("server"), ...ca } },
    );
    return { port, connections, urls };
  }

  async function connectTls(port: number, options: ConnectionOptions = {}): Promise<WireClient> {
    const socket = tlsConnect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
    await new Promise((resolve) => socket.once("secureConnect", resolve));
    return connectWire(port, socket);
  }

  it("tells the scheme and the peer", async () => {
    const { port, connections, urls } = await serveTls(false);
    const client = await connectTls(port, keys("alice"));
    client.send(get);
    await client.until("ok");
    expect(urls).toEqual(["https://x/home/a"]);
    const peer = { address: "127.0.0.1", port: client.socket.localPort, family: "IPv4", protocol: "TCP" };
    expect(connections[0]?.peer).toEqual(peer);
    expect(connections[0]?.isSecure).toBe(true);
    expect(connections[0]?.clientCertificate).toBeUndefined();
  });

  it("tells a certificate that verifies against ca, as PEM and common name (CONTRACT 6.7)", async () => {
    const { port, connections } = await serveTls();
    const client = await connectTls(port, keys("alice"));
    client.send(get);
    await client.until("ok");
    client.send(get);
    await client.until(/ok[\s\S]*ok/);
    const certificate = connections[1]?.clientCertificate;
    expect(certificate?.commonName).toBe("alice");
    expect(certificate?.pem).toBe(pem["alice.crt"]?.toString());
  });

  it.each([
    ["none", {}],
    ["one of another authority", "stranger"],
  ])("lets a client with %s in, and tells no certificate", async (_what, name) => {
    const { port, connections } = await serveTls();
    const client = await connectTls(port, typeof name === "string" ? keys(name) : name);
    client.send(get);
    await client.until("ok");
    expect(connections[0]?.clientCertificate).toBeUndefined();
  });

  it.each(["two", "nameless"])(
    "tells a certificate with no single common name without one: %s (CONTRACT 6.7)",
    async (name) => {
      const { port, connections } = await serveTls();
      const client = await connectTls(port, keys(name));
      client.send(get);
      await client.until("ok");
      expect(connections[0]?.clientCertificate).toEqual({ pem: pem[`${name}.crt`]?.toString() });
    },
  );

  it.each([
    ["none", {}, undefined],
    ["a stranger's", "stranger", undefined],
    ["a verified one", "alice", "alice"],
  ] as const)("tells the same in a resumed session with %s", async (_what, name, expected) => {
    const { port, connections } = await serveTls();
    const own = typeof name === "string" ? keys(name) : {};
    const first = tlsConnect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...own });
    const session = await new Promise<Buffer>((resolve) => {
      first.once("session", resolve);
      first.once("secureConnect", () => first.write(get));
    });
    first.destroy();
    const client = await connectTls(port, { ...own, session });
    expect((client.socket as ReturnType<typeof tlsConnect>).isSessionReused()).toBe(true);
    client.send(get);
    await client.until("ok");
    expect(connections.at(-1)?.clientCertificate?.commonName).toBe(expected);
  });

  it("does not drain a refused upload, and the client reads the answer", async () => {
    const { server, port } = await serve(() => new Response("refused", { status: 403 }), {
      tls: keys("server"),
      lingerSeconds: 0.3,
    });
    let bytesRead = (): number => 0;
    server.on("secureConnection", (socket) => {
      bytesRead = () => socket.bytesRead;
    });
    const answer = await new Promise<string>((resolve, reject) => {
      const headers = { "content-length": 2 ** 30 };
      const req = httpsRequest({ port, method: "PUT", rejectUnauthorized: false, headers, agent: false }, (res) => {
        res.on("data", (chunk) => resolve(`${res.statusCode} ${chunk} ${res.headers.connection}`));
      });
      let answered = false;
      req.on("response", () => {
        answered = true;
      });
      req.on("error", (error) => answered || reject(error));
      const chunk = Buffer.alloc(256 * 1024);
      const pump = (): void => {
        while (!req.destroyed && req.write(chunk));
        if (!req.destroyed) req.once("drain", pump);
      };
      pump();
    });
    expect(answer).toBe("403 refused close");
    await delay(400);
    expect(bytesRead()).toBeLessThan(1024 * 1024);
  });

  it("closes with idle TLS connections open", async () => {
    const server = createNodeServer(
      stubService(() => new Response("ok")),
      { tls: keys("server") },
    ) as Server;
    const port = await listen(server);
    await connectTls(port);
    const used = await connectTls(port);
    used.send(get);
    await used.until("ok");
    const start = Date.now();
    await closeNodeServer(server);
    expect(Date.now() - start).toBeLessThan(3000);
  });

  it("does not wait for connections that never begin their handshake, but for transfers under way", async () => {
    const go = deferred();
    const { server, port } = await serve(
      async () => {
        await go.promise;
        return new Response("whole");
      },
      { tls: keys("server") },
    );
    const silent = await connectWire(port);
    const halfway = await connectWire(port);
    halfway.send("\u0016\u0003\u0001");
    const busy = await connectTls(port);
    busy.send(get);
    await delay(50);
    const start = Date.now();
    const closing = closeNodeServer(server);
    await Promise.all([silent.ended(), halfway.ended()]);
    go.resolve();
    expect(await busy.until("whole")).toMatch(/^HTTP\/1\.1 200 /);
    await closing;
    expect(Date.now() - start).toBeLessThan(3000);
  });

  it("does not have pipelined requests at work all at once", async () => {
    let running = 0;
    let most = 0;
    let calls = 0;
    const { server, port } = await serve(
      async () => {
        running += 1;
        calls += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
        if (calls > 1) await held.promise;
        return new Response(calls === 3000 ? "<last>" : "ok");
      },
      { tls: keys("server") },
    );
    const held = deferred();
    let bytesRead = (): number => 0;
    server.on("secureConnection", (socket) => {
      bytesRead = () => socket.bytesRead;
    });
    const client = await connectTls(port);
    client.send(get.replace("\r\n", `\r\nX-Padding: ${"x".repeat(700)}\r\n`).repeat(3000));
    await eventually(() => calls === 2);
    await delay(200);
    expect(bytesRead()).toBeLessThan(300_000);
    held.resolve();
    await client.until("<last>");
    expect([most, calls]).toEqual([1, 3000]);
  });

  it("hangs up on plain HTTP", async () => {
    const { port } = await serveTls(false);
    const client = await connectWire(port);
    client.send(get);
    expect((await client.ended()).text).not.toContain("HTTP/1.1");
  });
});

describe("createNodeServer", () => {
  it("has no time limit for a whole request but keeps the one for its head", () => {
    const server = createNodeServer(stubService(() => new Response("ok")));
    expect([server.requestTimeout, server.headersTimeout, server.timeout]).toEqual([0, 60_000, 120_000]);
  });

  it("says which port is taken, to a listener of the host or by the error that ends the process", async () => {
    const service = stubService(() => new Response("ok"));
    const { port } = await serve(async () => new Response("ok"));
    const server = createNodeServer(service);
    const failure = once(server, "error");
    server.listen(port, "127.0.0.1");
    const [error] = await failure;
    expect(error).toMatchObject({
      code: "EADDRINUSE",
      message: `Cannot listen on port ${port} of 127.0.0.1: another process uses this port.`,
    });
    expect(() => createNodeServer(service).emit("error", new Error("lost"))).toThrow("lost");
  });

  it("refuses a bad idle time", () => {
    expect(() =>
      createNodeServer(
        stubService(() => new Response("ok")),
        { idleSeconds: -0.001 },
      ),
    ).toThrow("idleSeconds");
  });

  it("destroys a connection whose client goes silent in its upload", async () => {
    const outcome = deferred<string>();
    const { port } = await serve(
      async (request) => {
        await request.text().then(
          () => outcome.resolve("ended"),
          () => outcome.resolve("failed"),
        );
        return new Response("ok");
      },
      { idleSeconds: 0.1 },
    );
    const client = await connectWire(port);
    client.send("PUT /home/a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nsome");
    await client.ended();
    expect(await outcome.promise).toBe("failed");
  });

  it("destroys a connection whose client does not take what it gets", async () => {
    let cancelled = 0;
    const { port } = await serve(
      () => {
        const stream = new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
          cancel: () => {
            cancelled += 1;
          },
        });
        return new Response(stream);
      },
      { idleSeconds: 0.1 },
    );
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(get);
    await eventually(() => cancelled === 1);
    socket.destroy();
  });

  it("waits for a service that takes longer than the idle time", async () => {
    const { port } = await serve(
      async () => {
        await delay(350);
        const stream = new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode("slow "));
            await delay(350);
            controller.enqueue(new TextEncoder().encode("but here"));
            controller.close();
          },
        });
        return new Response(stream);
      },
      { idleSeconds: 0.1 },
    );
    const client = await connectWire(port);
    client.send(get);
    expect(await client.until("but here")).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("closeNodeServer", () => {
  it("lets running requests end, ends idle connections, and takes no new ones", async () => {
    const go = deferred();
    const { server, port } = await serve(async (request) => {
      if (request.url.endsWith("slow")) await go.promise;
      return new Response("whole");
    });
    const idle = await connectWire(port);
    idle.send(get);
    await idle.until("whole");
    const silent = await connectWire(port);
    const halfway = await connectWire(port);
    halfway.send("GET /home/a HT");
    const busy = await connectWire(port);
    busy.send("GET /home/slow HTTP/1.1\r\nHost: x\r\n\r\n");
    await delay(50);
    let closed = false;
    const closing = closeNodeServer(server).then(() => {
      closed = true;
    });
    await Promise.all([idle.ended(), silent.ended(), halfway.ended()]);
    await expect(connectWire(port)).rejects.toThrow();
    expect(closed).toBe(false);
    go.resolve();
    expect(await busy.until("whole")).toMatch(/^HTTP\/1\.1 200 /);
    await closing;
    expect((await busy.ended()).how).toBe("fin");
  });

  it("lets a client that reads slowly have all of its answer, and of those behind it", async () => {
    const size = 6 * 1024 * 1024;
    const { server, port } = await serve(() => new Response(new Uint8Array(size)));
    const socket = connect(port, "127.0.0.1").pause();
    socket.write(get + get);
    await delay(200);
    const closed = closeNodeServer(server);
    await delay(300);
    let received = 0;
    socket.on("data", (chunk) => {
      received += chunk.byteLength;
    });
    socket.resume();
    await closed;
    await eventually(() => socket.readableEnded || socket.destroyed);
    expect(received).toBeGreaterThan(2 * size);
  });

  it("lets a refused upload's client read its answer", async () => {
    const { server, port } = await serve(() => new Response("refused", { status: 403 }), { lingerSeconds: 0.3 });
    const client = await connectWire(port);
    client.send(`PUT /home/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n${"x".repeat(100_000)}`);
    await delay(20);
    await closeNodeServer(server);
    expect(await client.ended()).toMatchObject({ how: "fin", text: expect.stringMatching(/refused$/) });
  });

  it("closes a server of the host's own", async () => {
    const server = createServer(toNodeListener(stubService(() => new Response("whole"))));
    const port = await listen(server);
    const client = await connectWire(port);
    client.send(get);
    await client.until("whole");
    await closeNodeServer(server);
    expect((await client.ended()).how).toBe("fin");
  });

  it("resolves for a server that does not listen", async () => {
    await closeNodeServer(createNodeServer(stubService(() => new Response("ok"))));
  });
});

describe("hostile clients on Node", () => {
  it("do not end the process nor keep others from an answer", async () => {
    const { port } = await serve(async (request) => new Response(await request.text()));
    const texts = [
      "GET",
      "\r\n\r\n\r\n",
      "\u0000\u0001\u0002",
      "GET /home/%00 HTTP/1.1\r\nHost: \u0000\r\n\r\n",
      "GET /home/%c0%af HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET http:// HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n",
      "PUT /home/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "PUT /home/a HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "PUT /home/a HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "GET /home/a HTTP/9.9\r\nHost: x\r\n\r\n",
      `GET /home/a HTTP/1.1\r\nHost: x\r\n${"x: y\r\n".repeat(5000)}\r\n`,
      "OPTIONS * HTTP/1.0\r\n\r\n",
    ];
    for (const text of texts) {
      const client = await connectWire(port);
      client.send(text);
      await delay(5);
      client.socket.destroy();
    }
    expect(await exchange(port, "PUT /home/a HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello")).toMatch(/hello$/);
  });
});
