import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { createNodeServer } from "../../../src/runtimes/node/server.ts";
import { createFileService } from "../../../src/service/service.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { leaveUndescribed } from "../../support/openapi/undescribed.ts";

const AUTHORIZATION = `Basic ${Buffer.from("alice:secret").toString("base64")}`;
const TUS = { authorization: AUTHORIZATION, "tus-resumable": "1.0.0" };
const CONTENT = { ...TUS, "content-type": "application/offset+octet-stream" };

let root: string;
let server: ReturnType<typeof createNodeServer>;
let origin: string;
let chunks: number;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "fileferry-resumable-"));
  chunks = 0;
  const logger = createRecordingLogger();
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
  const service = createFileService({
    storage: createFaultyStorage(createDiskStorage({ root, durability: "rename" }), ({ verb, step }) => {
      if (verb === "uploads.append" && step === "chunk") chunks += 1;
      return undefined;
    }),
    authentication: createAccountsAuthenticator({ accounts, logger }),
    logger,
  });
  server = createNodeServer(service, {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await rm(root, { recursive: true });
});

async function create(length: number): Promise<string> {
  const headers = { ...TUS, "upload-length": String(length) };
  const answer = await fetch(`${origin}/home/a.txt`, { method: "POST", headers });
  expect(answer.status).toBe(201);
  return answer.headers.get("location") ?? "";
}

function patch(url: string, offset: number, body: string): Promise<Response> {
  const headers = { ...CONTENT, "upload-offset": String(offset) };
  return fetch(`${origin}${url}`, { method: "PATCH", headers, body });
}

/** Sends the head of a request and a part of its content over a socket of its own. */
function sendPart(head: readonly string[], content: string) {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let text = "";
  socket.on("data", (data) => {
    text += data.toString("latin1");
  });
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.write([...head, "Host: files.example", `Authorization: ${AUTHORIZATION}`, "", content].join("\r\n"));
  return { socket, text: () => text, closed };
}

function patchHead(url: string, offset: number, length: number): readonly string[] {
  return [
    `PATCH ${url} HTTP/1.1`,
    "Tus-Resumable: 1.0.0",
    "Content-Type: application/offset+octet-stream",
    `Upload-Offset: ${offset}`,
    `Content-Length: ${length}`,
  ];
}

/** Waits until the storage has got this number of chunks of the content of all requests. */
async function untilArrived(count: number): Promise<void> {
  await expect.poll(() => chunks).toBe(count);
}

async function sizeOfUpload(): Promise<number | undefined> {
  const name = (await readdir(root)).find((one) => one.startsWith(".fileferry-upload-"));
  return name === undefined ? undefined : (await readFile(join(root, name))).byteLength;
}

describe("a resumable upload to a Node server, on a disk", () => {
  it("keeps what came before the connection is cut, and goes on from there (R 3.5)", async () => {
    const url = await create(10);
    expect((await patch(url, 0, "hello")).status).toBe(204);
    const cut = sendPart(patchHead(url, 5, 5), "wo");
    await untilArrived(2);
    cut.socket.destroy();
    const shown = await fetch(`${origin}${url}`, { method: "HEAD", headers: TUS });
    expect([shown.status, shown.headers.get("upload-offset")]).toEqual([200, "7"]);
    expect((await patch(url, 7, "rld")).headers.get("etag")).not.toBeNull();
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("helloworld");
  });

  it("is taken over from a connection that is silent, which is answered 409 and closed (R 6.3)", async () => {
    const url = await create(10);
    const silent = sendPart(patchHead(url, 0, 10), "hello");
    await untilArrived(1);
    const shown = await fetch(`${origin}${url}`, { method: "HEAD", headers: TUS });
    expect(shown.headers.get("upload-offset")).toBe("5");
    await silent.closed;
    expect(silent.text()).toMatch(/^HTTP\/1\.1 409 /);
    expect(silent.text()).toMatch(/\r\nUpload-Offset: 5\r\n/);
    expect(silent.text()).toMatch(/\r\nConnection: close\r\n/);
    expect(silent.text().match(/\r\nConnection:/g)).toHaveLength(1);
    expect((await patch(url, 5, "world")).status).toBe(204);
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("helloworld");
  });

  it("of a PUT by the draft is announced by 104 before the content is read, and resumed after a cut (R 4.2)", async () => {
    const size = 2 * 1024 * 1024;
    const head = [
      "PUT /home/a.txt HTTP/1.1",
      "Upload-Complete: ?1",
      "Upload-Draft-Interop-Version: 8",
      `Content-Length: ${size}`,
    ];
    const cut = sendPart(head, "");
    await expect.poll(() => cut.text()).toMatch(/^HTTP\/1\.1 104 (?:.*\r\n)*\r\n$/);
    const url = /\r\nLocation: (\S+)\r\n/i.exec(cut.text())?.[1] ?? "";
    expect(cut.text()).toMatch(/\r\nUpload-Draft-Interop-Version: 8\r\n/i);
    cut.socket.write("x".repeat(1000));
    await untilArrived(1);
    cut.socket.destroy();
    const draft = { authorization: AUTHORIZATION, "upload-draft-interop-version": "8" };
    const shown = await fetch(`${origin}${url}`, { method: "HEAD", headers: draft });
    expect([shown.status, shown.headers.get("upload-offset"), shown.headers.get("upload-length")]).toEqual([
      204,
      "1000",
      `${size}`,
    ]);
    const rest = await fetch(`${origin}${url}`, {
      method: "PATCH",
      headers: {
        ...draft,
        "upload-offset": "1000",
        "upload-complete": "?1",
        "content-type": "application/partial-upload",
      },
      body: "x".repeat(size - 1000),
    });
    expect([rest.status, rest.headers.get("upload-complete")]).toEqual([201, "?1"]);
    expect((await readFile(join(root, "a.txt"), "utf8")).length).toBe(size);
    expect(await sizeOfUpload()).toBeUndefined();
  });

  it("is 404 for a HEAD in a POST where there is none, as for a HEAD", async () => {
    const path = `/home/__svc__/uploads/${"0".repeat(32)}`;
    const url = `${origin}${path}`;
    // It is no HEAD on the wire.
    leaveUndescribed("POST", path);
    const head = await fetch(url, { method: "HEAD", headers: TUS });
    const post = await fetch(url, { method: "POST", headers: { ...TUS, "x-http-method-override": "HEAD" } });
    for (const answer of [head, post]) {
      expect([answer.status, answer.headers.get("error-code"), await answer.text()]).toEqual([404, "not-found", ""]);
    }
  });
});
