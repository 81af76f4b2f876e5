import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, IncomingMessage, ServerResponse, request as sendRequest } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Connection } from "../../../src/contracts/connection.ts";
import { prepareNodeServer, toFetchHandler, toNodeListener, toNodeMiddleware } from "../../../src/node.ts";
import { hasOpenssl, makeCertificate } from "../../support/certificates.ts";
import {
  connectWire,
  deferred,
  eventually,
  exchange,
  listen,
  PlainResponse as Response,
  serve,
  stubService,
} from "./setup.ts";

const FIELDS = { Location: "/home/__svc__/uploads/0f", "Upload-Limit": "max-age=60" };
const CLOSE = "Connection: close\r\n";
/** Node 26 does not know the reason phrase. */
const INTERIM =
  /^HTTP\/1\.1 104 [^\r\n]*\r\nLocation: \/home\/__svc__\/uploads\/0f\r\nUpload-Limit: max-age=60\r\n\r\n/;

function head(method: string, fields = "", version = "1.1"): string {
  return `${method} /home/a HTTP/${version}\r\nHost: x\r\n${fields}\r\n`;
}

/** What the server sent, one line for each head. */
function statusesOf(text: string): readonly string[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status as string);
}

/** A handler that sends an interim response, and then reads the body. */
async function announce(request: Request, connection: Connection): Promise<Response> {
  connection.sendInterim?.(104, FIELDS);
  return new Response(`<${await request.text()}>`, { status: 201 });
}

