import { once } from "node:events";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, Server } from "node:http";
import { request as secureRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator, createFileService } from "../../src/index.ts";
import { closeNodeServer, createNodeServer } from "../../src/node.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createRecordingLogger } from "../support/logger.ts";
import { findFreePort, findMissingNginx, startNginx } from "../support/nginx.ts";

const missing = findMissingNginx();
const SIZE = 1_000_000;
const CONTENT = "x".repeat(SIZE);
const BUFFERED = [["proxy_request_buffering off;", "proxy_request_buffering on;"]] as const;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The statuses of interim responses. */
  readonly interim: readonly number[];
}

/** A service behind nginx, for the rest of a test. */
async function openProxied(changes: Parameters<typeof startNginx>[3] = []) {
  const storage = createMemoryStorage();
  const { uploads } = storage;
  if (uploads === undefined) throw new Error("The storage has no uploads.");
  let arrived = 0;
  async function* count(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      arrived += chunk.byteLength;
      yield chunk;
    }
  }
  const append: typeof uploads.append = (key, offset, content, options) =>
    uploads.append(key, offset, count(content), options);
  const port = await findFreePort();
  const logger = createRecordingLogger();
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
  const service = createFileService({
    basePath: "/files",
    publicOrigin: `https://127.0.0.1:${port}`,
    storage: { ...storage, uploads: { ...uploads, append } },
    authentication: createAccountsAuthenticator({ accounts, logger }),
    logger,
  });
  const server = createNodeServer(service) as Server;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => closeNodeServer(server));
  const nginx = await startNginx(port, [(server.address() as AddressInfo).port], "nginx", changes);
  onTestFinished(() => nginx.stop());

  function open(method: string, path: string, headers: object): ClientRequest {
    const authorization = `Basic ${btoa("alice:secret")}`;
    const fields = { authorization, "upload-draft-interop-version": "8", ...headers };
    return secureRequest(`${nginx.origin}${path}`, { method, headers: fields, ca: nginx.certificate, agent: false });
  }

  async function call(method: string, path: string, headers: object = {}, body = ""): Promise<Answer> {
    const request = open(method, path, headers);
    const interim: number[] = [];
    request.on("information", ({ statusCode }) => interim.push(statusCode));
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    await once(response.resume(), "end");
    return { status: response.statusCode ?? 0, headers: response.headers, interim };
  }

  /** Creates an upload, and begins to send all of it. Returns its URL and the request. */
  async function begin(): Promise<{ readonly url: string; readonly request: ClientRequest }> {
    const headers = { "upload-complete": "?0", "upload-length": `${SIZE}` };
    const created = await call("PUT", "/files/home/a", headers);
    expect(created.status).toBe(201);
    const url = created.headers.location ?? "";
    const request = open("PATCH", url, { ...patchFields(0), "content-length": `${SIZE}` });
    request.on("error", () => undefined);
    return { url, request };
  }

  async function stored(): Promise<string> {
    return new Response((await storage.read("/a")).body).text();
  }
  return { call, begin, stored, arrived: () => arrived };
}

function patchFields(offset: number): Readonly<Record<string, string>> {
  return { "content-type": "application/partial-upload", "upload-offset": `${offset}`, "upload-complete": "?1" };
}

describe.skipIf(missing !== undefined)("an upload in several requests behind nginx", () => {
  it("keeps what came of a request that is cut, without request buffering (R 11.2)", async () => {
    const { call, begin, stored, arrived } = await openProxied();
    const { url, request } = await begin();
    request.write(CONTENT.slice(0, SIZE / 2));
    await expect.poll(arrived).toBe(SIZE / 2);
    request.destroy();
    const shown = await call("HEAD", url);
    expect([shown.status, shown.headers["upload-offset"]]).toEqual([204, `${SIZE / 2}`]);
    const rest = await call("PATCH", url, patchFields(SIZE / 2), CONTENT.slice(SIZE / 2));
    expect([rest.status, rest.headers["upload-complete"]]).toEqual([201, "?1"]);
    expect(await stored()).toBe(CONTENT);
  });

  it("keeps nothing of a request that is cut, with request buffering, and all of a complete one", async () => {
    const { call, begin, stored, arrived } = await openProxied(BUFFERED);
    const { url, request } = await begin();
    await new Promise((resolve) => request.write(CONTENT.slice(0, SIZE / 2), resolve));
    const closed = new Promise((resolve) => request.on("close", resolve));
    request.destroy();
    await closed;
    const shown = await call("HEAD", url);
    expect([shown.headers["upload-offset"], arrived()]).toEqual(["0", 0]);
    const fields = { ...patchFields(0), "upload-complete": "?0" };
    const part = await call("PATCH", url, fields, CONTENT.slice(0, SIZE / 2));
    expect([part.status, part.headers["upload-offset"]]).toEqual([204, `${SIZE / 2}`]);
    expect((await call("PATCH", url, patchFields(SIZE / 2), CONTENT.slice(SIZE / 2))).status).toBe(201);
    expect(await stored()).toBe(CONTENT);
  });

  // nginx takes it for the final response: then the next request on the connection waits.
  it.each([
    ["with", BUFFERED],
    ["without", []],
  ])("has no 104 of an upload by PUT, %s request buffering", async (_what, changes) => {
    const { call, stored } = await openProxied(changes);
    const size = 2 * SIZE;
    const { status, interim } = await call("PUT", "/files/home/a", { "upload-complete": "?1" }, "y".repeat(size));
    expect([status, interim]).toEqual([201, []]);
    expect((await stored()).length).toBe(size);
  });
});
