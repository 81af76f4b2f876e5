import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { Response as PonyfillResponse } from "@whatwg-node/fetch";
import { describe, expect, it } from "vitest";
import { sourceOfBytes } from "../../../src/contracts/byte-source.ts";
import { toNodeListener } from "../../../src/runtimes/node.ts";
import {
  connectWire,
  delay,
  eventually,
  exchange,
  listen,
  PlainResponse as Response,
  serve,
  stubService,
} from "./setup.ts";

const get = "GET /home/a HTTP/1.1\r\nHost: x\r\n\r\n";
const getAndClose = "GET /home/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/** What became of a stream that a test handed out. */
interface Watched {
  pulls: number;
  cancels: number;
}

/** A stream of `chunks` chunks, then `end`; how often it was pulled and cancelled. */
function watchedStream(
  chunks: number,
  size: number,
  end: (controller: ReadableStreamDefaultController<Uint8Array>) => void | Promise<void> = (controller) =>
    controller.close(),
): { stream: ReadableStream<Uint8Array>; watched: Watched } {
  const watched = { pulls: 0, cancels: 0 };
  const chunk = new Uint8Array(size).fill(120);
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        watched.pulls += 1;
        if (watched.pulls <= chunks) {
          controller.enqueue(chunk);
          return;
        }
        // Time for what was written to go out.
        await delay(10);
        await end(controller);
      },
      cancel() {
        watched.cancels += 1;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, watched };
}

