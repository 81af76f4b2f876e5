import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
  type Server,
} from "node:http";
import { type RequestOptions, request as secureRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FileEvent } from "../../src/contracts/events/file-event.ts";
import { createAccountsAuthenticator, createFileService } from "../../src/index.ts";
import { closeNodeServer, createNodeServer } from "../../src/node.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { findFreePort, findMissingNginx, type Nginx, startNginx } from "../support/nginx.ts";
import { leaveUndescribed } from "../support/openapi/undescribed.ts";
import { watchText } from "../support/secrets/secrets.ts";
import { eventually } from "./node/raw-client.ts";

const missing = findMissingNginx();
if (missing !== undefined) process.stderr.write(`nginx is not tested with: ${missing}\n`);

const authorization = `Basic ${btoa("alice:secret")}`;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

describe.skipIf(missing !== undefined)("a service behind nginx, which ends TLS", () => {
  const events: FileEvent[] = [];
  const told: FileEvent[] = [];
  let root: string;
  let server: Server;
  let nginx: Nginx;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "fileferry-behind-nginx-"));
    const port = await findFreePort();
    const quiet = { info() {}, warn() {}, error() {} };
    const service = createFileService({
      basePath: "/files",
      publicOrigin: `https://127.0.0.1:${port}`,
      clientForwardedHeader: "X-Forwarded-For",
      storage: createDiskStorage({ root }),
      authentication: createAccountsAuthenticator({
        accounts: [{ username: "alice", password: "secret", home_folder_path: "/" }],
        logger: quiet,
      }),
      onEvent: (event) => {
        events.push(event);
        told.push(event);
      },
      logger: quiet,
    });
    server = createNodeServer(service) as Server;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    nginx = await startNginx(port, [(server.address() as AddressInfo).port]);
  });

  watchText(() => JSON.stringify(told));
  beforeEach(() => {
    events.length = 0;
  });

  afterAll(async () => {
    await nginx?.stop();
    await closeNodeServer(server);
    await rm(root, { recursive: true });
  });

  /** A request that is not ended yet. */
  function open(method: string, path: string, headers: object = {}, options: RequestOptions = {}): ClientRequest {
    const fields = { authorization, ...headers } as Record<string, string>;
    return secureRequest(`${nginx.origin}${path}`, {
      method,
      headers: fields,
      ca: nginx.certificate,
      agent: false,
      ...options,
    });
  }

  async function read(request: ClientRequest): Promise<Answer> {
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) };
  }

  function call(method: string, path: string, headers: object = {}, body: string | Buffer = ""): Promise<Answer> {
    const request = open(method, path, headers);
    const answer = read(request);
    request.end(body);
    return answer;
  }

  it("takes large files byte for byte, with and without an announced length, and gives them back", async () => {
    const bytes = randomBytes(5 * 1024 * 1024 + 7);
    for (const headers of [{ "content-length": bytes.byteLength }, { "transfer-encoding": "chunked" }]) {
      expect((await call("PUT", "/files/home/large", headers, bytes)).status).toBe(201);
      expect((await readFile(join(root, "large"))).equals(bytes)).toBe(true);
      const back = await call("GET", "/files/home/large", { "accept-encoding": "gzip" });
      expect([back.status, back.headers["content-length"], back.bytes.equals(bytes)]).toEqual([
        200,
        `${bytes.byteLength}`,
        true,
      ]);
    }
  });

  it("answers ranges, HEAD and conditions, its tags strong", async () => {
    const path = "/files/home/text.txt";
    await call("PUT", path, {}, "0123456789");
    const head = await call("HEAD", path, { "accept-encoding": "gzip" });
    const { etag } = head.headers;
    expect([head.status, head.headers["content-length"], etag]).toEqual([200, "10", expect.stringMatching(/^"/)]);
    const part = await call("GET", path, { range: "bytes=2-4", "if-range": etag });
    expect([part.status, `${part.bytes}`, part.headers["content-range"]]).toEqual([206, "234", "bytes 2-4/10"]);
    expect((await call("GET", path, { "if-none-match": etag })).status).toBe(304);
    expect((await call("PUT", path, { "if-match": '"other"' }, "new")).status).toBe(412);
  });

  it("sends requests without TLS to the same URL with TLS", async () => {
    const path = "/files/home/a%20b.txt?inline";
    const request = plainRequest({ socketPath: nginx.plainSocket, path, headers: { Host: "files.example" } });
    const answer = read(request);
    request.end();
    expect(await answer).toMatchObject({ status: 308, headers: { location: `https://files.example${path}` } });
  });

  it("logs no token of a link", async () => {
    const token = `0123abcd.${"x".repeat(16)}.${"y".repeat(80)}.${"z".repeat(22)}`;
    for (const path of [`/files/__svc__/share/${token}`, `/files/__svc__/share/${token}/a.csv?zip`]) {
      leaveUndescribed("GET", path);
      await call("GET", path);
    }
    const shown = (): Promise<string> => nginx.accessLog();
    await expect.poll(shown).toContain('"GET /files/__svc__/share/*/a.csv?zip" 404');
    expect(await shown()).toContain('"GET /files/__svc__/share/*" 404');
    expect(await shown()).not.toContain("xxxx");
  });

  it("keeps its prefix in redirects, and no address of its own in them", async () => {
    const locations = [];
    for (const path of ["/files", "/files/home", "/files/home?x=%25"]) {
      const { status, headers } = await call("GET", path);
      locations.push([status, headers.location]);
    }
    expect(locations).toEqual([
      [302, "/files/home/"],
      [302, "/files/home/"],
      [302, "/files/home/?x=%25"],
    ]);
    expect((await call("GET", "/other")).status).toBe(404);
    expect((await call("GET", "/filesystem")).headers.server).toMatch(/^nginx/);
  });

  it("sets Secure cookies (CONTRACT 6.3) and asks for credentials", async () => {
    const headers = { authorization: "", "content-type": "application/x-www-form-urlencoded", accept: "text/html" };
    const login = await call("POST", "/files/__svc__/login", headers, "username=alice&password=secret");
    expect([login.status, login.headers.location, login.headers["set-cookie"]]).toEqual([
      302,
      "/files/home/",
      [expect.stringMatching(/^SVC_HTTP_SESSION=[0-9a-f]+; Path=\/files; HttpOnly; SameSite=strict; Secure$/)],
    ]);
    const asked = await call("GET", "/files/home/", { authorization: "Basic !", accept: "application/json" });
    expect([asked.status, asked.headers["www-authenticate"]]).toEqual([401, expect.stringMatching(/basic.*session/i)]);
  });

  it("knows requests of its own pages from those of other sites (CONTRACT 6.5)", async () => {
    const put = async (headers: object) => (await call("PUT", "/files/home/own", headers, "x")).status;
    expect(await put({ origin: nginx.origin })).toBe(201);
    expect(await put({ referer: `${nginx.origin}/files/home/` })).toBe(201);
    // The Host that a proxy sends if it is not configured to keep it.
    expect(await put({ origin: nginx.origin, host: "fileferry" })).toBe(201);
    expect(await put({ origin: "https://evil.example" })).toBe(403);
  });

  it("tells of the client by its own address, whatever it claims, and of HTTPS (CONTRACT 6.7)", async () => {
    const forged = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "http" };
    const request = open("PUT", "/files/home/told", forged, { localAddress: "127.0.0.2" });
    const answer = read(request);
    request.end("x");
    expect((await answer).status).toBe(201);
    expect(events.map(({ id, account, component }) => [id, account?.peer?.address, component.type])).toEqual([
      [40007, "127.0.0.2", "https"],
      [40021, "127.0.0.2", "https"],
      [40017, "127.0.0.2", "https"],
    ]);
  });

  it("gets uploads as they come, and drops one that is cut: the former file stays (CONTRACT 4.1)", async () => {
    await writeFile(join(root, "former"), "former");
    const before = await readdir(root);
    for (const headers of [{ "content-length": "1000000" }, { "transfer-encoding": "chunked" }]) {
      events.length = 0;
      const request = open("PUT", "/files/home/former", headers);
      request.on("error", () => undefined);
      request.write("n".repeat(500_000));
      await eventually(() => events.some(({ id }) => id === 40021), "the upload's begin");
      request.destroy();
      await eventually(() => events.some(({ id }) => id === 40022), "the upload's end");
      expect(await readFile(join(root, "former"), "utf8")).toBe("former");
      expect(await readdir(root)).toEqual(before);
    }
  });

  it("hears of a client that leaves a download", async () => {
    await writeFile(join(root, "huge"), randomBytes(64 * 1024 * 1024));
    const request = open("GET", "/files/home/huge").end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    await once(response, "data");
    response.on("error", () => undefined).destroy();
    await eventually(() => events.some(({ id }) => id === 40018), "the download's end");
  });

  it("answers a refused upload before its body is there, also where the client waits to be asked for it", async () => {
    for (const [headers, status] of [
      [{ "if-match": '"other"' }, 412],
      [{ authorization: "Basic !" }, 401],
      [{ "if-match": '"other"', expect: "100-continue" }, 412],
    ] as const) {
      const request = open("PUT", "/files/home/text.txt", { ...headers, "content-length": "100000000" });
      request.on("error", () => undefined).flushHeaders();
      const [response] = (await once(request, "response")) as [IncomingMessage];
      expect(response.statusCode).toBe(status);
      request.destroy();
    }
  });

  it("asks a client that waits for it for the body", async () => {
    const request = open("PUT", "/files/home/awaited", { expect: "100-continue", "content-length": "7" });
    request.flushHeaders();
    await once(request, "continue");
    const answer = read(request);
    request.end("awaited");
    expect((await answer).status).toBe(201);
    expect(await readFile(join(root, "awaited"), "utf8")).toBe("awaited");
  });

  it("takes forms, the methods of WebDAV and names as they are", async () => {
    const form =
      '--b\r\nContent-Disposition: form-data; name="action"\r\n\r\ncreate-folder\r\n--b\r\nContent-Disposition: form-data; name="new-folder"\r\n\r\nby form\r\n--b--\r\n';
    const headers = { "content-type": "multipart/form-data; boundary=b", accept: "text/html", origin: nginx.origin };
    expect((await call("POST", "/files/home/", headers, form)).status).toBe(303);
    expect((await call("MKCOL", "/files/home/by%20MKCOL/")).status).toBe(201);
    expect((await call("PUT", "/files/home/100%25%20%C3%A4", {}, "x")).status).toBe(201);
    expect(await readdir(root)).toEqual(expect.arrayContaining(["by form", "by MKCOL", "100% ä"]));
    expect((await call("GET", "/files/home/a%2fb")).status).toBe(400);
    expect((await call("DELETE", "/files/home/by%20MKCOL/")).status).toBe(204);
    expect((await call("PROPFIND", "/files/home/")).status).toBe(501);
    const archive = await call("GET", "/files/home/by%20form/", { accept: "application/zip" });
    expect([archive.status, archive.bytes.toString("latin1", 0, 2)]).toEqual([200, "PK"]);
    // The service has broken nothing off on its side of nginx.
    expect(nginx.log()).not.toMatch(/upstream prematurely closed|\[(?:emerg|alert|crit)\]/);
  });
});
