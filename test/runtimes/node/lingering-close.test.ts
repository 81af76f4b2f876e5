import type { Server } from "node:http";
import { describe, expect, it } from "vitest";
import { createNodeServer } from "../../../src/runtimes/node/server.ts";
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
} from "./setup.ts";

const get = "GET /home/a HTTP/1.1\r\nHost: x\r\n\r\n";

/** A service that answers with what it was sent, and the bodies that it was sent. */
async function record(): Promise<{ bodies: string[]; port: number }> {
  const bodies: string[] = [];
  const { port } = await serve(async (request) => {
    const body = await request.text();
    bodies.push(body);
    return new Response(`<${body}>`, { status: 201 });
  });
  return { bodies, port };
}

/** What a blank answer of the connection's own looks like: the last thing on it. */
function blank(status: string): RegExp {
  return new RegExp(`^HTTP/1\\.1 ${status}\\r\\nConnection: close\\r\\nContent-Length: 0\\r\\n\\r\\n$`);
}

describe("a transfer coding on Node", () => {
  it.each(["gzip, chunked", "gzip\r\nTransfer-Encoding: chunked", "identity, chunked", "x-foo,chunked"])(
    "that nobody undoes is not stored as it came: 501 for %j (RFC 9112, 6.1)",
    async (coding) => {
      const { bodies, port } = await record();
      const head = `PUT /home/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${coding}\r\n\r\n`;
      const answer = await exchange(
        port,
        `${head}5\r\nhello\r\n0\r\n\r\n`.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
      );
      expect(answer).toMatch(/^HTTP\/1\.1 501 Not Implemented\r\n/);
      expect(bodies).toEqual([]);
    },
  );

  it.each(["chunked", "Chunked"])("that is %s alone is taken", async (coding) => {
    const { port } = await record();
    const head = `PUT /home/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: ${coding}\r\n\r\n`;
    expect(await exchange(port, `${head}5\r\nhello\r\n0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 201 [\s\S]*<hello>/);
  });
});

describe("a client that ends its side behind its request", () => {
  it.each([
    ["a request", get, /<>/],
    ["an upload", "PUT /home/a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", /<hello>/],
    ["pipelined requests", get + get, /<>[\s\S]*<>/],
  ])("does not go without the answer: %s (RFC 9112, 9.6)", async (_what, text, expected) => {
    const { port } = await serve(async (request) => {
      await delay(50);
      return new Response(`<${await request.text()}>`);
    });
    const client = await connectWire(port);
    client.socket.end(text);
    const { how, text: answer } = await client.ended();
    expect([how, answer]).toEqual(["fin", expect.stringMatching(expected)]);
  });

  it("does not have a part of an upload taken for the whole", async () => {
    const outcome = deferred<string>();
    const { port } = await serve(async (request) => {
      await request.text().then(
        () => outcome.resolve("ended"),
        () => outcome.resolve("failed"),
      );
      return new Response("late");
    });
    const client = await connectWire(port);
    client.socket.end("PUT /home/a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nsome");
    expect(await outcome.promise).toBe("failed");
    expect((await client.ended()).text).toMatch(blank("400 Bad Request"));
  });
});

describe("what Node's parser refuses", () => {
  it.each([
    ["nonsense", "NONSENSE\r\n\r\n", "400 Bad Request"],
    ["a control byte", "GET /\u0001 HTTP/1.1\r\nHost: x\r\n\r\n", "400 Bad Request"],
    ["a cut head", "GET / HT", "400 Bad Request"],
    ["an endless head", `GET / HTTP/1.1\r\nX-A: ${"a".repeat(20_000)}`, "431 Request Header Fields Too Large"],
  ])("is not left without a length: %s", async (_what, text, status) => {
    const { port } = await record();
    const client = await connectWire(port);
    client.socket.end(text);
    expect((await client.ended()).text).toMatch(blank(status));
  });

  it("is answered behind an answer that is out", async () => {
    const { port } = await record();
    const client = await connectWire(port);
    client.send(get);
    await client.until("<>");
    client.send("NONSENSE\r\n\r\n");
    expect((await client.ended()).text).toMatch(/<>HTTP\/1\.1 400 Bad Request\r\n/);
  });

  it("does not become the answer to a request before it", async () => {
    const go = deferred();
    const { port } = await serve(async () => {
      await go.promise;
      return new Response("late");
    });
    const [behind, tunnel] = [await connectWire(port), await connectWire(port)];
    tunnel.send(`${get}CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect((await tunnel.ended()).text).toBe("");
    behind.send(`${get}NONSENSE\r\n\r\n`);
    await delay(50);
    expect(behind.text()).toBe("");
    go.resolve();
    expect((await behind.ended()).text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nlate$/);
  });

  it("does not get into a response that has begun", async () => {
    const { port } = await serve((request) => {
      void request.text().catch(() => undefined);
      const stream = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(3).fill(120)) });
      return new Response(stream, { headers: { "content-length": "10" } });
    });
    const client = await connectWire(port);
    client.send("PUT /home/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
    await client.until("xxx");
    client.send("zz\r\n");
    expect((await client.ended()).text).toMatch(/\r\n\r\nxxx$/);
  });

  it("is 408 where a head does not come to its end", async () => {
    const server = createNodeServer(stubService(() => new Response("ok"))) as Server;
    Object.assign(server, { headersTimeout: 50, connectionsCheckingInterval: 20 });
    const client = await connectWire(await listen(server));
    client.send("GET / HT");
    expect((await client.ended()).text).toMatch(blank("408 Request Timeout"));
  });

  it("does not throw for a socket that is gone", async () => {
    const { server, port } = await serve(() => new Response("ok"));
    const client = await connectWire(port);
    let emitted = 0;
    server.on("connection", (socket) => {
      socket.destroy();
      server.emit("clientError", Object.assign(new Error("late"), { code: "ECONNRESET" }), socket);
      emitted += 1;
    });
    await connectWire(port);
    await eventually(() => emitted === 1);
    client.send(get);
    await client.until("ok");
  });
});
