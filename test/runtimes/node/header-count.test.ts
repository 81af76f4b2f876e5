import { createServer } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, onTestFinished } from "vitest";
import { prepareNodeServer } from "../../../src/node.ts";
import { type NodeListener, toNodeListener, toNodeMiddleware } from "../../../src/runtimes/node.ts";
import { connectWire, delay, exchange, listen, PlainResponse as Response, serve, stubService } from "./setup.ts";

/** Far below the 16 KiB that Node allows a head, and far above the thousand fields that it keeps by default. */
const MANY = "x:\r\n".repeat(2500);

/** A service that returns the body and one header field that it was given. */
function createRecorder() {
  const seen: string[] = [];
  const service = stubService(async (request) => {
    seen.push(`${await request.text()} ${request.headers.get("if-none-match")}`);
    return new Response(`<${seen.at(-1)}>`);
  });
  return { seen, service };
}

/** The bytes of all that is alive. */
async function liveBytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  await delay(10);
  collect();
  return process.memoryUsage().heapUsed;
}

/** A server of a host's own, with room for `count` fields where that is not Node's number. */
async function startHost(listener: NodeListener, count?: number): Promise<number> {
  const server = createServer(listener);
  if (count !== undefined) server.maxHeadersCount = count;
  return listen(server);
}

function put(fields: string, path = "/home/a"): string {
  return `PUT ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${fields}\r\n`;
}

describe("thousands of fields in front of others on a server of our own", () => {
  it.each([
    ["Content-Length", `${MANY}If-None-Match: *\r\nContent-Length: 5\r\n`, "hello"],
    ["Transfer-Encoding", `${MANY}If-None-Match: *\r\nTransfer-Encoding: chunked\r\n`, "5\r\nhello\r\n0\r\n\r\n"],
    ["If-None-Match", `Content-Length: 5\r\n${MANY}If-None-Match: *\r\n`, "hello"],
  ])("are 431, and no request is served without its %s", async (_name, fields, body) => {
    const { seen, service } = createRecorder();
    const { port } = await serve(service.fetch);
    expect(await exchange(port, put(fields) + body)).toMatch(/^HTTP\/1\.1 431 /);
    expect(seen).toEqual([]);
  });

  it("are a thousand, below the bytes that names and values may have", async () => {
    const { service } = createRecorder();
    const { port } = await serve(service.fetch);
    const fields = `${"x:\r\n".repeat(950)}Content-Length: 5\r\n`;
    expect(await exchange(port, `${put(fields)}hello`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await exchange(port, put("x:\r\n".repeat(17_000)))).toMatch(/^HTTP\/1\.1 431 /);
  });

  it("take no megabytes of memory while the head has no end", async () => {
    const { service } = createRecorder();
    const { port } = await serve(service.fetch);
    const before = await liveBytes();
    const clients = await Promise.all(Array.from({ length: 50 }, () => connectWire(port)));
    for (const { send } of clients) send(`GET / HTTP/1.1\r\nHost: x\r\n${"x:\r\n".repeat(15_000)}`);
    await delay(300);
    expect(((await liveBytes()) - before) / clients.length).toBeLessThan(150_000);
  });
});

describe("as many fields as a host's server keeps", () => {
  it.each([
    ["Content-Length", `${MANY}Content-Length: 5\r\n`, "hello"],
    ["Transfer-Encoding", `${MANY}Transfer-Encoding: chunked\r\n`, "5\r\nhello\r\n0\r\n\r\n"],
    ["If-None-Match", `Content-Length: 5\r\n${MANY}If-None-Match: *\r\n`, "hello"],
  ])("are 431, and the request is not served without its %s", async (_name, fields, body) => {
    const { seen, service } = createRecorder();
    const port = await startHost(toNodeListener(service));
    const text = await exchange(port, `${put(fields).replace("Connection: close\r\n", "")}${body}${put("")}`);
    expect(text).toMatch(/^HTTP\/1\.1 431 [\s\S]*\r\nConnection: close\r\n/i);
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(seen).toEqual([]);
  });

  it.each([
    // The parser hands fields over by 32: what is beyond the number may be there, or not.
    [64, 61, 200],
    [64, 62, 431],
    [64, 200, 431],
    [3, 0, 200],
    [3, 1, 431],
    [0, 2500, 200],
  ])("of which it is to keep %i: with %i beside the two others %i", async (count, more, status) => {
    const { service } = createRecorder();
    const port = await startHost(toNodeListener(service), count);
    expect(await exchange(port, put("x:\r\n".repeat(more)))).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it("keep no upload from being refused at its head, and read none of its body to the end", async () => {
    const { service } = createRecorder();
    const port = await startHost(toNodeListener(service, { lingerSeconds: 0.1 }));
    const client = await connectWire(port);
    client.send(`${put(`${MANY}Content-Length: 1000000000\r\n`)}begin`);
    const { text, how } = await client.ended();
    expect([text.slice(0, 12), how]).toEqual(["HTTP/1.1 431", "fin"]);
  });

  it("are the host's own matter on its own routes", async () => {
    const { seen, service } = createRecorder();
    const middleware = toNodeMiddleware(service);
    const server = createServer((req, res) => middleware(req, res, () => res.end("the host's")));
    prepareNodeServer(server, service);
    const port = await listen(server);
    const expecting = `Expect: 100-continue\r\n${MANY}Content-Length: 5\r\n`;
    expect(await exchange(port, put(expecting))).toMatch(/^HTTP\/1\.1 431 /);
    expect(await exchange(port, `${put(MANY, "/other")}`)).toMatch(/^HTTP\/1\.1 200 [\s\S]*the host's/);
    expect(seen).toEqual([]);
  });

  it("are no limit where the host speaks HTTP/2, which drops none", async () => {
    const server = createHttp2Server({ settings: { maxHeaderListSize: 1_000_000 }, maxHeaderListPairs: 5000 });
    const { service } = createRecorder();
    server.on("request", toNodeListener(service) as never);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      session.destroy();
      server.close();
    });
    const many = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`x-${index}`, ""]));
    const stream = session.request({ ":path": "/home/a", ...many, "if-none-match": "*" });
    const status = await new Promise((resolve, reject) => {
      stream.on("response", (headers) => resolve(headers[":status"])).on("error", reject);
    });
    let text = "";
    for await (const chunk of stream.setEncoding("utf8")) text += chunk;
    expect([status, text]).toEqual([200, "< *>"]);
  });
});
