import { chmod, readdir, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { findMissingApache, startApache } from "../runtimes/offload/apache-server.ts";
import { ensureBuilt, makeFolder, startCommand, startServer } from "../support/built.ts";
import { findFreePort, findMissingNginx, type Nginx, startNginx } from "../support/nginx.ts";
import { hasRedis, redisNote, startRedis } from "../support/redis.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { toUnprivileged } from "../support/unprivileged.ts";
import { configure } from "./configure.ts";

const missing = findMissingNginx();
const missingApache = findMissingApache();
const doctor = (config: string, ...flags: string[]) => runInProcess(["doctor", "--config", config, ...flags]);

/** Starts a proxy that changes what it passes on. */
async function startProxy(
  port: number,
  change: (headers: Record<string, string>, url: string) => string,
): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers } as Record<string, string>;
    const path = change(headers, incoming.url ?? "");
    const passed = request({ port, path, method: incoming.method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  proxy.on("checkContinue", (_incoming, outgoing) => outgoing.writeHead(413).end());
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

describe("fileferry doctor", () => {
  beforeAll(ensureBuilt);

  it("tries the storage, and leaves nothing there", async () => {
    const root = await makeFolder();
    const { status, stdout } = await doctor(await configure({ storage: { type: "disk", root, durability: "rename" } }));
    expect(stdout).toMatch(/^(?:ok|warning): user: \S+ \(\d+\)/m);
    expect(stdout).toMatch(/^ok: storage: writes and flushes in \d+ ms, reads, moves and removes$/m);
    expect(stdout).toMatch(/^(?:ok|warning): storage\.root: \d+ MB are free/m);
    expect(stdout).toMatch(/^warning: storage\.durability: .*: set storage\.durability to "fsync"/m);
    expect(stdout).toMatch(/^ok: stores: the memory of the process/m);
    expect(status).toBe(0);
    expect(await readdir(root)).toEqual([]);
  });

  it("names the accounts of a file that cannot log in, as check does", async () => {
    const file = join(await makeFolder(), "accounts.json");
    const accounts = [{ username: "bob", password: "secret of bob", group: "nosuch" }];
    await writeFile(file, JSON.stringify({ accounts }));
    const root = await makeFolder();
    const authentication = [{ type: "accounts", file }];
    const { status, stdout } = await doctor(await configure({ storage: { type: "disk", root }, authentication }));
    const line = `error: authentication[0]: bob of ${file} cannot log in: accounts[0].group: nosuch is not a configured group\n`;
    expect([status, stdout]).toEqual([2, expect.stringContaining(line)]);
  });

  it("finds that the user of the service cannot write to the storage", async ({ skip }) => {
    const root = await makeFolder();
    await chmod(root, 0o555);
    const config = await configure({ storage: { type: "disk", root } });
    const run = startCommand(["doctor", "--config", config], "", toUnprivileged(skip));
    expect(await run.ended, run.stderr()).toBe(1);
    expect(run.stdout()).toMatch(/^error: storage: .+: let the user of the service read and write in the storage$/m);
    expect(await readdir(root)).toEqual([]);
  });

  it("says that a bucket or a store does not respond", async () => {
    const port = await findFreePort();
    vi.stubEnv("AWS_ACCESS_KEY_ID", "ACCESSKEY");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "SECRETKEY");
    onTestFinished(() => void vi.unstubAllEnvs());
    const config = await configure({
      storage: { type: "s3", bucket: "files", endpoint: `http://127.0.0.1:${port}` },
      session: { store: `redis://:secret@127.0.0.1:${port}` },
    });
    const { status, stdout } = await doctor(config);
    expect(stdout).toMatch(/^error: storage: .*ECONNREFUSED: let the user of the service read and write/m);
    expect(stdout).not.toContain("SECRETKEY");
    expect(stdout).toMatch(/^error: session\.store: Redis at 127\.0\.0\.1:\d+ cannot be reached: .*: start the store/m);
    expect(stdout).not.toContain("secret");
    expect(status).toBe(1);
  });

  it("finds that a proxy changes paths, appends to the address, and limits uploads", async () => {
    const port = await findFreePort();
    const url = await startProxy(port, (headers, path) => {
      headers["x-forwarded-for"] = `${headers["x-forwarded-for"]}, 127.0.0.1`;
      return decodeURI(path).replaceAll("//", "/").replaceAll(" ", "+");
    });
    const config = await configure({
      listen: { port },
      storage: { type: "memory" },
      publicOrigin: "https://files.example",
      clientForwardedHeader: "X-Forwarded-For",
    });
    const { status, stdout } = await doctor(config, "--url", url);
    expect(stdout).toMatch(/^error: proxy path: .* arrives as .*: pass it on without decoding/m);
    expect(stdout).toMatch(/^error: publicOrigin: is https:\/\/files\.example, not http/m);
    expect(stdout).toMatch(/^error: proxy client: any client can choose its address by X-Forwarded-For/m);
    expect(stdout).toMatch(/^ok: proxy response: arrives unchanged$/m);
    expect(stdout).toMatch(/^ok: proxy uploads: are streamed$/m);
    expect(stdout).toMatch(/^error: proxy upload limit: the proxy refuses 10737418240 bytes/m);
    expect(status).toBe(1);
  });

  it("asks the running service, and another server that took its place", async () => {
    const config = await configure({ listen: { port: await findFreePort() }, storage: { type: "memory" } });
    const { url } = await startServer(["serve", "--config", config]);
    const { status, stdout } = await doctor(config, "--url", url);
    expect(stdout).toMatch(/^warning: proxy: the service is running: stop it/m);
    expect(stdout).toMatch(/^ok: proxy: \S+\/__svc__\/health reaches the service$/m);
    expect(stdout).toMatch(/^ok: proxy upload limit: /m);
    expect(status).toBe(0);
    const other = createTcpServer((socket) => socket.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const elsewhere = await doctor(config, "--url", `http://127.0.0.1:${(other.address() as AddressInfo).port}`);
    expect(elsewhere).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^error: proxy: .* is 502: pass it on/m),
    });
  });

  it("refuses a URL that is none, and asks for one if there is a proxy", async () => {
    const config = await configure({ storage: { type: "memory" }, publicOrigin: "https://files.example" });
    expect(await doctor(config, "--url", "files.example")).toMatchObject({ status: 2 });
    expect((await doctor(config)).stdout).toContain("with --url https://files.example\n");
    await writeFile(join(config, "../x.json"), "{");
    expect(await doctor(join(config, "../x.json"))).toMatchObject({ status: 2 });
  });

  describe.runIf(hasRedis)(`with Redis${redisNote}`, () => {
    it("tries whether it is atomic, and compares its clock", async () => {
      const redis = await startRedis("secret of redis");
      onTestFinished(() => redis.stop());
      const config = await configure({ storage: { type: "memory" }, session: { store: redis.url } });
      const { status, stdout } = await doctor(config);
      expect(stdout).toMatch(/^ok: session\.store: Redis at 127\.0\.0\.1:\d+ responds, and its steps are atomic$/m);
      expect(stdout).toMatch(/^ok: session\.store: has the time of this machine$/m);
      expect(status).toBe(0);
    });
  });

  describe.skipIf(missingApache)(`behind Apache${missingApache ? ` (skipped: ${missingApache})` : ""}`, () => {
    it("finds whether it sends files of the storage", async () => {
      const [port, front] = [await findFreePort(), await findFreePort()];
      const [root, folder] = [await makeFolder(), await makeFolder()];
      // Apache has another account than the tests if root starts it.
      await chmod(root, 0o755);
      const apache = await startApache(front, port, root);
      onTestFinished(() => apache.stop());
      await writeFile(join(folder, "ca.pem"), apache.certificate);
      const examine = async (offloadRoot: string) => {
        const config = await configure({
          listen: { port },
          storage: { type: "disk", root },
          publicOrigin: apache.origin,
          clientForwardedHeader: "X-Forwarded-For",
          offload: { type: "apache", root: offloadRoot },
        });
        const flags = ["doctor", "--config", config, "--url", apache.origin];
        const run = startCommand(flags, "", ["env", `NODE_EXTRA_CA_CERTS=${join(folder, "ca.pem")}`]);
        return { status: await run.ended, stdout: run.stdout() };
      };
      const good = await examine(root);
      expect(good.stdout).toMatch(/^ok: offload: apache sends files from the storage$/m);
      expect(good.status).toBe(0);
      const wrong = await examine(folder);
      expect(wrong.stdout).toMatch(/^error: offload: apache does not send a file of the storage: compare offload/m);
      expect(wrong.status).toBe(1);
      expect(await readdir(root)).toEqual([]);
    });
  });

  describe.skipIf(missing)(`behind nginx${missing ? ` (skipped: ${missing})` : ""}`, () => {
    it("finds everything in order as the example has it, offload included", async () => {
      const [port, front] = [await findFreePort(), await findFreePort()];
      const root = await makeFolder();
      const nginx: Nginx = await startNginx(front, [port], "offload", [
        ["alias /srv/files/;", `alias ${root}/;`],
        ["from=/srv/files;", `from=${root};`],
      ]);
      onTestFinished(() => nginx.stop());
      await writeFile(join(root, "ca.pem"), nginx.certificate);
      const config = await configure({
        listen: { port },
        storage: { type: "disk", root },
        publicOrigin: nginx.origin,
        clientForwardedHeader: "X-Forwarded-For",
        offload: { type: "nginx", prefix: "/protected/" },
      });
      const flags = ["doctor", "--config", config, "--url", nginx.origin];
      const run = startCommand(flags, "", ["env", `NODE_EXTRA_CA_CERTS=${join(root, "ca.pem")}`]);
      expect(await run.ended, run.stdout()).toBe(0);
      for (const about of ["path", "client", "response", "uploads", "upload limit", "clock"]) {
        expect(run.stdout()).toMatch(new RegExp(`^ok: proxy ${about}: `, "m"));
      }
      expect(run.stdout()).toMatch(/^ok: offload: nginx sends files from the storage$/m);
      const untrusted = await doctor(config, "--url", nginx.origin);
      const { origin } = nginx;
      expect(untrusted.stdout).toContain(
        `error: proxy: ${origin}: no known authority has signed the certificate: correct`,
      );
      expect(untrusted.stdout).toContain("; NODE_EXTRA_CA_CERTS names an authority of your own\n");
    });

    it("finds a limit on uploads and a wrong folder", async () => {
      const [port, front] = [await findFreePort(), await findFreePort()];
      const nginx = await startNginx(front, [port], "offload", [["client_max_body_size 0;", ""]]);
      onTestFinished(() => nginx.stop());
      const root = await makeFolder();
      await writeFile(join(root, "ca.pem"), nginx.certificate);
      const offload = { type: "nginx", prefix: "/protected/", trustedPeers: ["10.0.0.1"] };
      const config = await configure({ listen: { port }, storage: { type: "disk", root }, offload });
      const flags = ["doctor", "--config", config, "--url", nginx.origin];
      const run = startCommand(flags, "", ["env", `NODE_EXTRA_CA_CERTS=${join(root, "ca.pem")}`]);
      expect(await run.ended).toBe(1);
      expect(run.stdout()).toMatch(/^error: proxy upload limit: .*client_max_body_size 0$/m);
      expect(run.stdout()).toMatch(/^error: publicOrigin: is missing, .*: set it to https/m);
      expect(run.stdout()).toMatch(/^warning: proxy client: the header X-Forwarded-For is not used/m);
      expect(run.stdout()).toMatch(/^error: offload\.trustedPeers: the proxy is at 127\.0\.0\.1/m);
      expect(run.stdout()).toMatch(/^error: offload: nginx does not send a file of the storage/m);
    });
  });
});
