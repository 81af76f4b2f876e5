import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { expect, vi } from "vitest";
import { type WireCase, wireCase } from "./case.ts";
import { patternOf } from "./cases-files.ts";
import { basic, type WireConnection } from "./client.ts";

const ALICE = `Host: x\r\nAuthorization: ${basic("alice")}\r\n`;
const OLD = "the old content";

/** How a client leaves in the middle of an upload. */
const CUTS: readonly (readonly [what: string, fields: string, sent: string])[] = [
  ["with a length", "Content-Length: 5000000\r\n", "x".repeat(100_000)],
  ["in chunks", "Transfer-Encoding: chunked\r\n", `186a0\r\n${"x".repeat(100_000)}\r\n`],
  ["before its first byte", "Content-Length: 5000000\r\n", ""],
];

/** At once, before the rest can have come: what is still in the server cannot all be in the system's buffers. */
async function closeAtFirstBytes({ socket }: WireConnection): Promise<void> {
  await once(socket, "data");
  socket.destroy();
}

/** Transfers that are cut, and connections (CONTRACT 4.1, 4.3; section 6). */
export const transferCases: readonly WireCase[] = [
  ...CUTS.map(([what, fields, sent]) =>
    wireCase(
      `an upload ${what} that is cut leaves the old file, no residue, and one end event`,
      async (environment) => {
        const { folder, put, open, names, events, call } = environment;
        await put("a", OLD);
        const connection = await open();
        connection.send(`PUT ${folder}a HTTP/1.1\r\n${ALICE}${fields}\r\n${sent}`);
        await events([40021], 2);
        connection.socket.resetAndDestroy();
        expect(await events([40022], 1)).toHaveLength(1);
        expect(await events([40017], 1)).toHaveLength(1);
        expect((await call("GET", `${folder}a`)).text).toBe(OLD);
        expect(await names()).toEqual(["a"]);
      },
    ),
  ),
  wireCase("an upload that ends too early leaves the old file", async ({ folder, put, open, names, events, call }) => {
    await put("a", OLD);
    const connection = await open();
    connection.send(`PUT ${folder}a HTTP/1.1\r\n${ALICE}Content-Length: 100\r\n\r\nshort`);
    await events([40021], 2);
    connection.socket.end();
    expect(await events([40022], 1)).toHaveLength(1);
    expect((await call("GET", `${folder}a`)).text).toBe(OLD);
    expect(await names()).toEqual(["a"]);
  }),
  wireCase("an upload with a chunk that is none leaves the old file", async ({ folder, put, open, names, call }) => {
    await put("a", OLD);
    const connection = await open();
    connection.send(`PUT ${folder}a HTTP/1.1\r\n${ALICE}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n`);
    await connection.ended();
    expect((await call("GET", `${folder}a`)).text).toBe(OLD);
    // The connection may end before the upload's temporary file is removed.
    await vi.waitFor(async () => expect(await names()).toEqual(["a"]), { timeout: 10_000 });
  }),
  wireCase("a new file whose upload is cut does not come to be", async ({ folder, open, names, events }) => {
    const connection = await open();
    connection.send(`PUT ${folder}new HTTP/1.1\r\n${ALICE}Content-Length: 1000\r\n\r\nhalf`);
    await events([40021], 1);
    connection.socket.destroy();
    expect(await events([40022], 1)).toHaveLength(1);
    expect(await names()).toEqual([]);
  }),
  wireCase("a download that is cut has one end event", async ({ folder, put, open, events }) => {
    await put("big", patternOf(16_000_000));
    const connection = await open();
    connection.send(`GET ${folder}big HTTP/1.1\r\n${ALICE}\r\n`);
    await closeAtFirstBytes(connection);
    const ends = await events([40039, 40040, 40018], 1);
    expect(ends.map(({ id }) => id)).toEqual([40018]);
  }),
  wireCase(
    "a download whose client reads nothing and leaves has one end event",
    async ({ folder, put, open, events }) => {
      await put("big", patternOf(16_000_000));
      const connection = await open();
      connection.socket.pause();
      connection.send(`GET ${folder}big HTTP/1.1\r\n${ALICE}\r\n`);
      await events([40004], 1);
      await delay(200);
      connection.socket.destroy();
      expect((await events([40039, 40040, 40018], 1)).map(({ id }) => id)).toEqual([40018]);
    },
  ),
  wireCase("a download that is whole has one end event, with its bytes", async ({ call, folder, put, events }) => {
    for (const [index, size] of [0, 10, 1_000_000].entries()) {
      await put("a", patternOf(size));
      await call("GET", `${folder}a`);
      const ends = await events([40039, 40040, 40018], index + 1);
      expect(ends.map(({ id }) => id)).toEqual(Array.from({ length: index + 1 }, () => 40039));
      expect(ends[index]?.data).toMatchObject({ total_read: size });
    }
  }),
  wireCase("an archive that is cut has one end event", async ({ folder, put, open, events }) => {
    await put("big", patternOf(16_000_000));
    const connection = await open();
    connection.send(`GET ${folder} HTTP/1.1\r\n${ALICE}Accept: application/zip\r\n\r\n`);
    await closeAtFirstBytes(connection);
    expect((await events([40025, 40041], 1)).map(({ id }) => id)).toEqual([40041]);
  }),
  wireCase("the events of an upload name the peer and the account", async ({ call, folder, events }) => {
    await call("PUT", `${folder}a`, { body: "x" });
    const [done] = await events([40017], 1);
    expect(done?.account).toMatchObject({
      name: "alice",
      peer: { address: "127.0.0.1", family: "IPv4", protocol: "TCP" },
    });
  }),
  wireCase("Expect: 100-continue brings the interim answer, then the final one", async ({ folder, open, names }) => {
    const connection = await open();
    connection.send(`PUT ${folder}a HTTP/1.1\r\n${ALICE}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n`);
    await connection.until(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n$/);
    connection.send("hello");
    expect(await connection.until(/\r\n\r\nHTTP\/1\.1 \d+ /)).toMatch(/HTTP\/1\.1 201 /);
    expect(await names()).toEqual(["a"]);
  }),
  wireCase("an upload that is refused gets the final answer in place of 100 Continue", async ({ folder, open }) => {
    const connection = await open();
    connection.send(
      `PUT ${folder}a HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n`,
    );
    expect(await connection.until(/HTTP\/1\.1 [2-5]\d\d /)).toMatch(/^HTTP\/1\.1 401 /);
  }),
  wireCase("an upload that is refused is answered before its content has come", async ({ folder, open, names }) => {
    const connection = await open();
    connection.send(
      `PUT ${folder}a HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nContent-Length: 500000000\r\n\r\nbegin`,
    );
    expect(await connection.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await names()).toEqual([]);
  }),
  wireCase("two requests at once on one connection are answered in their order", async ({ folder, put, open }) => {
    await put("a", "first");
    await put("b", "second");
    const connection = await open();
    connection.send(["a", "b", "a"].map((name) => `GET ${folder}${name} HTTP/1.1\r\n${ALICE}\r\n`).join(""));
    expect(await connection.until(/first[\s\S]*second[\s\S]*first/)).toMatch(/^HTTP\/1\.1 200 /);
  }),
  wireCase("an upload and what follows it on one connection", async ({ folder, open }) => {
    const connection = await open();
    connection.send(
      `PUT ${folder}a HTTP/1.1\r\n${ALICE}Content-Length: 5\r\n\r\nhelloGET ${folder}a HTTP/1.1\r\n${ALICE}\r\n`,
    );
    expect(await connection.until(/HTTP\/1\.1 200 [\s\S]*\r\n\r\nhello/)).toMatch(/^HTTP\/1\.1 201 /);
  }),
  wireCase("a connection is kept after errors without a body", async ({ folder, open }) => {
    const connection = await open();
    for (const expected of [404, 404, 401]) {
      const authorized = expected === 401 ? "Host: x\r\nAccept: application/json\r\n" : ALICE;
      connection.send(`GET ${folder}none${expected} HTTP/1.1\r\n${authorized}\r\n`);
      await connection.until(new RegExp(`HTTP/1\\.1 ${expected} `));
      await delay(20);
    }
    expect(connection.text().match(/HTTP\/1\.1 /g)).toHaveLength(3);
  }),
  wireCase("Connection: close ends the connection behind the answer", async ({ folder, put, open }) => {
    await put("a", "hello");
    const connection = await open();
    connection.send(`GET ${folder}a HTTP/1.1\r\n${ALICE}Connection: close\r\n\r\n`);
    expect(await connection.ended()).toMatch(/hello$/);
  }),
  wireCase("HTTP/1.0 is answered, and ends the connection", async ({ folder, put, open }) => {
    await put("a", "hello");
    const connection = await open();
    connection.send(`GET ${folder}a HTTP/1.0\r\n${ALICE}\r\n`);
    expect(await connection.ended()).toMatch(/^HTTP\/1\.[01] 200 [\s\S]*hello$/);
  }),
  wireCase("a request that is no HTTP is 400, or ends the connection", async ({ open, call, folder }) => {
    const connection = await open();
    connection.send("\x16\x03\x01 nonsense\r\n\r\n");
    expect(await connection.ended()).toMatch(/^(?:HTTP\/1\.1 (?:4\d\d|501) [\s\S]*)?$/);
    expect((await call("GET", folder, { headers: { Accept: "application/json" } })).status).toBe(200);
  }),
  wireCase("two Authorization lines are refused", async ({ folder, open }) => {
    const connection = await open();
    connection.send(
      `GET ${folder} HTTP/1.1\r\n${ALICE}Authorization: ${basic("guest")}\r\nAccept: application/json\r\n\r\n`,
    );
    expect(await connection.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 40[01] /);
  }),
  wireCase("the target * is answered, and the service goes on", async ({ open, call, folder }) => {
    const connection = await open();
    connection.send("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await connection.ended();
    expect((await call("GET", folder, { headers: { Accept: "application/json" } })).status).toBe(200);
  }),
  wireCase("fifty downloads at once are whole", async ({ callAtOnce, folder, put }) => {
    const content = patternOf(300_001);
    await put("a", content);
    const { answers, connections } = await callAtOnce(Array.from({ length: 50 }, () => ["GET", `${folder}a`]));
    expect(connections).toBe(50);
    for (const { bytes } of answers) expect(Buffer.compare(bytes, content)).toBe(0);
  }),
];
