import { createHash, randomBytes } from "node:crypto";
import { createServer, request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { readBody } from "../../../src/http/request-body.ts";
import { toNodeListener } from "../../../src/runtimes/node.ts";
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

/** Reads a body as the core does. */
async function count(request: Request): Promise<number> {
  let bytes = 0;
  for await (const chunk of readBody(request)) bytes += chunk.byteLength;
  return bytes;
}

function put(lines: string, body = "", version = "1.1"): string {
  return `PUT /home/a HTTP/${version}\r\nHost: x\r\n${lines}\r\n\r\n${body}`;
}

/** A client that keeps sending up to `total` bytes until its socket ends; how much it got rid of, and what it read. */
async function flood(port: number, head: string, total: number): Promise<{ sent: number; text: string; how: string }> {
  const client = await connectWire(port);
  const chunk = Buffer.alloc(256 * 1024, "x");
  let sent = 0;
  let open = true;
  const pump = (): void => {
    while (open && sent < total) {
      sent += chunk.length;
      if (!client.socket.write(chunk)) {
        client.socket.once("drain", pump);
        return;
      }
    }
  };
  client.socket.on("end", () => {
    open = false;
  });
  client.socket.on("error", () => {
    open = false;
  });
  client.send(head);
  pump();
  const { text, how } = await client.ended();
  return { sent: sent - client.socket.writableLength, text, how };
}

describe("a request body on Node", () => {
  it("comes whole, by length and chunked, by every way of reading", async () => {
    const { url } = await serve(async (request) => {
      if (request.url.endsWith("text")) return new Response(`${(await request.text()).length}`);
      if (request.url.endsWith("reader")) {
        const reader = (request.body as ReadableStream<Uint8Array>).getReader();
        let bytes = 0;
        for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.byteLength;
        return new Response(`${bytes}`);
      }
      return new Response(`${await count(request)}`);
    });
    const bytes = new Uint8Array(3 * mebibyte);
    for (const way of ["loop", "text", "reader"]) {
      const byLength = await fetch(`${url}/${way}`, { method: "PUT", body: bytes });
      expect(await byLength.text()).toBe(`${bytes.length}`);
      const stream = new Blob([bytes]).stream();
      const chunked = await fetch(`${url}/${way}`, { method: "PUT", body: stream, duplex: "half" } as RequestInit);
      expect(await chunked.text()).toBe(`${bytes.length}`);
    }
  });

  it("arrives byte for byte at a slow reader", async () => {
    const bytes = randomBytes(8 * mebibyte);
    const { url } = await serve(async (request) => {
      const hash = createHash("sha256");
      let chunks = 0;
      for await (const chunk of request.body ?? []) {
        hash.update(chunk as Uint8Array);
        chunks += 1;
        if (chunks % 16 === 0) await delay(2);
      }
      return new Response(hash.digest("hex"));
    });
    const answer = await fetch(`${url}/home/a`, { method: "PUT", body: bytes });
    expect(await answer.text()).toBe(createHash("sha256").update(bytes).digest("hex"));
  });

  it("is not read before the service reads it, and no faster", async () => {
    const go = deferred();
    const { server, port } = await serve(async (request) => {
      await go.promise;
      return new Response(`${await count(request)}`);
    });
    let received = 0;
    server.on("request", (req) => {
      received = req.socket.bytesRead;
      setInterval(() => {
        received = req.socket.bytesRead;
      }, 10).unref();
    });
    const flooded = flood(port, put(`Content-Length: ${16 * mebibyte}\r\nConnection: close`), 16 * mebibyte);
    await delay(300);
    expect(received).toBeLessThan(mebibyte);
    go.resolve();
    expect((await flooded).text).toContain(`${16 * mebibyte}`);
  });

  it("may be left early: the answer still arrives", async () => {
    const { port } = await serve(async (request) => {
      for await (const chunk of request.body ?? []) {
        return new Response(`left after ${(chunk as Uint8Array).length > 0}`, { status: 413 });
      }
      return new Response("none");
    });
    const { text, sent } = await flood(port, put(`Content-Length: ${1024 * mebibyte}`), 1024 * mebibyte);
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*Connection: close\r\n[\s\S]*left after true$/);
    expect(sent).toBeLessThan(32 * mebibyte);
  });

  it("that arrived whole but unread leaves the connection in use, whatever its size", async () => {
    const { port } = await serve(async (request) => {
      if (request.method === "GET") return new Response("second");
      await delay(50);
      return new Response("first");
    });
    for (const size of [5, 40_000]) {
      const client = await connectWire(port);
      client.send(put(`Content-Length: ${size}`, "x".repeat(size)));
      await client.until("first");
      client.send("GET /home/ HTTP/1.1\r\nHost: x\r\n\r\n");
      expect(await client.until("second")).not.toMatch(/Connection: close/);
    }
  });

  it("that arrived whole but was left halfway leaves the connection in use", async () => {
    const { port } = await serve(async (request) => {
      if (request.method === "GET") return new Response("second");
      for await (const _ of request.body ?? []) break;
      await delay(50);
      return new Response("first");
    });
    const client = await connectWire(port);
    const chunked = `${"4000\r\n".concat("x".repeat(0x4000), "\r\n").repeat(2)}0\r\n\r\n`;
    client.send(put("Transfer-Encoding: chunked", chunked));
    await client.until("first");
    client.send("GET /home/ HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await client.until("second")).not.toMatch(/Connection: close/);
  });

  it("in the same packet as its head leaves the connection in use when the service answers at once", async () => {
    const { port } = await serve(() => new Response("at once"));
    const client = await connectWire(port);
    client.send(put("Content-Length: 5", "hello"));
    expect(await client.until("at once")).not.toMatch(/Connection: close/);
    client.send(put("Content-Length: 5", "hello"));
    await client.until(/at once[\s\S]*at once/);
  });
});

describe("Expect: 100-continue on Node", () => {
  it("writes 100 Continue when the service reads, and not before", async () => {
    const go = deferred();
    const { port } = await serve(async (request) => {
      await go.promise;
      return new Response(await request.text());
    });
    const client = await connectWire(port);
    client.send(put("Content-Length: 5\r\nExpect: 100-continue"));
    await delay(50);
    expect(client.text()).toBe("");
    go.resolve();
    expect(await client.until("\r\n\r\n")).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hello");
    expect(await client.until("hello")).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*hello$/);
  });

  it("writes the final status instead when the service refuses, and closes", async () => {
    const { port } = await serve(() => new Response("no", { status: 403 }), { lingerSeconds: 0.1 });
    const client = await connectWire(port);
    client.send(put("Content-Length: 5\r\nExpect: 100-continue"));
    const { text, how } = await client.ended();
    expect(text).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*Connection: close\r\n[\s\S]*no$/);
    expect(text).not.toContain("100");
    expect(how).toBe("fin");
  });

  it("takes what follows a refusal for no request", async () => {
    let requests = 0;
    const { port } = await serve(() => {
      requests += 1;
      return new Response("no", { status: 403 });
    });
    const client = await connectWire(port);
    client.send(put("Content-Length: 5\r\nExpect: 100-continue"));
    await client.until("no");
    client.send("helloDELETE /home/a HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.ended();
    expect(requests).toBe(1);
  });

  it("writes it once on a host's server without a checkContinue listener", async () => {
    const service = stubService(async (request) => new Response(await request.text()));
    const port = await listen(createServer(toNodeListener(service)));
    const client = await connectWire(port);
    client.send(put("Content-Length: 5\r\nExpect: 100-continue"));
    await client.until("100 Continue");
    client.send("hello");
    expect((await client.until("hello")).match(/100 Continue/g)).toHaveLength(1);
  });

  it("is nothing to HTTP/1.0, and other expectations are ignored (RFC 9110, 10.1.1)", async () => {
    const { port } = await serve(async (request) => new Response(await request.text()));
    const client = await connectWire(port);
    client.send(put("Content-Length: 5\r\nExpect: 100-continue", "hello", "1.0"));
    expect((await client.ended()).text).toMatch(/^HTTP\/1\.1 200 [\s\S]*hello$/);
    const other = await connectWire(port);
    other.send(put("Content-Length: 5\r\nExpect: magic", "hello"));
    expect(await other.until("hello")).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("a refused upload on Node (CONTRACT 4.3)", () => {
  it.each(["1.1", "1.0"])("is answered, not drained, and the client reads the answer (HTTP/%s)", async (version) => {
    let bytesRead = (): number => 0;
    const { server, port } = await serve(() => new Response("refused", { status: 403 }), { lingerSeconds: 0.3 });
    server.on("connection", (socket) => {
      bytesRead = () => socket.bytesRead;
    });
    const head = put(`Content-Length: ${1024 * mebibyte}`, "", version);
    const { text, how, sent } = await flood(port, head, 1024 * mebibyte);
    expect(text).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*Connection: close\r\n[\s\S]*refused$/);
    expect(how).toBe("fin");
    await delay(400);
    expect(bytesRead()).toBeLessThan(mebibyte);
    expect(sent).toBeLessThan(32 * mebibyte);
  });

  it("is so when the body is chunked, and when the answer comes late or streams", async () => {
    const { server, port } = await serve(async () => {
      await delay(100);
      const stream = new Blob(["refused ", "in parts"]).stream();
      return new Response(stream, { status: 403, headers: { connection: "keep-alive" } });
    });
    let bytesRead = (): number => 0;
    server.on("connection", (socket) => {
      bytesRead = () => socket.bytesRead;
    });
    const head = put("Transfer-Encoding: chunked", "40000000\r\n");
    const { text } = await flood(port, head, 1024 * mebibyte);
    expect(text).toMatch(
      /^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*Connection: close\r\n[\s\S]*refused \r\n8\r\nin parts\r\n0\r\n\r\n$/,
    );
    expect(text).not.toMatch(/keep-alive/i);
    expect(bytesRead()).toBeLessThan(mebibyte);
  });

  it("closes its socket as soon as the client does, and after the linger at the latest", async () => {
    const { server, port } = await serve(() => new Response("refused", { status: 403 }), { lingerSeconds: 0.4 });
    let closed = 0;
    server.on("connection", (socket) => {
      socket.on("close", () => {
        closed += 1;
      });
    });
    const polite = await connectWire(port);
    polite.send(put("Content-Length: 100000", "x".repeat(1000)));
    await polite.ended();
    polite.socket.end();
    await eventually(() => closed === 1);
    const rude = await connectWire(port);
    const start = Date.now();
    rude.send(put("Content-Length: 100000", "x".repeat(1000)));
    rude.socket.pause();
    await eventually(() => closed === 2);
    expect(Date.now() - start).toBeGreaterThan(300);
  });

  it("is read by the clients of node:http and fetch", async () => {
    const { port, url } = await serve(() => new Response("refused", { status: 403 }));
    const answer = await new Promise<string>((resolve, reject) => {
      const req = httpRequest({ port, method: "PUT", headers: { "content-length": 64 * mebibyte } }, (res) => {
        let text = `${res.statusCode} `;
        res.on("data", (chunk) => {
          text += chunk;
        });
        res.on("end", () => resolve(text));
      });
      let answered = false;
      req.on("response", () => {
        answered = true;
      });
      req.on("error", (error) => answered || reject(error));
      const chunk = Buffer.alloc(mebibyte);
      for (let index = 0; index < 64; index += 1) req.write(chunk);
    });
    expect(answer).toBe("403 refused");
    const response = await fetch(`${url}/home/a`, { method: "PUT", body: new Uint8Array(mebibyte) });
    expect([response.status, await response.text()]).toEqual([403, "refused"]);
  });
});

describe("a client that disconnects while it uploads", () => {
  it.each(["Content-Length: 1000", "Transfer-Encoding: chunked"])(
    "is an error of the body, never its end (%s)",
    async (line) => {
      const begun = deferred();
      const outcome = deferred<string>();
      const { port } = await serve(async (request) => {
        begun.resolve();
        const { signal } = request;
        await count(request).then(
          () => outcome.resolve("ended"),
          ({ cause }: Error) =>
            outcome.resolve(`${(cause as Error).name} ${signal.aborted} ${(signal.reason as Error).name}`),
        );
        return new Response("ok");
      });
      const client = await connectWire(port);
      client.send(put(line, line.startsWith("C") ? "some" : "4\r\nsome\r\n"));
      await begun.promise;
      client.socket.destroy();
      expect(await outcome.promise).toBe("AbortError true AbortError");
    },
  );

  it("is one for text(), and for a body first read after the disconnection", async () => {
    const outcomes: string[] = [];
    const gone = deferred();
    const { port } = await serve(async (request) => {
      if (request.url.endsWith("late")) await gone.promise;
      const note = (what: string) => () => void outcomes.push(what);
      await request.text().then(note("ended"), note("failed"));
      return new Response("ok");
    });
    for (const path of ["early", "late"]) {
      const client = await connectWire(port);
      client.send(`PUT /home/${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nsome`);
      await delay(30);
      client.socket.destroy();
      await delay(30);
    }
    gone.resolve();
    await eventually(() => outcomes.length === 2);
    expect(outcomes).toEqual(["failed", "failed"]);
  });

  it("aborts the signal, also one that is first asked for afterwards", async () => {
    const requests: Request[] = [];
    const never = deferred<Response>();
    const { port } = await serve((request) => {
      requests.push(request);
      return never.promise;
    });
    const clients = [await connectWire(port), await connectWire(port)];
    for (const client of clients) client.send("GET /home/ HTTP/1.1\r\nHost: x\r\n\r\n");
    await eventually(() => requests.length === 2);
    const { signal } = requests[0] as Request;
    expect(signal.aborted).toBe(false);
    for (const client of clients) client.socket.resetAndDestroy();
    await eventually(() => signal.aborted);
    await delay(20);
    expect(requests[1]?.signal.aborted).toBe(true);
    expect(requests[1]?.signal).toBe(requests[1]?.signal);
    never.resolve(new Response("too late"));
    await delay(20);
  });

  it("does not abort the signal after a complete answer", async () => {
    const signals: AbortSignal[] = [];
    const { port } = await serve(async (request) => {
      signals.push(request.signal);
      return new Response(`${await count(request)} bytes`);
    });
    const client = await connectWire(port);
    client.send(put("Content-Length: 5", "hello"));
    await client.until("5 bytes");
    client.socket.destroy();
    await delay(50);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});