describe("a response on Node", () => {
  it("is the same for every kind of body", async () => {
    const bytes = new TextEncoder().encode("twelve bytes");
    const bodies: Record<string, () => Response | globalThis.Response> = {
      text: () => new Response("twelve bytes"),
      bytes: () => new Response(bytes),
      source: () => new Response(sourceOfBytes(bytes)),
      stream: () => new Response(new Blob([bytes]).stream()),
      platform: () => new globalThis.Response(new Blob([bytes])),
      ponyfill: () => new PonyfillResponse(Readable.from([bytes.subarray(0, 6), bytes.subarray(6)]) as never),
    };
    const { port } = await serve((request) => (bodies[request.url.split("/").pop() ?? ""] as () => Response)());
    for (const kind of Object.keys(bodies)) {
      const answer = await exchange(port, `GET /${kind} HTTP/1.0\r\n\r\n`);
      expect([kind, answer.split("\r\n\r\n")[1]]).toEqual([kind, "twelve bytes"]);
    }
  });

  it("holds smaller buffers for a source that has few bytes at a time, and the same again for one that fills them", async () => {
    const sizes: Record<string, number[]> = { few: [], many: [] };
    const { port } = await serve((request) => {
      const kind = request.url.split("/").pop() ?? "";
      const own = sizes[kind] as number[];
      return new Response({
        async readInto(buffer: Uint8Array) {
          own.push(buffer.byteLength);
          if (own.length > 4) return 0;
          return kind === "few" ? 5000 : buffer.byteLength;
        },
        close: async () => undefined,
      });
    });
    await exchange(port, "GET /few HTTP/1.0\r\n\r\n");
    await exchange(port, "GET /many HTTP/1.0\r\n\r\n");
    expect(sizes.few).toEqual([65_536, 32_768, 16_384, 16_384, 16_384]);
    expect(Math.min(...(sizes.many ?? []))).toBe(65_536);
  });

  it("carries status and headers, two Set-Cookie as two", async () => {
    const headers = new Headers({ "X-A": "1" });
    headers.append("Set-Cookie", "a=1");
    headers.append("Set-Cookie", "b=2");
    const { port } = await serve((request) => {
      if (request.url.endsWith("platform")) return new globalThis.Response("x", { status: 207, headers });
      return new Response("x", { status: 207, headers });
    });
    for (const path of ["platform", "plain"]) {
      const answer = await exchange(port, `GET /${path} HTTP/1.0\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 207 Multi-Status\r\n/);
      expect(answer.match(/^x-a: 1\r$/gim)).toHaveLength(1);
      expect(answer.match(/^set-cookie: (a=1|b=2)\r$/gim)).toHaveLength(2);
    }
  });

  it("keeps the connection, and answers pipelined requests in their order", async () => {
    const { port } = await serve(async (request) => {
      const number = Number(request.url.at(-1));
      await delay(30 - number * 10);
      return number === 1 ? new Response(new Blob([`<${number}>`]).stream()) : new Response(`<${number}>`);
    });
    const client = await connectWire(port);
    client.send([0, 1, 2].map((number) => `GET /home/${number} HTTP/1.1\r\nHost: x\r\n\r\n`).join(""));
    expect((await client.until("<2>")).match(/<\d>/g)).toEqual(["<0>", "<1>", "<2>"]);
    client.send("GET /home/0 HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.until(/<2>[\s\S]*<0>/);
  });

  it("is chunked without a length, and ends with the connection for HTTP/1.0", async () => {
    const { port } = await serve(() => new Response(new Blob(["hello"]).stream()));
    const modern = await connectWire(port);
    modern.send(get);
    expect(await modern.until("0\r\n\r\n")).toMatch(/Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/);
    const old = await connectWire(port);
    old.send("GET /home/a HTTP/1.0\r\n\r\n");
    const { text, how } = await old.ended();
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n(?![\s\S]*chunked)[\s\S]*\r\n\r\nhello$/);
    expect(how).toBe("fin");
  });

  it("keeps an HTTP/1.0 connection alive where it is asked to and can", async () => {
    const { port } = await serve(() => new Response("hello"));
    const client = await connectWire(port);
    const text = "GET /home/a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    client.send(text);
    await client.until("hello");
    client.send(text);
    await client.until(/hello[\s\S]*hello/);
  });

  it("has Content-Length: 0 where it has no body", async () => {
    const { port } = await serve(() => new Response(null, { status: 201 }));
    expect(await exchange(port, getAndClose)).toMatch(/^HTTP\/1\.1 201 Created\r\nContent-Length: 0\r\n/);
  });

  it.each([
    ["HEAD", 200],
    ["GET", 204],
    ["GET", 304],
  ])("to %s with %d has no body, and cancels the one there is", async (method, status) => {
    const { stream, watched } = watchedStream(1, 5);
    const { port } = await serve((request) => {
      if (request.url.endsWith("next")) return new Response("next");
      return new Response(stream, { status, headers: { "content-length": "5", etag: '"a"' } });
    });
    const client = await connectWire(port);
    client.send(`${method} /home/a HTTP/1.1\r\nHost: x\r\n\r\nGET /home/next HTTP/1.1\r\nHost: x\r\n\r\n`);
    const text = await client.until("next");
    const [head = "", after = ""] = text.split(/(?<=\r\n\r\n)/);
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*etag: "a"`));
    expect(/content-length/i.test(head)).toBe(status !== 204);
    expect(after).toMatch(/^HTTP\/1\.1 200 /);
    expect(watched).toEqual({ pulls: 0, cancels: 1 });
  });

  it("of 64 MiB arrives byte for byte", async () => {
    const chunk = randomBytes(256 * 1024);
    const sent = createHash("sha256");
    for (let index = 0; index < 256; index += 1) sent.update(chunk);
    const { url } = await serve(() => {
      let left = 256;
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (left === 0) controller.close();
          else controller.enqueue(chunk);
          left -= 1;
        },
      });
      return new Response(stream, { headers: { "content-length": `${256 * chunk.length}` } });
    });
    const got = createHash("sha256");
    for await (const part of (await fetch(url)).body ?? []) got.update(part);
    expect(got.digest("hex")).toBe(sent.digest("hex"));
  });

  it("is not read faster than the client takes it", async () => {
    const { stream, watched } = watchedStream(10_000, 256 * 1024);
    const { port } = await serve(() => new Response(stream));
    const socket = connect(port, "127.0.0.1");
    socket.pause();
    socket.on("error", () => undefined);
    socket.write(get);
    await eventually(() => watched.pulls > 0);
    await delay(300);
    const pulls = watched.pulls;
    // What the kernel's socket buffers take, and no more.
    expect(pulls).toBeLessThan(64);
    await delay(100);
    expect(watched.pulls).toBe(pulls);
    socket.destroy();
    await eventually(() => watched.cancels === 1);
  });

  it("merges with headers that the host has set before", async () => {
    const listener = toNodeListener(stubService(() => new Response("x", { headers: { "X-A": "ours" } })));
    const server = createServer((req, res) => {
      res.setHeader("X-A", "theirs");
      res.setHeader("X-B", "theirs");
      listener(req, res);
    });
    const answer = await exchange(await listen(server), "GET / HTTP/1.0\r\n\r\n");
    expect(answer).toMatch(/^X-A: ours\r$/im);
    expect(answer).toMatch(/X-B: theirs\r\n/);
    expect(answer).not.toMatch(/X-A: theirs/i);
  });
});

