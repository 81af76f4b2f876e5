import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders, IncomingMessage, Server } from "node:http";
import { request as secureRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccountsAuthenticator, createFileService } from "../../../src/index.ts";
import { closeNodeServer, createNodeServer } from "../../../src/node.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { findFreePort } from "../../support/nginx.ts";
import { standBetween } from "../../support/openapi/between.ts";
import { type Apache, findMissingApache, startApache } from "./apache-server.ts";

const missing = findMissingApache();
if (missing !== undefined) process.stderr.write(`downloads that Apache sends are not tested: ${missing}\n`);

const authorization = `Basic ${btoa("alice:secret")}`;
const LARGE = randomBytes(3 * 1024 * 1024);
const OF_APACHE = ["server", "date", "connection", "keep-alive"];

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

describe.skipIf(missing !== undefined)("downloads that Apache sends (WRAPPERS 5.2)", () => {
  let root: string;
  const servers: Server[] = [];
  const proxies: Apache[] = [];
  const opened: string[] = [];

  async function start(isOffloading: boolean): Promise<void> {
    const port = await findFreePort();
    const quiet = { info() {}, warn() {}, error() {} };
    const disk = createDiskStorage({ root, durability: "rename" });
    const service = createFileService({
      publicOrigin: `https://127.0.0.1:${port}`,
      clientForwardedHeader: "X-Forwarded-For",
      storage: {
        ...disk,
        read(path, range) {
          if (isOffloading) opened.push(path);
          return disk.read(path, range);
        },
      },
      authentication: createAccountsAuthenticator({
        accounts: [{ username: "alice", password: "secret", home_folder_path: "/alice" }],
        logger: quiet,
      }),
      basicCacheSeconds: 60,
      logger: quiet,
      ...(isOffloading && { offload: { type: "apache", root } }),
    });
    const server = createNodeServer(service) as Server;
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const servicePort = (server.address() as AddressInfo).port;
    if (isOffloading) standBetween(servicePort, { isOffloaded: true });
    proxies.push(await startApache(port, servicePort, root));
  }

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "fileferry offload-apache-"));
    await chmod(root, 0o755);
    await mkdir(join(root, "alice/sub"), { recursive: true });
    await mkdir(join(root, "outside"));
    await writeFile(join(root, "alice/a.txt"), "0123456789");
    await writeFile(join(root, "alice/empty"), "");
    await writeFile(join(root, "alice/large"), LARGE);
    await writeFile(join(root, "outside/a.txt"), "secret");
    await symlink("../outside", join(root, "alice/out"));
    await start(true);
    await start(false);
  }, 60_000);

  afterAll(async () => {
    for (const proxy of proxies) await proxy.stop();
    for (const server of servers) await closeNodeServer(server);
    await rm(root, { recursive: true });
  });

  async function call(method: string, path: string, headers: object, proxy = proxies[0]): Promise<Answer> {
    const fields = { authorization, ...headers } as Record<string, string>;
    const options = { method, headers: fields, ca: proxy?.certificate, agent: false };
    const request = secureRequest(`${proxy?.origin}${path}`, options);
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) };
  }

  /** Sends a request with the offload and without it, and expects the same answer. */
  async function same(path: string, headers: object = {}, method = "GET"): Promise<Answer> {
    const [offloaded, own] = [await call(method, path, headers), await call(method, path, headers, proxies[1])];
    const toShown = ({ status, headers: fields, bytes }: Answer) => ({
      status,
      bytes: bytes.toString("base64"),
      fields: Object.fromEntries(Object.entries(fields).filter(([name]) => !OF_APACHE.includes(name))),
    });
    expect(toShown(offloaded)).toEqual(toShown(own));
    return offloaded;
  }

  it("have the content and the headers that the service would send, and it opens no file", async () => {
    for (const name of ["a.txt", "empty", "large"]) {
      expect((await same(`/home/${name}`)).status).toBe(200);
      await same(`/home/${name}`, {}, "HEAD");
    }
    expect((await same("/home/a.txt", { range: "bytes=2-4" })).status).toBe(206);
    expect(opened).toEqual([]);
  });

  it("have ranges, and answer conditions", async () => {
    for (const range of ["bytes=2-", "bytes=-3", "bytes=0-99999"])
      expect((await same("/home/a.txt", { range })).status).toBe(206);
    expect((await same("/home/a.txt", { range: "bytes=10-" })).status).toBe(416);
    const { etag = "", "last-modified": modified = "" } = (await same("/home/a.txt")).headers;
    for (const [fields, status] of [
      [{ "if-none-match": etag }, 304],
      [{ "if-modified-since": modified }, 304],
      [{ "if-none-match": '"other"', "if-modified-since": modified }, 200],
      [{ "if-match": etag }, 200],
      [{ "if-match": '"other"' }, 412],
      [{ range: "bytes=1-2", "if-range": etag }, 206],
    ] as const)
      expect((await same("/home/a.txt", fields)).status).toBe(status);
  });

  it.each(["50%.txt", "a?b", "a#b", "%2e%2e", "a b+c&d", "über.txt", "(1)'*!~", "..a"])(
    "have any name: %s",
    async (name) => {
      await writeFile(join(root, "alice/sub", name), name);
      const answer = await same(`/home/sub/${encodeURIComponent(name)}`);
      expect([answer.status, `${answer.bytes}`]).toEqual([200, name]);
    },
  );

  it("are only those of the service, whatever a request says", async () => {
    const headers = { "x-sendfile": `${root}/outside/a.txt`, "x-sendfile-type": "X-Accel-Redirect" };
    expect(`${(await same("/home/a.txt", headers)).bytes}`).toBe("0123456789");
    expect((await call("GET", "/home/out/a.txt", headers)).status).toBe(404);
  });
});
