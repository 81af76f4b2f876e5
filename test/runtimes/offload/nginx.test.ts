import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rename, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders, IncomingMessage, Server } from "node:http";
import { request as secureRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { FileService } from "../../../src/contracts/file-service.ts";
import { createAccountsAuthenticator, createFileService } from "../../../src/index.ts";
import { closeNodeServer, createNodeServer } from "../../../src/node.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { LINK_SECRET } from "../../support/links.ts";
import { findFreePort, findMissingNginx, type Nginx, startNginx } from "../../support/nginx.ts";
import { standBetween } from "../../support/openapi/between.ts";

const missing = findMissingNginx();
if (missing !== undefined) process.stderr.write(`downloads that nginx sends are not tested: ${missing}\n`);

const authorization = `Basic ${btoa("alice:secret")}`;
const LARGE = randomBytes(8 * 1024 * 1024);
/** More than the buffers between nginx and a client take. */
const HUGE = 64 * 1024 * 1024;
/** Headers that nginx sets itself. */
const OF_NGINX = ["server", "date", "connection", "keep-alive"];
/** On a part of a file nginx says nothing of ranges. */
const OF_PARTS = [...OF_NGINX, "accept-ranges"];

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

describe.skipIf(missing !== undefined)("downloads that nginx sends (WRAPPERS 5)", () => {
  const events: FileEvent[] = [];
  let root: string;
  let service: FileService;
  const servers: Server[] = [];
  const proxies: Nginx[] = [];

  /** A service with a proxy in front. Without `offload` it sends everything itself. */
  async function start(isOffloading: boolean): Promise<void> {
    const port = await findFreePort();
    const quiet = { info() {}, warn() {}, error() {} };
    const disk = createDiskStorage({ root, durability: "rename" });
    const made = createFileService({
      publicOrigin: `https://127.0.0.1:${port}`,
      clientForwardedHeader: "X-Forwarded-For",
      storage: {
        ...disk,
        // Files with this name are gone when nginx opens them.
        async locateContent(path) {
          const location = await disk.locateContent?.(path);
          if (path.endsWith("/gone")) await rm(join(root, path));
          return location;
        },
      },
      authentication: createAccountsAuthenticator({
        accounts: [{ username: "alice", password: "secret", home_folder_path: "/alice" }],
        logger: quiet,
      }),
      links: { secret: LINK_SECRET, store: createMemoryKeyValueStore() },
      cors: { origins: ["https://app.example"] },
      basicCacheSeconds: 60,
      logger: quiet,
      ...(isOffloading && {
        offload: { type: "nginx", prefix: "/protected/", report: true },
        onEvent: (event: FileEvent) => void events.push(event),
      }),
    });
    const server = createNodeServer(made) as Server;
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const servicePort = (server.address() as AddressInfo).port;
    if (isOffloading) standBetween(servicePort, { isOffloaded: true });
    const changes = [
      ["alias /srv/files/", `alias ${root}/`],
      ["from=/srv/files", `from=${root}`],
    ] as const;
    proxies.push(await startNginx(port, [servicePort], "offload", changes));
    if (isOffloading) service = made;
  }

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "fileferry-offload-nginx-"));
    await mkdir(join(root, "alice/sub"), { recursive: true });
    await mkdir(join(root, "outside"));
    await writeFile(join(root, "alice/a.txt"), "0123456789");
    await writeFile(join(root, "alice/empty"), "");
    await writeFile(join(root, "alice/large"), LARGE);
    await writeFile(join(root, "alice/huge"), "");
    await truncate(join(root, "alice/huge"), HUGE);
    await writeFile(join(root, "alice/page.html"), "<script>alert(1)</script>");
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

  beforeEach(() => {
    events.length = 0;
  });

  function send(proxy: Nginx | undefined, method: string, path: string, headers: object) {
    const fields = { authorization, ...headers } as Record<string, string>;
    return secureRequest(`${proxy?.origin}${path}`, {
      method,
      headers: fields,
      ca: proxy?.certificate,
      agent: false,
    });
  }

  async function call(method: string, path: string, headers: object = {}, proxy = proxies[0]): Promise<Answer> {
    const request = send(proxy, method, path, headers);
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) };
  }

  /** Sends a request with the offload and without it, and expects the same answer. */
  async function same(method: string, path: string, headers: object = {}): Promise<Answer> {
    const [offloaded, own] = [await call(method, path, headers), await call(method, path, headers, proxies[1])];
    const toShown = ({ status, headers: fields, bytes }: Answer) => {
      const own = status === 206 ? OF_PARTS : OF_NGINX;
      const others = Object.entries(fields).filter(([name]) => !own.includes(name));
      return { status, bytes: bytes.toString("base64"), fields: Object.fromEntries(others) };
    };
    expect(toShown(offloaded)).toEqual(toShown(own));
    expect(Object.keys(offloaded.headers).filter((name) => /^x-(?:accel|offload|sendfile)/.test(name))).toEqual([]);
    return offloaded;
  }

  /** Returns how the downloads of a file have ended. A report may come after the next test has started. */
  function endsOf(path: string) {
    const ends = events.filter(
      ({ id, data }) => [40018, 40039, 40040].includes(id) && "path" in data && data.path === path,
    );
    return ends.map(({ id, data }) => [id, data] as const);
  }

  it("have the content and the headers that the service would send", async () => {
    for (const name of ["a.txt", "empty", "large", "page.html"]) {
      expect((await same("GET", `/home/${name}`)).status).toBe(200);
      await same("HEAD", `/home/${name}`);
    }
    const cross = await same("GET", "/home/a.txt", { origin: "https://app.example" });
    expect(cross.headers["access-control-allow-origin"]).toBe("https://app.example");
    expect(cross.headers["content-security-policy"]).toBe("sandbox; default-src 'none'");
    await expect.poll(() => endsOf("/large")).toHaveLength(1);
    const expected = expect.objectContaining({ handed_over: "nginx", total_read: LARGE.byteLength });
    expect(endsOf("/large")).toEqual([[40039, expected]]);
  });

  it("have ranges, and answer conditions", async () => {
    for (const range of ["bytes=2-4", "bytes=2-", "bytes=-3", "bytes=0-0", "bytes=0-99999", "bytes=-99999"]) {
      expect((await same("GET", "/home/a.txt", { range })).status).toBe(206);
    }
    expect((await same("GET", "/home/a.txt", { range: "bytes=10-" })).status).toBe(416);
    expect((await same("GET", "/home/a.txt", { range: "bytes=4-2" })).status).toBe(200);
    const several = await call("GET", "/home/large", { range: "bytes=0-0,5000-5000" });
    expect([several.status, several.headers["content-type"]]).toEqual([206, expect.stringMatching(/^multipart/)]);
    const { etag = "", "last-modified": modified = "" } = (await call("GET", "/home/a.txt")).headers;
    expect(etag).toMatch(/^"/);
    for (const [fields, status] of [
      [{ "if-none-match": etag }, 304],
      [{ "if-modified-since": modified }, 304],
      [{ "if-none-match": '"other"', "if-modified-since": modified }, 200],
      [{ "if-match": '"other"' }, 412],
      [{ "if-match": etag }, 200],
      [{ "if-unmodified-since": modified }, 200],
      [{ range: "bytes=1-2", "if-range": etag }, 206],
      [{ range: "bytes=1-2", "if-range": '"other"' }, 200],
    ] as const)
      expect((await same("GET", "/home/a.txt", fields)).status).toBe(status);
  });

  it("are of the file that is there when nginx opens it, whose older tag never matches again", async () => {
    const path = join(root, "alice/new.txt");
    await writeFile(path, "first");
    const { etag } = (await call("GET", "/home/new.txt")).headers;
    await writeFile(`${path}~`, "second");
    await utimes(`${path}~`, 1, 1);
    await rename(`${path}~`, path);
    const changed = await call("GET", "/home/new.txt", { "if-none-match": etag });
    expect([changed.status, `${changed.bytes}`]).toEqual([200, "second"]);
  });

  it.each(["50%.txt", "a?b", "a#b", "%2e%2e", "a b+c&d", "über.txt", "日本", "(1)'*!~", "a:b", "..a", "-", "a\\b"])(
    "have names that nginx takes as they are: %s",
    async (name) => {
      const isName = !name.includes("\\");
      await writeFile(join(root, "alice/sub", name), name);
      const answer = await same("GET", `/home/sub/${encodeURIComponent(name)}`);
      expect([answer.status, isName ? `${answer.bytes}` : name]).toEqual([isName ? 200 : 400, name]);
    },
  );

  it("are only those of the service: not of the location, of headers, nor behind a symlink", async () => {
    for (const path of ["/protected/outside/a.txt", "/protected/alice/a.txt", "/protected/"])
      expect((await call("GET", path)).status).toBe(404);
    expect((await call("GET", "/home/out/a.txt")).status).toBe(404);
    const headers = {
      "x-accel-redirect": "/protected/outside/a.txt",
      "x-accel-mapping": "/=/etc/",
      "x-sendfile-type": "X-Sendfile",
    };
    const asked = await same("GET", "/home/a.txt", headers);
    expect(`${asked.bytes}`).toBe("0123456789");
    expect((await same("GET", "/home/never", headers)).status).toBe(404);
  });

  it("are not sent if a symlink comes in the way meanwhile", async () => {
    const folder = join(root, "alice/swapped");
    await mkdir(folder);
    await writeFile(join(folder, "a.txt"), "own");
    let wasSecret = false;
    let swaps = 0;
    const swapping = (async () => {
      for (; swaps < 200; swaps += 1) {
        await rename(folder, `${folder}-aside`);
        await symlink("../outside", folder);
        await rm(folder);
        await rename(`${folder}-aside`, folder);
      }
    })();
    while (swaps < 200) {
      const { bytes } = await call("GET", "/home/swapped/a.txt");
      wasSecret ||= `${bytes}` === "secret";
    }
    await swapping;
    expect(wasSecret).toBe(false);
  }, 60_000);

  it("are reported once they end, also if the client goes away", async () => {
    await call("GET", "/home/page.html", { range: "bytes=2-4" });
    await expect.poll(() => endsOf("/page.html")).toHaveLength(1);
    expect(endsOf("/page.html")[0]?.[1]).toMatchObject({ total_read: 3, handed_over: "nginx" });
    const request = send(proxies[0], "GET", "/home/huge", {});
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.once("data", () => request.destroy());
    response.on("error", () => undefined);
    await expect.poll(() => endsOf("/huge"), { timeout: 20_000 }).toHaveLength(1);
    const [[id, data] = []] = endsOf("/huge");
    expect([id, data]).toEqual([40018, expect.objectContaining({ total_read: expect.any(Number) })]);
    expect((data as { total_read: number }).total_read).toBeLessThan(HUGE);
  }, 30_000);

  it("take the uses of a link, and give back that of one that was cut", async () => {
    const link = await service.links.create({ username: "alice", path: "/huge", maxUses: 1 });
    const path = link.filePath ?? "";
    const uses = async () => (await service.links.list("alice"))[0]?.uses;
    const request = send(proxies[0], "GET", path, { authorization: "" });
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    expect(await uses()).toBe(1);
    expect((await call("GET", path)).status).toBe(410);
    response.on("error", () => undefined);
    request.destroy();
    await expect.poll(uses, { timeout: 20_000 }).toBe(0);
    const whole = await call("GET", path, { authorization: "" });
    expect([whole.status, whole.bytes.byteLength, await uses()]).toEqual([200, HUGE, 1]);
    expect([whole.headers["referrer-policy"], whole.headers["x-robots-tag"]]).toEqual([
      "no-referrer",
      "noindex, nofollow",
    ]);
    expect((await call("GET", path)).status).toBe(410);
  }, 30_000);

  it.each([5000, 10])("are reported as aborted if nginx cannot send them: %i bytes", async (size) => {
    const details = "The client did not get all of the file.";
    await writeFile(join(root, "alice/gone"), randomBytes(size));
    expect((await call("GET", "/home/gone")).status).toBe(404);
    await expect.poll(() => endsOf("/gone")).toEqual([[40018, expect.objectContaining({ details })]]);
  });

  it("cannot be reported by a client", async () => {
    const answer = await call("POST", `/__svc__/offload/${"0".repeat(32)}`, { "x-completed": "OK", "x-bytes": "1" });
    expect(answer.status).toBe(404);
  });
});