describe("a client that disconnects while it downloads", () => {
  it.each([
    ["while the stream is being read", 3, () => new Promise<void>(() => undefined)],
    ["while it is slow", 10_000, () => undefined],
  ])("has the stream cancelled once, %s", async (_when, chunks, end) => {
    const { stream, watched } = watchedStream(chunks, 64 * 1024, end);
    const { port } = await serve(() => new Response(stream));
    const socket = connect(port, "127.0.0.1");
    socket.pause();
    socket.on("error", () => undefined);
    socket.write(get);
    await eventually(() => watched.pulls > 2);
    await delay(50);
    socket.resetAndDestroy();
    await eventually(() => watched.cancels === 1);
    await delay(30);
    expect(watched.cancels).toBe(1);
  });

  it("has it cancelled also before the service answers", async () => {
    const { stream, watched } = watchedStream(10, 10);
    let asked = 0;
    const { port } = await serve(async () => {
      asked += 1;
      await delay(100);
      return new Response(stream);
    });
    const client = await connectWire(port);
    client.send(get);
    await eventually(() => asked === 1);
    client.socket.resetAndDestroy();
    await eventually(() => watched.cancels === 1);
  });

  it("has it cancelled after the idle time when the client went without a RST and the stream stands still", async () => {
    const { stream, watched } = watchedStream(2, 10, () => new Promise(() => undefined));
    const { port } = await serve(() => new Response(stream), { idleSeconds: 0.1 });
    const client = await connectWire(port);
    client.send(get);
    await client.until("xxx");
    client.socket.destroy();
    await eventually(() => watched.cancels === 1);
  });

  it("has it cancelled at once when the client went without a RST and the stream goes on", async () => {
    const { stream, watched } = watchedStream(1_000_000, 1000);
    const { port } = await serve(() => new Response(stream));
    const client = await connectWire(port);
    client.send(get);
    await client.until("xxx");
    client.socket.destroy();
    await eventually(() => watched.cancels === 1);
  });

  it("has it cancelled when the client was gone before the service was called", async () => {
    const { stream, watched } = watchedStream(10, 10);
    const aborted: boolean[] = [];
    const listener = toNodeListener(
      stubService((request) => {
        aborted.push(request.signal.aborted);
        return new Response(stream);
      }),
    );
    const port = await listen(createServer((req, res) => void req.socket.on("close", () => listener(req, res))));
    const client = await connectWire(port);
    client.send(get);
    await delay(20);
    client.socket.destroy();
    await eventually(() => watched.cancels === 1);
    expect(aborted).toEqual([true]);
  });

  it("does not cancel a stream that was read to its end", async () => {
    const { stream, watched } = watchedStream(2, 10);
    const { port } = await serve(() => new Response(stream));
    const client = await connectWire(port);
    client.send(get);
    await client.until("0\r\n\r\n");
    client.socket.destroy();
    await delay(50);
    expect(watched.cancels).toBe(0);
  });
});

