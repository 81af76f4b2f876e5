import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { createNodeServer } from "../../src/runtimes/node-server.ts";
import { leaveUndescribed } from "../support/openapi/undescribed.ts";
import { settleWire } from "../support/openapi/wire.ts";
import { basic, createTestService } from "../support/service.ts";

const ALICE = `Host: x\r\nAuthorization: ${basic("alice", "secret")}\r\nAccept: application/json\r\n`;
const LISTING = `GET /home/ HTTP/1.1\r\n${ALICE}`;

/** Serves a real service, whose answers but the description are changed on their way. */
async function serve(change: (response: Response) => Promise<Response> | Response = (same) => same): Promise<number> {
  const { service } = await createTestService({ files: { "/alice/a.txt": "content" } });
  return listen(
    createNodeServer(async (request, connection) => {
      const response = await service.fetch(request, connection);
      return request.url.endsWith("openapi.json") ? response : change(response);
    }) as Server,
  );
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Sends bytes, reads to the end, and tells what was found. */
async function send(port: number, ...requests: readonly string[]): Promise<readonly string[]> {
  const socket = connect(port, "127.0.0.1");
  for (const request of requests) socket.write(request);
  await text(socket);
  return settleWire();
}

const LAST = "Connection: close\r\n\r\n";

describe("bytes on a socket, held against the description of who answers", () => {
  it("pass where all of it is documented: pipelined, HEAD, in chunks, with an interim answer, and refused by the parser", async () => {
    const port = await serve();
    const chunked = "Transfer-Encoding: chunked\r\n\r\n3\r\nnew\r\n0\r\n\r\n";
    const sent = [
      `${LISTING}\r\n`,
      `HEAD /home/a.txt HTTP/1.1\r\n${ALICE}\r\n`,
      `PUT /home/b.txt HTTP/1.1\r\n${ALICE}Expect: 100-continue\r\n${chunked}`,
      `GET /home/b.txt HTTP/1.1\r\n${ALICE}Range: bytes=0-0\r\n\r\n`,
      `OPTIONS * HTTP/1.1\r\n${ALICE}\r\n`,
      "no request\r\n\r\n",
    ];
    expect(await send(port, sent.join(""))).toEqual([]);
    expect(await send(port, ...sent)).toEqual([]);
  });

  it("do not pass with a status that is not documented", async () => {
    const port = await serve(({ body, headers }) => new Response(body, { status: 203, headers }));
    expect(await send(port, LISTING + LAST)).toEqual(["GET /home/ -> the status 203 is not documented"]);
  });

  it("do not pass with a field that is not documented, neither of the answer nor of its content", async () => {
    const more = await serve((response) => {
      response.headers.set("X-More", "more");
      return response;
    });
    expect(await send(more, LISTING + LAST)).toEqual(["GET /home/ -> 200: the header x-more is not documented"]);
    const renamed = await serve(async (response) => {
      const headers = new Headers(response.headers);
      headers.delete("content-length");
      return new Response((await response.text()).replace('"size"', '"bytes"'), { headers });
    });
    expect(await send(renamed, LISTING + LAST)).toEqual([
      "GET /home/ -> 200: application/json: /content/0 must have required property 'size'",
      "GET /home/ -> 200: application/json: /content/0 must NOT have additional properties: bytes",
    ]);
  });

  it("do not pass with a parameter that is not documented, though the request was refused for who asks", async () => {
    const port = await serve();
    const sent = `GET /home/a.txt?more=1 HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\n${LAST}`;
    const found = ["GET /home/a.txt?more=1 -> the request: the query parameter more is not documented"];
    expect(await send(port, sent)).toEqual(found);
    leaveUndescribed("GET", "/home/a.txt?more=1");
    expect(await send(port, sent)).toEqual([]);
    expect(await send(port, sent)).toEqual(found);
  });

  it("do not pass where their head alone has come, and is not as documented", async () => {
    const port = await serve(({ body, headers }) => new Response(body, { status: 203, headers }));
    const socket = connect(port, "127.0.0.1");
    socket.write(`GET /home/a.txt HTTP/1.1\r\n${ALICE}\r\n`);
    await once(socket, "data");
    socket.destroy();
    expect(await settleWire()).toEqual(["GET /home/a.txt -> the status 203 is not documented"]);
  });

  it("do not pass where somebody else answers in the service's place", async () => {
    const port = await serve((response) => {
      response.headers.delete("Server");
      return response;
    });
    await fetch(`http://127.0.0.1:${port}/__svc__/openapi.json`);
    expect(await send(port, LISTING + LAST)).toEqual(["GET /home/ -> answered 200, and not by the service"]);
  });

  it("do not pass where nobody tells the description", async () => {
    const { headers } = await (await createTestService()).service.fetch(new Request("http://x/home/"));
    const name = headers.get("server") ?? "";
    const port = await listen(createServer((_req, res) => res.writeHead(404, { Server: name }).end()));
    expect(await send(port, LISTING + LAST)).toEqual(["GET /home/ -> nobody tells the description"]);
  });

  it("are none of ours where a stand-in answers that names no service", async () => {
    const port = await listen(createServer((_req, res) => res.writeHead(203, { Server: "stub" }).end("x")));
    expect(await send(port, LISTING + LAST)).toEqual([]);
  });
});
