import { createServer } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { closeNodeServer, createNodeServer } from "../../../src/runtimes/node/server.ts";
import { toNodeMiddleware } from "../../../src/runtimes/node.ts";
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

const mebibyte = 1024 * 1024;

function get(path: string | number): string {
  return `GET /home/${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
}

function pathOf(request: Request): string {
  return request.url.split("/home/")[1] ?? "";
}

describe("pipelined requests on Node", () => {
  it.each(["whole", "streamed"])("are not all at work at once: one by one, answered in order (%s)", async (kind) => {
    let running = 0;
    let most = 0;
    const { port } = await serve(async (request) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      const text = `<${pathOf(request)}>`;
      return new Response(kind === "whole" ? text : new Blob([text]).stream());
    });
    const client = await connectWire(port);
    const numbers = Array.from({ length: 129 }, (_, index) => index);
    client.send(numbers.map(get).join(""));
    const text = await client.until("<128>");
    expect(most).toBe(1);
    expect(text.match(/<\d+>/g)).toEqual(numbers.map((number) => `<${number}>`));
    client.send(get("after"));
    await client.until("<after>");
  });

  it("do not pile up behind a client that does not read: nothing more is pulled, called or read", async () => {
    let pulls = 0;
    let calls = 0;
    const { server, port } = await serve(() => {
      calls += 1;
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        pulls += 1;
        controller.enqueue(new Uint8Array(64 * 1024));
      };
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
    });
    let bytesRead = (): number => 0;
    server.on("connection", (accepted) => {
      bytesRead = () => accepted.bytesRead;
    });
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.pause();
    for (let sent = 0; sent < 200; sent += 1) socket.write(get("a".repeat(1000)));
    await eventually(() => pulls > 2);
    await delay(300);
    const settled = [pulls, bytesRead()];
    await delay(200);
    expect([pulls, bytesRead()]).toEqual(settled);
    expect(calls).toBe(1);
    expect(bytesRead()).toBeLessThanOrEqual(3 * 64 * 1024);
    socket.destroy();
  });

  it("that are thousands at once end the connection, and are not answered", async () => {
    const go = deferred();
    let calls = 0;
    const { port } = await serve(async () => {
      calls += 1;
      await go.promise;
      return new Response("late");
    });
    const client = await connectWire(port);
    client.send(get("a").repeat(3000));
    await client.ended();
    go.resolve();
    await delay(50);
    expect(calls).toBe(1);
    const other = await connectWire(port);
    other.send(get("b"));
    await other.until("late");
  });

  it("let the event loop run between them, so that other clients are answered", async () => {
    const turns: number[] = [];
    let turn = 0;
    const tick = (): void => {
      turn += 1;
      if (turns.length < 100) setImmediate(tick);
    };
    const { port } = await serve((request) => {
      if (turns.length === 0) setImmediate(tick);
      turns.push(turn);
      return new Response(`<${pathOf(request)}>`);
    });
    const client = await connectWire(port);
    client.send(Array.from({ length: 100 }, (_, index) => get(index)).join(""));
    await client.until("<99>");
    expect(new Set(turns).size).toBeGreaterThan(50);
  });

  it("do not bring a body into memory whose turn has not come", async () => {
    const go = deferred();
    let bytes = 0;
    const { server, port } = await serve(async (request) => {
      if (request.method === "GET") await go.promise;
      for await (const chunk of request.body ?? []) bytes += (chunk as Uint8Array).byteLength;
      return new Response(`<${request.method}>`);
    });
    let bytesRead = (): number => 0;
    server.on("connection", (accepted) => {
      bytesRead = () => accepted.bytesRead;
    });
    const client = await connectWire(port);
    const small = "PUT /home/a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    client.send(`${get("a")}${small}PUT /home/b HTTP/1.1\r\nHost: x\r\nContent-Length: ${16 * mebibyte}\r\n\r\n`);
    client.send(new Uint8Array(16 * mebibyte));
    await delay(300);
    expect(bytesRead()).toBeLessThan(mebibyte);
    go.resolve();
    await client.until(/<GET>[\s\S]*<PUT>[\s\S]*<PUT>/);
    expect(bytes).toBe(16 * mebibyte + 5);
  });

  it("are dropped with a client that is gone", async () => {
    const go = deferred();
    const calls: string[] = [];
    const { port } = await serve(async (request) => {
      calls.push(pathOf(request));
      await go.promise;
      return new Response(new Uint8Array(8 * mebibyte));
    });
    const client = await connectWire(port);
    client.send([0, 1, 2].map(get).join(""));
    await eventually(() => calls.length === 1);
    client.socket.resetAndDestroy();
    go.resolve();
    await delay(100);
    expect(calls).toEqual(["0"]);
  });

  it("are not done after a response that closes the connection (RFC 9112, 9.6)", async () => {
    const calls: string[] = [];
    const { port } = await serve(async (request) => {
      calls.push(pathOf(request));
      await delay(20);
      return new Response("closed", { headers: { connection: "close" } });
    });
    const client = await connectWire(port);
    client.send([0, 1].map(get).join(""));
    expect((await client.ended()).text).toMatch(/closed$/);
    await delay(50);
    expect(calls).toEqual(["0"]);
  });

  it("are not begun behind the answer with which a server that closes ends the connection", async () => {
    const { server, port } = await serve(async (request) => {
      await delay(50);
      return new Response(`<${pathOf(request)}>`);
    });
    const client = await connectWire(port);
    client.send([0, 1, 2].map(get).join(""));
    await delay(20);
    await closeNodeServer(server);
    const { text, how } = await client.ended();
    expect([text.match(/<\d>/g), how]).toEqual([["<0>"], "fin"]);
    expect(text).toMatch(/\r\nConnection: close\r\n/i);
  });

  it("keep a withheld body: 100 Continue comes in its turn", async () => {
    const go = deferred();
    const { port } = await serve(async (request) => {
      if (request.method === "GET") await go.promise;
      return new Response(`<${await request.text()}>`);
    });
    const client = await connectWire(port);
    const head = "PUT /home/a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    client.send(get("a") + head);
    await delay(50);
    expect(client.text()).toBe("");
    go.resolve();
    expect(await client.until("100 Continue")).toMatch(/^HTTP\/1\.1 200 [\s\S]*<>HTTP\/1\.1 100 Continue\r\n/);
    client.send("hello");
    await client.until("<hello>");
  });

  it("are not cut by the limit for a head whose rest the server itself leaves unread", async () => {
    const server = createNodeServer(
      stubService(async (request) => {
        await delay(500);
        return new Response(`<${pathOf(request)}>`);
      }),
    );
    Object.assign(server, { headersTimeout: 100, connectionsCheckingInterval: 50 });
    const client = await connectWire(await listen(server as ReturnType<typeof createServer>));
    client.send(`${get(0)}${get(1)}GET /home/2 HTTP/1.1\r\nHo`);
    await client.until("<0>");
    client.send("st: x\r\n\r\n");
    await client.until("<2>");
  });
});

describe("what cannot be read behind pipelined requests", () => {
  const closing = "GET /home/last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

  it.each([
    ["a request behind `Connection: close`", `${get(0)}${closing}${get(2)}`, ["<0>", "<last>"]],
    ["garbage", `${get(0)}${get(1)}GARBAGE\r\n\r\n`, ["<0>", "<1>"]],
    ["a body that is none", `${get(0)}PUT /home/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx`, ["<0>"]],
  ])("leaves them their answers, in the same packet: %s (RFC 9112, 9.6)", async (_name, text, expected) => {
    const { port } = await serve(async (request) => {
      await delay(5);
      return new Response(`<${pathOf(request)}>`);
    });
    const client = await connectWire(port);
    client.send(text);
    const { text: answers } = await client.ended();
    expect(answers.match(/<\w+>/g)).toEqual(expected);
  });

  it("is not read on while they are answered: each packet would cost the parser an error", async () => {
    const go = deferred();
    let errors = 0;
    const server = createNodeServer(
      stubService(async (request) => {
        await go.promise;
        return new Response(`<${pathOf(request)}>`);
      }),
    );
    server.on("clientError", () => {
      errors += 1;
    });
    const client = await connectWire(await listen(server as ReturnType<typeof createServer>));
    client.send(`${get(0)}GARBAGE\r\n\r\n`);
    await eventually(() => errors === 1);
    for (let packet = 0; packet < 5; packet += 1) {
      client.send("MORE\r\n");
      await delay(10);
    }
    go.resolve();
    expect((await client.ended()).text).toMatch(/<0>$/);
    expect(errors).toBe(1);
  });
});

describe("pipelined requests to a middleware", () => {
  it("that are passed on neither wait for the service nor are lost", async () => {
    const go = deferred();
    const seen: string[] = [];
    const middleware = toNodeMiddleware(
      stubService(async (request) => {
        seen.push(pathOf(request));
        await go.promise;
        return new Response(`<${pathOf(request)}>`);
      }),
    );
    const server = createServer((req, res) =>
      middleware(req, res, () => {
        seen.push("host");
        req.on("data", () => undefined).on("end", () => res.end("<host>"));
      }),
    );
    const client = await connectWire(await listen(server));
    const theirs = "POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n";
    client.send(`GET /other HTTP/1.1\r\nHost: x\r\n\r\n${get(0)}${get(1)}${theirs}${"x".repeat(100_000)}${get(2)}`);
    await eventually(() => seen.length === 3);
    expect(seen).toEqual(["host", "host", "0"]);
    go.resolve();
    const text = await client.until("<2>");
    expect(text.match(/<\w+>/g)).toEqual(["<host>", "<0>", "<1>", "<host>", "<2>"]);
  });

  it("go on behind one that the host has answered in the service's stead", async () => {
    const go = deferred();
    const calls: string[] = [];
    const middleware = toNodeMiddleware(
      stubService(async (request) => {
        calls.push(pathOf(request));
        await go.promise;
        return new Response(`<${pathOf(request)}>`);
      }),
    );
    const server = createServer((req, res) => {
      middleware(req, res, () => undefined);
      if (req.url === "/home/1") res.end("<host>");
    });
    const client = await connectWire(await listen(server));
    client.send([0, 1, 2].map(get).join(""));
    await delay(30);
    go.resolve();
    expect((await client.until("<2>")).match(/<\w+>/g)).toEqual(["<0>", "<host>", "<2>"]);
    expect(calls).toEqual(["0", "2"]);
  });
});