describe("an interim response on Node", () => {
  it("comes before the final one, with its fields", async () => {
    const { port } = await serve(announce);
    const text = await exchange(port, `${head("PUT", `${CLOSE}Content-Length: 5\r\n`)}hello`);
    expect(text).toMatch(INTERIM);
    expect(text.replace(INTERIM, "")).toMatch(/^HTTP\/1\.1 201 [\s\S]*<hello>$/);
  });

  it("comes while the client still sends, and may come several times", async () => {
    const { port } = await serve(async (request, { sendInterim }) => {
      let bytes = 0;
      for await (const chunk of request.body ?? []) {
        bytes += (chunk as Uint8Array).byteLength;
        sendInterim?.(104, { "Upload-Offset": String(bytes) });
      }
      return new Response("", { status: 201 });
    });
    const client = await connectWire(port);
    client.send(`${head("PUT", "Content-Length: 10\r\n")}hello`);
    await client.until("Upload-Offset: 5\r\n\r\n");
    client.send("world");
    expect(statusesOf(await client.until("201 Created"))).toEqual(["104", "104", "201"]);
    expect(client.text()).toContain("Upload-Offset: 10\r\n\r\n");
  });

  it("is what Node's own client takes for one", async () => {
    const { port } = await serve(announce);
    const request = sendRequest({ port, host: "127.0.0.1", path: "/home/a", method: "PUT" });
    const seen: unknown[] = [];
    request.on("information", ({ statusCode, headers }) => seen.push([statusCode, headers.location]));
    const status = await new Promise((resolve, reject) => {
      request.on("response", (response) => resolve(response.resume().statusCode)).on("error", reject);
      request.end("hello");
    });
    expect([seen, status]).toEqual([[[104, FIELDS.Location]], 201]);
  });

  it("comes before 100 Continue if it is sent before the body is read, and the body is awaited", async () => {
    const { port } = await serve(announce);
    const client = await connectWire(port);
    client.send(head("PUT", "Expect: 100-continue\r\nContent-Length: 5\r\n"));
    expect(statusesOf(await client.until("100 Continue\r\n\r\n"))).toEqual(["104", "100"]);
    client.send("hello");
    expect(statusesOf(await client.until("<hello>"))).toEqual(["104", "100", "201"]);
  });

  it("comes behind 100 Continue if it is sent later", async () => {
    const { port } = await serve(async (request, connection) => {
      const text = await request.text();
      connection.sendInterim?.(104, FIELDS);
      return new Response(`<${text}>`);
    });
    const client = await connectWire(port);
    client.send(head("PUT", "Expect: 100-continue\r\nContent-Length: 5\r\n"));
    await client.until("100 Continue\r\n\r\n");
    client.send("hello");
    expect(statusesOf(await client.until("<hello>"))).toEqual(["100", "104", "200"]);
  });

  it("does not let the client send a body that is refused", async () => {
    const { port } = await serve((_request, { sendInterim }) => {
      sendInterim?.(104, FIELDS);
      return new Response("no", { status: 403 });
    });
    const client = await connectWire(port);
    client.send(head("PUT", "Expect: 100-continue\r\nContent-Length: 5\r\n"));
    const { text, how } = await client.ended();
    expect([statusesOf(text), how]).toEqual([["104", "403"], "fin"]);
  });

  it("comes in the turn of its request, however many are pipelined", async () => {
    const { port } = await serve(announce);
    const client = await connectWire(port);
    const requests = Array.from({ length: 20 }, (_, index) => {
      const body = String(index).padStart(5, "0");
      return `${head("PUT", "Content-Length: 5\r\n")}${body}`;
    });
    client.send(requests.join(""));
    const text = await client.until("<00019>");
    expect(statusesOf(text)).toEqual(requests.flatMap(() => ["104", "201"]));
    expect(text.match(/<\d+>/g)).toHaveLength(20);
  });

  it("of a request that is over does not reach the next one", async () => {
    const late: (() => void)[] = [];
    const { port } = await serve((request, { sendInterim }) => {
      for (const send of late) send();
      late.push(() => sendInterim?.(104, FIELDS));
      return new Response(`<${request.method}>`);
    });
    const client = await connectWire(port);
    client.send(head("PUT", "Content-Length: 0\r\n"));
    await client.until("<PUT>");
    for (const send of late) send();
    client.send(head("GET") + head("POST", "Content-Length: 0\r\n"));
    expect(statusesOf(await client.until("<POST>"))).toEqual(["200", "200", "200"]);
  });

  it("is not sent into the body of a response that has begun", async () => {
    const { port } = await serve((_request, { sendInterim }) => {
      const parts = ["one", "two"];
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        sendInterim?.(104, FIELDS);
        const part = parts.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(part));
      };
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers: { "Content-Length": "6" } });
    });
    const text = await exchange(port, head("GET", CLOSE));
    expect(statusesOf(text)).toEqual(["104", "200"]);
    expect(text).toMatch(/\r\n\r\nonetwo$/);
  });

  it("is not sent to a client of HTTP/1.0, which would take it for the answer", async () => {
    const { port } = await serve((_request, connection) => new Response(`<${connection.sendInterim === undefined}>`));
    expect(await exchange(port, head("GET", "", "1.0"))).toMatch(/<true>$/);
    expect(await exchange(port, head("GET", CLOSE))).toMatch(/<false>$/);
  });

  it("to a client that has gone is nothing", async () => {
    const [came, go, done] = [deferred(), deferred(), deferred<unknown>()];
    const { port } = await serve(async (request, { sendInterim }) => {
      came.resolve();
      await go.promise;
      await eventually(() => request.signal.aborted);
      try {
        for (let count = 0; count < 3; count += 1) sendInterim?.(104, FIELDS);
        done.resolve("sent");
      } catch (error) {
        done.resolve(error);
      }
      return new Response("");
    });
    const client = await connectWire(port);
    client.send(head("GET"));
    await came.promise;
    client.socket.resetAndDestroy();
    go.resolve();
    expect(await done.promise).toBe("sent");
  });

  it.skipIf(!hasOpenssl())("is sent over TLS", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fileferry-interim-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { key, cert } = makeCertificate(folder);
    const { port } = await serve(announce, { tls: { key: readFileSync(key), cert: readFileSync(cert) } });
    const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
    const client = await connectWire(port, socket);
    client.send(head("PUT", `${CLOSE}Expect: 100-continue\r\nContent-Length: 5\r\n`));
    await client.until("100 Continue");
    client.send("hello");
    expect(statusesOf((await client.ended()).text)).toEqual(["104", "100", "201"]);
  });

  it("is sent over HTTP/2", async () => {
    const late = deferred<() => void>();
    const server = createHttp2Server();
    const listener = toNodeListener(
      stubService((_request, { sendInterim }) => {
        sendInterim?.(104, FIELDS);
        late.resolve(() => sendInterim?.(104, FIELDS));
        return new Response("x", { status: 201 });
      }),
    );
    server.on("request", listener as never);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      session.destroy();
      server.close();
    });
    const stream = session.request({ ":path": "/home/a" });
    const seen: unknown[] = [];
    stream.on("headers", (fields) => seen.push([fields[":status"], fields.location, fields["upload-limit"]]));
    stream.on("response", (fields) => seen.push(fields[":status"]));
    for await (const _chunk of stream) await late.promise.then((send) => send());
    expect(seen).toEqual([[104, FIELDS.Location, "max-age=60"], 201]);
  });

  it("is sent by a middleware, to which the host has prepared its server", async () => {
    const service = stubService(announce);
    const middleware = toNodeMiddleware(service);
    const server = createServer((req, res) => {
      res.setHeader("X-Host", "yes");
      middleware(req, res, () => res.end());
    });
    prepareNodeServer(server, service);
    const client = await connectWire(await listen(server));
    client.send(head("PUT", "Expect: 100-continue\r\nContent-Length: 5\r\n"));
    expect(await client.until("100 Continue")).toMatch(INTERIM);
    client.send("hello");
    expect(statusesOf(await client.until("<hello>"))).toEqual(["104", "100", "201"]);
  });

  it("is not sent into the response of the host to an earlier request", async () => {
    const [go, answered] = [deferred(), deferred()];
    const middleware = toNodeMiddleware(
      stubService(async (request, connection) => {
        const response = await announce(request, connection);
        answered.resolve();
        return response;
      }),
    );
    const server = createServer((req, res) => {
      middleware(req, res, () => {
        res.write("begun ");
        go.promise.then(() => res.end("ended"));
      });
    });
    const client = await connectWire(await listen(server));
    client.send(`GET /other HTTP/1.1\r\nHost: x\r\n\r\n${head("PUT", "Content-Length: 5\r\n")}hello`);
    await client.until("begun ");
    await answered.promise;
    expect(statusesOf(client.text())).toEqual(["200"]);
    go.resolve();
    expect(statusesOf(await client.until("<hello>"))).toEqual(["200", "201"]);
  });

  it("is not there where the host simulates a request, or calls with a Request of its own", async () => {
    const seen: boolean[] = [];
    const service = stubService((_request, connection) => {
      seen.push(connection.sendInterim !== undefined);
      return new Response("");
    });
    const req = new IncomingMessage(new Socket());
    const headers = { host: "x" };
    Object.assign(req, { complete: true, httpVersion: "1.1", httpVersionMajor: 1, httpVersionMinor: 1 });
    Object.assign(req, { method: "GET", url: "/home/a", headers, rawHeaders: ["host", "x"] });
    toNodeListener(service)(req, new ServerResponse(req));
    await eventually(() => seen.length === 1);
    await toFetchHandler(service)(new Request("http://x/home/a"));
    expect(seen).toEqual([false, false]);
  });
});

