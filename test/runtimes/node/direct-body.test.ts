import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { readBody } from "../../../src/http/request-body.ts";
import { toNodeListener } from "../../../src/runtimes/node.ts";
import { connectWire, deferred, PlainResponse as Response, serve, stubService } from "./setup.ts";

/** Reads a body as the service does. */
async function read(request: Request): Promise<string> {
  let text = "";
  for await (const chunk of readBody(request)) text += Buffer.from(chunk).toString("latin1");
  return text;
}

function put(lines: string, body: string): string {
  return `PUT /home/a HTTP/1.1\r\nHost: x\r\n${lines}\r\n\r\n${body}`;
}

const CHUNKED = "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";

describe("the body of a request that arrived with its head", () => {
  it.each([
    ["a length", "Content-Length: 11", "hello world"],
    ["chunks", "Transfer-Encoding: chunked", CHUNKED],
    ["Expect and a length", "Expect: 100-continue\r\nContent-Length: 11", "hello world"],
    ["Expect and chunks", "Expect: 100-continue\r\nTransfer-Encoding: chunked", CHUNKED],
  ])("is read whole, and the connection serves the next request: %s", async (_how, lines, body) => {
    const { port } = await serve(async (request) => new Response(`<${await read(request)}>`));
    const client = await connectWire(port);
    client.send(put(lines, body) + put("Content-Length: 4", "next"));
    const text = await client.until("<next>");
    expect(text).toContain("<hello world>");
    expect(text.match(/HTTP\/1\.1 \d+/g)?.filter((line) => line !== "HTTP/1.1 100")).toEqual([
      "HTTP/1.1 200",
      "HTTP/1.1 200",
    ]);
    expect(text.includes("HTTP/1.1 100")).toBe(lines.startsWith("Expect"));
  });

  it("is read whole up to the size that node:http holds for a reader", async () => {
    const body = "0123456789".repeat(6000);
    const started = deferred();
    const { port } = await serve(async (request) => {
      await started.promise;
      return new Response(`<${await read(request)}>`);
    });
    const client = await connectWire(port);
    client.send(put(`Content-Length: ${body.length}`, body));
    setTimeout(started.resolve, 100);
    expect(await client.until(/>$/)).toContain(`<${body}>`);
  });
});

describe("a body that the host has touched before the service reads it", () => {
  it.each<[string, (request: Request) => Promise<unknown>]>([
    ["read it as text", (request) => request.text()],
    ["read a clone of it", (request) => request.clone().text()],
    ["looked whether there is one", async (request) => request.body],
  ])("is still whole for the service where the host %s", async (_what, touch) => {
    const { port } = await serve(async (request) => {
      await touch(request);
      return new Response(`<${await read(request)}>`);
    });
    const client = await connectWire(port);
    client.send(put("Transfer-Encoding: chunked", CHUNKED));
    expect(await client.until(/>/)).toContain("<hello world>");
  });

  it("belongs to the service if the host's reader reads later, which gets an error", async () => {
    const late: unknown[] = [];
    const { port } = await serve(async (request) => {
      const reader = request.body?.getReader();
      setTimeout(() => reader?.read().catch((error: Error) => late.push(error.message)), 20);
      return new Response(`<${await read(request)}>`);
    });
    const client = await connectWire(port);
    client.send(put("Transfer-Encoding: chunked", "5\r\nhello\r\n"));
    setTimeout(() => client.send("6\r\n world\r\n0\r\n\r\n"), 60);
    expect(await client.until(/>/)).toContain("<hello world>");
    expect(late).toEqual([expect.stringContaining("was read before")]);
  });

  it("ends no process if the host listens to it and the response comes first", async () => {
    const { port } = await serve(async (request) => {
      (request.body as unknown as NodeJS.ReadableStream).on("data", () => undefined);
      await new Promise(setImmediate);
      return new Response("no", { status: 415 });
    });
    const client = await connectWire(port);
    client.send(put("Content-Length: 1000", "the beginning"));
    expect((await client.ended()).text).toContain("HTTP/1.1 415");
  });
});

it("is not cut short if a host simulates a request and its body comes later", async () => {
  const texts: string[] = [];
  const listener = toNodeListener(
    stubService(async (request) => {
      texts.push(await read(request).catch(String));
      return new Response("");
    }),
  );
  const req = new IncomingMessage(new Socket());
  const headers = { host: "x", "transfer-encoding": "chunked" };
  const rawHeaders = Object.entries(headers).flat();
  Object.assign(req, { complete: true, httpVersion: "1.1", httpVersionMajor: 1, httpVersionMinor: 1 });
  Object.assign(req, { method: "PUT", url: "/home/a", headers, rawHeaders });
  let isPushed = false;
  req._read = () => {
    if (isPushed) return;
    isPushed = true;
    setImmediate(() => {
      for (const chunk of ["hello", " world", null]) req.push(chunk);
    });
  };
  listener(req, new ServerResponse(req));
  await expect.poll(() => texts).toEqual(["hello world"]);
});
