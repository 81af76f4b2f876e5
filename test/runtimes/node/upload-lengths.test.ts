import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { FileServiceOptions } from "../../../src/config/options.ts";
import { createNodeServer } from "../../../src/runtimes/node/server.ts";
import { createFileService } from "../../../src/service/service.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { AUTHORIZATION } from "../../support/served.ts";
import { connectWire, delay, eventually, listen } from "./setup.ts";

const OLD = "the former content";
const KIBIBYTE = 1024;

let folder: string;

/** A service on a disk with one file, on a free port. The disk may have a quota. */
async function serveDisk(options: Partial<FileServiceOptions> = {}, bytes?: number): Promise<number> {
  folder = await mkdtemp(join(tmpdir(), "fileferry-lengths-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "a"), OLD);
  const quiet = { info() {}, warn() {}, error() {} };
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
  const authentication = createAccountsAuthenticator({ accounts, logger: quiet });
  const disk = createDiskStorage({ root: folder, durability: "rename" });
  const storage = bytes === undefined ? disk : createQuotaStorage(disk, { folders: [{ path: "/", bytes }] });
  const service = createFileService({ storage, authentication, logger: quiet, ...options });
  return listen(createNodeServer(service, { lingerSeconds: 0.2 }) as Server);
}

function head(lines: string, path = "/home/a"): string {
  return `PUT ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n${lines}\r\n\r\n`;
}

async function expectOld(): Promise<void> {
  expect(await readFile(join(folder, "a"), "utf8")).toBe(OLD);
  expect(await readdir(folder)).toEqual(["a"]);
}

describe("a file beyond the quota, on the wire", () => {
  it.each(["", "\r\nExpect: 100-continue"])("is 507 by its length, and its body is left unread%j", async (more) => {
    const client = await connectWire(await serveDisk({}, 64 * KIBIBYTE));
    client.send(head(`Content-Length: ${64 * KIBIBYTE + 1}${more}`));
    const { text, how } = await client.ended();
    expect(text).toMatch(/^HTTP\/1\.1 507 [\s\S]*Connection: close\r\n[\s\S]*The quota is used up\./);
    expect(text).not.toContain("100 Continue");
    expect(how).toBe("fin");
    await expectOld();
  });

  it("is 507 by count when it is chunked, midway, and the connection closes", async () => {
    const client = await connectWire(await serveDisk({}, 64 * KIBIBYTE));
    client.send(head("Transfer-Encoding: chunked"));
    const chunk = `4000\r\n${"x".repeat(16 * KIBIBYTE)}\r\n`;
    client.send(chunk.repeat(5));
    const { text } = await client.ended();
    expect(text).toMatch(/^HTTP\/1\.1 507 [\s\S]*Connection: close\r\n/);
    await expectOld();
  });
});

describe("a file larger than allowed, on the wire", () => {
  const limits = { maxFileBytes: 64 * KIBIBYTE };

  it.each(["", "\r\nExpect: 100-continue"])(
    "is 413 by its length, and its body is left unread (CONTRACT 4.3)%j",
    async (more) => {
      const client = await connectWire(await serveDisk({ limits }));
      client.send(head(`Content-Length: ${limits.maxFileBytes + 1}${more}`));
      const { text, how } = await client.ended();
      expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*Connection: close\r\n[\s\S]*larger than 65536 bytes/);
      expect(text).not.toContain("100 Continue");
      expect(how).toBe("fin");
      await expectOld();
    },
  );

  it("is 413 by count when it is chunked, midway, and the connection closes (CONTRACT 4.1, 4.3)", async () => {
    const client = await connectWire(await serveDisk({ limits }));
    client.send(head("Transfer-Encoding: chunked"));
    const chunk = `4000\r\n${"x".repeat(16 * KIBIBYTE)}\r\n`;
    for (let sent = 0; sent < 4; sent += 1) client.send(chunk);
    await delay(50);
    expect(client.text()).toBe("");
    client.send("1\r\nx\r\n");
    const { text, how } = await client.ended();
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*Connection: close\r\n[\s\S]*larger than 65536 bytes/);
    expect(how).toBe("fin");
    await expectOld();
  });

  it("is one just beyond: the last byte that is allowed is stored, chunked or not", async () => {
    const client = await connectWire(await serveDisk({ limits }));
    const body = "x".repeat(limits.maxFileBytes);
    client.send(`${head(`Content-Length: ${body.length}`)}${body}`);
    await client.until("201 Created");
    client.send(`${head("Transfer-Encoding: chunked", "/home/b")}10000\r\n${body}\r\n0\r\n\r\n`);
    await client.until(/201 Created[\s\S]*201 Created/);
    expect((await readFile(join(folder, "b"))).byteLength).toBe(limits.maxFileBytes);
  });
});

