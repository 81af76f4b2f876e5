import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { FileService } from "../../../src/contracts/file-service.ts";
import { prepareNodeServer, toNodeMiddleware } from "../../../src/node.ts";
import { connectWire, listen, stubService } from "./raw-client.ts";

/** A service below a path, which reads what is sent to it. */
function serviceBelow(path: string): FileService {
  const service = stubService(async (request) => new Response(`${path} has ${await request.text()}`, { status: 201 }));
  return { ...service, handles: (request) => new URL(request.url).pathname.startsWith(path) };
}

/** A host with two services on one server, and a route of its own that counts its calls. */
async function startHost(): Promise<{ port: number; calls(): number }> {
  const services = [serviceBelow("/one/"), serviceBelow("/two/")];
  const middlewares = services.map((service) => toNodeMiddleware(service));
  let calls = 0;
  function route(req: IncomingMessage, res: ServerResponse): void {
    calls++;
    req.setEncoding("utf8").on("data", (text) => res.write(`the host has ${text}`));
    req.on("end", () => res.end());
  }
  const server = createServer((req, res) => {
    const [first, second] = middlewares;
    first?.(req, res, () => second?.(req, res, () => route(req, res)));
  });
  for (const service of services) prepareNodeServer(server, service);
  // Repeat the password: an app that is set up twice.
  for (const service of services) prepareNodeServer(server, service);
  expect(server.requestTimeout).toBe(0);
  return { port: await listen(server), calls: () => calls };
}

describe("prepareNodeServer for two services on one server", () => {
  it.each(["/one/a", "/two/a"])("takes an upload to %s whose client waits to be asked for it", async (path) => {
    const { port, calls } = await startHost();
    const client = await connectWire(port);
    client.send(`PUT ${path} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`);
    expect(await client.until("\r\n\r\n")).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hello");
    expect(await client.until("hello")).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    expect(calls()).toBe(0);
  });

  it("asks once for the body of the host's own route, and runs it once", async () => {
    const { port, calls } = await startHost();
    const client = await connectWire(port);
    client.send(
      "PUT /other HTTP/1.1\r\nHost: h\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
    );
    await client.until("\r\n\r\n");
    client.send("hello");
    const { text } = await client.ended();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 100", "HTTP/1.1 200"]);
    expect(text.match(/the host has hello/g)).toHaveLength(1);
    expect(calls()).toBe(1);
  });
});
