import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { createNodeServer } from "../../../src/runtimes/node/server.ts";
import {
  connectWire,
  delay,
  eventually,
  exchange,
  PlainResponse as Response,
  serve,
  stubService,
  type WireClient,
} from "./setup.ts";

const get = "GET /home/a HTTP/1.1\r\nHost: x\r\n\r\n";
const ok = (): Response => new Response("ok");

/** A request whose head has this number of bytes. */
function headOf(bytes: number): string {
  const start = "GET /home/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: ";
  return `${start}${"x".repeat(bytes - start.length - 4)}\r\n\r\n`;
}

describe("the options of createNodeServer", () => {
  it.each([
    ["idleSeconds", -1],
    ["idleSeconds", null],
    ["idleSeconds", ""],
    ["idleSeconds", "120"],
    ["minBytesPerSecond", -1],
    ["minBytesPerSecond", 0.5],
    ["minBytesPerSecond", Number.POSITIVE_INFINITY],
    ["throughputWindowSeconds", 0],
    ["throughputWindowSeconds", Number.POSITIVE_INFINITY],
    ["throughputWindowSeconds", 86_400_001],
    ["maxHeaderBytes", 0],
    ["maxHeaderBytes", 1_048_577],
    ["headersSeconds", -1],
    ["headersSeconds", "60s"],
    ["headersSeconds", null],
    ["headersSeconds", ""],
    ["headersSeconds", true],
    ["maxConnections", -1],
    ["maxConnections", 1.5],
    ["maxConnectionsPerAddress", -1],
    ["maxConnectionsPerAddress", Number.NaN],
  ])("refuse a wrong %s (%s) with a TypeError that names it", (name, value) => {
    const create = (): unknown => createNodeServer(stubService(ok), { [name]: value });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`The option ${name} must be`);
  });
});

describe("the head of a request", () => {
  it.each([
    [undefined, 16_384],
    [4096, 4096],
    [65_536, 65_536],
  ])("may have up to maxHeaderBytes (%s: %s), and is 431 beyond", async (maxHeaderBytes, most) => {
    const { port } = await serve(ok, maxHeaderBytes === undefined ? {} : { maxHeaderBytes });
    // node:http counts some of what is between the fields.
    expect(await exchange(port, headOf(most - 64))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await exchange(port, headOf(most + 64))).toMatch(/^HTTP\/1\.1 431 /);
  });

  it("is 408 when it takes too long, however often a byte of it comes", async () => {
    const { port } = await serve(ok, { headersSeconds: 0.3 });
    const client = await connectWire(port);
    client.send("GET /home/a HTTP/1.1\r\nX-Slow: ");
    const timer = setInterval(() => client.socket.writable && client.send("x"), 20);
    expect((await client.ended()).text).toMatch(/^HTTP\/1\.1 408 /);
    clearInterval(timer);
  });

  it("may take its time where that is not bounded", async () => {
    const { port } = await serve(ok, { headersSeconds: 0 });
    const client = await connectWire(port);
    client.send("GET /home/a HTTP/1.1\r\n");
    await delay(300);
    client.send("Host: x\r\n\r\n");
    await client.until("ok");
  });
});

describe("connections beyond those that there may be", () => {
  /** Connects and asks; whether there was an answer before the end. */
  async function isServed(client: WireClient): Promise<boolean> {
    client.send(get);
    await Promise.race([client.until("ok"), client.ended()]);
    return client.text().includes("ok");
  }

  function from(port: number, localAddress: string): Promise<WireClient> {
    return connectWire(port, connect({ port, host: "127.0.0.1", localAddress }));
  }

  it("are closed at once, and let in when others have ended (maxConnections)", async () => {
    const { port } = await serve(ok, { maxConnections: 2 });
    const first = await connectWire(port);
    expect(await isServed(first)).toBe(true);
    expect(await isServed(await connectWire(port))).toBe(true);
    expect(await isServed(await connectWire(port))).toBe(false);
    first.socket.destroy();
    await delay(50);
    expect(await isServed(await connectWire(port))).toBe(true);
  });

  it("are those of one address alone (maxConnectionsPerAddress)", async () => {
    const { port, server } = await serve(ok, { maxConnectionsPerAddress: 2 });
    const first = await from(port, "127.0.0.1");
    expect(await isServed(first)).toBe(true);
    expect(await isServed(await from(port, "127.0.0.1"))).toBe(true);
    expect(await isServed(await from(port, "127.0.0.1"))).toBe(false);
    expect(await isServed(await from(port, "127.0.0.2"))).toBe(true);
    first.socket.destroy();
    const open = (): Promise<number> => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
    let count = 0;
    await eventually(() => {
      open().then((now) => (count = now));
      return count === 2;
    }, "the end of the first connection");
    expect(await isServed(await from(port, "127.0.0.1"))).toBe(true);
    expect(await isServed(await from(port, "127.0.0.1"))).toBe(false);
  });

  it("are any number without these options", async () => {
    const { port } = await serve(ok);
    const clients = await Promise.all(Array.from({ length: 50 }, () => connectWire(port)));
    expect(await Promise.all(clients.map(isServed))).toEqual(clients.map(() => true));
  });
});