describe("what no interim response can be", () => {
  it.each<[status: number, headers: Record<string, string>, name: string]>([
    [200, {}, "RangeError"],
    [99, {}, "RangeError"],
    [100, {}, "RangeError"],
    [101, {}, "RangeError"],
    [104.5, {}, "RangeError"],
    [Number.NaN, {}, "RangeError"],
    [104, { Location: "/\r\nX: 1" }, "TypeError"],
    [104, { Location: "/\u0100" }, "TypeError"],
    [104, { "Loca tion": "/" }, "TypeError"],
    [104, { "": "/" }, "TypeError"],
    [104, { Location: undefined as unknown as string }, "TypeError"],
    [104, { "content-length": "0" }, "TypeError"],
    [104, { "Transfer-Encoding": "chunked" }, "TypeError"],
    [104, { Connection: "close" }, "TypeError"],
  ])("is an error, and nothing is sent: %s %j", async (status, headers, name) => {
    let error: unknown;
    const { port } = await serve((_request, { sendInterim }) => {
      try {
        sendInterim?.(status, { "X-First": "1", ...headers });
      } catch (thrown) {
        error = thrown;
      }
      return new Response("");
    });
    expect(statusesOf(await exchange(port, head("GET", CLOSE)))).toEqual(["200"]);
    expect((error as Error).name).toBe(name);
  });
});