describe("a body that cannot be whole never looks so", () => {
  const fail = (): void => {
    throw new Error("the disk is gone");
  };

  it("where its stream fails: chunked, by length, and to HTTP/1.0", async () => {
    const { port } = await serve((request) => {
      const { stream } = watchedStream(2, 10, fail);
      const headers: HeadersInit = request.url.endsWith("length") ? { "content-length": "100" } : {};
      return new Response(stream, { headers });
    });
    const chunked = await connectWire(port);
    chunked.send(get);
    expect((await chunked.ended()).text).toMatch(/xxx\r\n$/);
    const byLength = await exchange(port, "GET /length HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(byLength).toMatch(/\r\n\r\nx{20}$/);
    const old = await connectWire(port);
    old.send("GET /home/a HTTP/1.0\r\n\r\n");
    expect((await old.ended()).how).toBe("reset");
  });

  it("where its stream fails on a Unix socket", async () => {
    const { stream } = watchedStream(2, 10, fail);
    const server = createServer(toNodeListener(stubService(() => new Response(stream))));
    const path = join(tmpdir(), `fileferry-${process.pid}.sock`);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const client = await connectWire(0, connect(path));
    client.send("GET /home/a HTTP/1.0\r\n\r\n");
    expect((await client.ended()).text).toMatch(/x{20}$/);
    server.close();
  });

  it("where its stream fails at the very end", async () => {
    const { port } = await serve(() => {
      return new Response(watchedStream(2, 10, fail).stream, { headers: { "content-length": "20" } });
    });
    const answer = await exchange(port, get);
    expect(answer).not.toMatch(/x{20}/);
  });

  it.each([
    ["fewer", 30],
    ["more", 15],
  ])("where there are %s bytes than promised", async (_what, length) => {
    const { stream, watched } = watchedStream(1, 10, (controller) => {
      if (length === 15) controller.enqueue(new Uint8Array(10));
      else controller.close();
    });
    const { port } = await serve(() => new Response(stream, { headers: { "content-length": `${length}` } }));
    const answer = await exchange(port, get);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer.split("\r\n\r\n")[1]?.length).toBeLessThan(length);
    expect(watched.cancels).toBe(length === 30 ? 0 : 1);
  });

  it("where its chunks are no bytes", async () => {
    const stream = new ReadableStream({
      async pull(controller) {
        controller.enqueue(new Uint8Array(0));
        controller.enqueue("text");
        await delay(10);
        controller.enqueue({ no: "bytes" });
      },
    });
    const { port } = await serve(() => new Response(stream));
    const client = await connectWire(port);
    client.send(get);
    expect((await client.ended()).text).toMatch(/4\r\ntext\r\n$/);
  });

  it("is 500, blank, on a living connection, where the stream fails before its first chunk", async () => {
    const { port } = await serve((request) => {
      if (request.url.endsWith("next")) return new Response("next");
      return new Response(watchedStream(0, 0, fail).stream, { status: 206, headers: { "content-length": "9" } });
    });
    const client = await connectWire(port);
    client.send(get);
    expect(await client.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 500 Internal Server Error\r\nContent-Length: 0\r\n/);
    client.send("GET /home/next HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.until("next");
  });

  it("is 500, blank, where the lie shows before the head is out", async () => {
    const { stream, watched } = watchedStream(1, 10);
    const { port } = await serve((request) =>
      request.url.endsWith("header")
        ? new Response(stream, { headers: { "x-a": "\u0001" } })
        : new Response("text", { headers: { "content-length": "99" } }),
    );
    for (const path of ["header", "length"]) {
      const answer = await exchange(port, `GET /${path} HTTP/1.0\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 500 Internal Server Error\r\nContent-Length: 0\r\n[\s\S]*\r\n\r\n$/);
    }
    expect(watched.cancels).toBe(1);
  });
});
