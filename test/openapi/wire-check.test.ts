import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { createNodeServer } from "../../src/runtimes/node/server.ts";
import { standBetween } from "../support/openapi/between.ts";
import { tapChildren } from "../support/openapi/child-log.ts";
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

/** Sends bytes, reads to the end, and returns the problems that were found. */
async function send(port: number, ...requests: readonly string[]): Promise<readonly string[]> {
  const socket = connect(port, "127.0.0.1");
  for (const request of requests) socket.write(request);
  await text(socket);
  return settleWire();
}

const LAST = "Connection: close\r\n\r\n";

describe("bytes on a socket, compared with the description of who answers", () => {
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
    // What was found by a search is no answer either, and named as well.
    const found = await send(renamed, LISTING + LAST);
    expect(found).toContain("GET /home/ -> 200: application/json: /content/0 must have required property 'size'");
    expect(found).toContain(
      "GET /home/ -> 200: application/json: /content/0 must NOT have additional properties: bytes",
    );
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

const CHANGED = ["GET /home/ -> the status 203 is not documented"];

function toNoMore({ body, headers }: Response): Response {
  return new Response(body, { status: 203, headers });
}

/** Has another process ask for the listing. */
async function askFromElsewhere(port: number): Promise<void> {
  const headers = { authorization: basic("alice", "secret"), accept: "application/json" };
  const script = `await (await fetch("http://127.0.0.1:${port}/home/", { headers: ${JSON.stringify(headers)} })).text();`;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
}

describe("exchanges, compared with the description of who answers", () => {
  it("are those of any client of this process: once it was fetch alone, and none by node:http", async () => {
    const port = await serve(toNoMore);
    const headers = { authorization: basic("alice", "secret"), accept: "application/json" };
    const asking = get({ host: "127.0.0.1", port, path: "/home/", headers, agent: false });
    const [response] = (await once(asking, "response")) as [IncomingMessage];
    await text(response);
    expect(await settleWire()).toEqual(CHANGED);
  });

  it("are those of other processes with a service of this one, each of them once", async () => {
    const port = await serve(toNoMore);
    await askFromElsewhere(port);
    expect(await settleWire()).toEqual(CHANGED);
    const headers = { authorization: basic("alice", "secret"), accept: "application/json" };
    await (await fetch(`http://127.0.0.1:${port}/home/`, { headers })).text();
    expect(await settleWire()).toEqual(CHANGED);
  });

  it("are those of other processes with a service of another one, which may be gone by then", async () => {
    const { service } = await createTestService();
    const description = await service.fetch(new Request("http://x/__svc__/openapi.json"));
    const fields = JSON.stringify({ ...Object.fromEntries(description.headers), "content-type": "application/json" });
    const script = `
      import { createServer } from "node:http";
      const [description, fields] = [${JSON.stringify(await description.text())}, ${fields}];
      const server = createServer((req, res) => res.writeHead(req.url === "/home/" ? 203 : 200, fields).end(description));
      server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
    const env = { ...process.env, ...(await tapChildren()) };
    // The description is too long for an argument.
    const child = spawn(process.execPath, ["--input-type=module"], { env, stdio: "pipe" });
    child.stdin.end(script);
    const [port] = await once(child.stdout, "data");
    await askFromElsewhere(Number(port));
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await settleWire()).toEqual(CHANGED);
  });

  it("are those behind nginx, but for its own pages", async () => {
    const behind = await serve(toNoMore);
    const proxy = createServer(async (req, res) => {
      if (req.url === "/home/none") {
        res.writeHead(502, { server: "nginx/1.0", "content-type": "text/html" }).end();
        return;
      }
      const own = { authorization: basic("alice", "secret"), accept: "application/json", connection: "close" };
      const { status, headers, body } = await fetch(`http://127.0.0.1:${behind}${req.url}`, { headers: own });
      res.writeHead(status, { ...Object.fromEntries(headers), server: "nginx/1.0" });
      res.end(Buffer.from(await new Response(body).arrayBuffer()));
    });
    const port = await listen(proxy);
    standBetween(port, { isNginx: true });
    expect(await send(port, `GET /home/none HTTP/1.1\r\n${ALICE}${LAST}`)).toEqual([]);
    expect(await send(port, LISTING + LAST)).toEqual([...CHANGED, ...CHANGED]);
  });

  it("may have a field that somebody between adds, at the port where a test says so", async () => {
    const port = await serve((response) => {
      response.headers.set("X-Powered-By", "Express");
      return response;
    });
    const found = ["GET /home/ -> 200: the header x-powered-by is not documented"];
    expect(await send(port, LISTING + LAST)).toEqual(found);
    standBetween(port, { adds: ["x-powered-by"] });
    expect(await send(port, LISTING + LAST)).toEqual([]);
  });
});