describe("a length that does not fit its content, on the wire", () => {
  it.each([
    ["with a transfer coding beside it", "Content-Length: 5\r\nTransfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"],
    ["with a transfer coding before it", "Transfer-Encoding: chunked\r\nContent-Length: 5", "5\r\nhello\r\n0\r\n\r\n"],
    ["twice, and different", "Content-Length: 5\r\nContent-Length: 6", "hello!"],
    ["twice, and the same", "Content-Length: 5\r\nContent-Length: 5", "hello"],
    ["as a list", "Content-Length: 5, 5", "hello"],
    ["negative", "Content-Length: -5", "hello"],
    ["with a sign", "Content-Length: +5", "hello"],
    ["hexadecimal", "Content-Length: 0x5", "hello"],
    ["as a word", "Content-Length: five", "hello"],
    ["with a point", "Content-Length: 5.0", "hello"],
    ["beyond 64 bits", "Content-Length: 36893488147419103237", "hello"],
    ["beyond what can be counted", "Content-Length: 9223372036854775807", "hello"],
    ["of an empty text", "Content-Length:", ""],
    ["with a chunk of nonsense", "Transfer-Encoding: chunked", "xyz\r\nhello\r\n0\r\n\r\n"],
    ["with a chunk that is longer than it says", "Transfer-Encoding: chunked", "3\r\nhello\r\n0\r\n\r\n"],
    ["with a chunk of a negative size", "Transfer-Encoding: chunked", "-5\r\nhello\r\n0\r\n\r\n"],
    ["with a chunk beyond 64 bits", "Transfer-Encoding: chunked", "fffffffffffffffff\r\nhello\r\n0\r\n\r\n"],
  ])("changes nothing, and what follows is no request: %s (CONTRACT 4.1)", async (_what, lines, body) => {
    const client = await connectWire(await serveDisk());
    client.send(`${head(lines)}${body}DELETE /home/a HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`);
    const { text } = await client.ended();
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    await eventually(() => client.socket.destroyed || client.socket.readableEnded);
    await delay(20);
    await expectOld();
  });

  it("ends where it says: what is beyond is the next request, and no part of the file", async () => {
    const client = await connectWire(await serveDisk());
    client.send(
      `${head("Content-Length: 5")}helloGET /home/a HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`,
    );
    await client.until(/201 Created[\s\S]*200 OK[\s\S]*\r\n\r\nhello$/);
    expect(await readdir(folder)).toEqual(["a"]);
  });
});

it("a body of HTTP/1.0 with a transfer coding is refused, and ends its connection (RFC 9112 6.1)", async () => {
  const client = await connectWire(await serveDisk());
  const smuggled = "GET /home/a HTTP/1.1\r\nHost: x\r\n\r\n";
  client.send(
    `PUT /home/a HTTP/1.0\r\nConnection: keep-alive\r\nAuthorization: ${AUTHORIZATION}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n${smuggled}`,
  );
  const { text } = await client.ended();
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
  expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  await expectOld();
});

describe("content of a request that must have none, on the wire", () => {
  it.each([
    ["Content-Length: 1", ""],
    ["Transfer-Encoding: chunked\r\nExpect: 100-continue", ""],
    ["Transfer-Encoding: chunked", `4000\r\n${"x".repeat(16 * KIBIBYTE)}\r\n`],
  ])("is 415, and the rest is left unread: %j (CONTRACT 4.3)", async (lines, content) => {
    const client = await connectWire(await serveDisk());
    client.send(head(lines, "/home/new/") + content);
    const { text } = await client.ended();
    expect(text).toMatch(/^HTTP\/1\.1 415 [\s\S]*Connection: close\r\n/);
    await expectOld();
  });
});
