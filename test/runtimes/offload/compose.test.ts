import { execFile } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request as secureRequest } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import ipaddr from "ipaddr.js";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { builtFolder, ensureBuilt, makeFolder, projectFolder, runCommand, startServer } from "../../support/built.ts";
import { findFreePort, findMissingNginx, startNginx } from "../../support/nginx.ts";
import { standBetween } from "../../support/openapi/between.ts";
import { hasRedis, startRedis } from "../../support/redis.ts";

const missing = findMissingNginx() ?? (hasRedis ? undefined : "redis-server is not installed");
const example = join(projectFolder, "examples/compose");

/** Replaces texts, each of which must be there. */
function replaceEach(written: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    expect(changed).toContain(from);
    return changed.replaceAll(from, to);
  }, written);
}

describe.skipIf(missing)(`the services of compose.yaml${missing ? ` (skipped: ${missing})` : ""}`, () => {
  beforeAll(ensureBuilt);

  it("serve together: nginx with its configuration, the service with its command, and Redis", async () => {
    const [folder, port, front] = [await makeFolder(), await findFreePort(), await findFreePort()];
    const root = join(folder, "files");
    await mkdir(root);
    const { services, networks } = parse(await readFile(join(example, "compose.yaml"), "utf8"));
    const [server, ...flags]: readonly string[] = services.redis.command;
    expect(server).toBe("redis-server");
    const redis = await startRedis(undefined, [...flags, "--dir", folder]);
    onTestFinished(redis.stop);
    const [kind, client = "", ...question]: readonly string[] = services.redis.healthcheck.test;
    const askRedis = async (...words: readonly string[]) =>
      (await promisify(execFile)(client, ["-p", String(redis.port), ...words])).stdout;
    expect([kind, await askRedis(...question)]).toEqual(["CMD", "PONG\n"]);
    // A session survives the end of Redis.
    await askRedis("set", "kept", "a session");
    await redis.stop();
    await redis.start();
    expect(await askRedis("get", "kept")).toBe("a session\n");
    standBetween(port, { isOffloaded: true });
    const nginx = await startNginx(front, [port], "compose", [
      ["alias /srv/files/;", `alias ${root}/;`],
      ["from=/srv/files;", `from=${root};`],
    ]);
    onTestFinished(() => nginx.stop());

    await cp(join(example, "etc"), join(folder, "etc"), { recursive: true });
    const config = join(folder, "etc/fileferry.yaml");
    const changed = replaceEach(await readFile(config, "utf8"), {
      "host: 0.0.0.0, port: 8080": `host: 127.0.0.1, port: ${port}`,
      "host: 0.0.0.0, port: 9464": `host: 127.0.0.1, port: ${await findFreePort()}`,
      "https://files.example": nginx.origin,
      "172.30.0.2": "127.0.0.1",
      "root: /files": `root: ${root}`,
      "redis://redis:6379": redis.url,
      "/run/secrets/links": join(folder, "links.txt"),
    });
    await writeFile(config, changed);
    await writeFile(join(folder, "links.txt"), `${"x".repeat(44)}\n`);
    const added = ["account", "add", "alice", "--file", join(folder, "etc/accounts.json")];
    expect(await runCommand(added, "a long passphrase\n")).toMatchObject({ status: 0 });

    // Docker gives no other container the address that nginx has.
    const [{ ip_range: others }] = networks.inner.ipam.config;
    const own = services.nginx.networks.inner.ipv4_address;
    expect(changed).not.toContain(own);
    expect(ipaddr.parse(own).match(ipaddr.parseCIDR(others))).toBe(false);
    const [node, ...words]: readonly string[] = services.fileferry.command;
    expect(node).toBe("node");
    const places = { "node_modules/fileferry/dist": builtFolder, "/etc/fileferry": join(folder, "etc") };
    const [command, ...rest] = replaceEach(words.join("\n"), places).split("\n");
    const run = await startServer(rest, [], command);

    const headers = { authorization: `Basic ${btoa("alice:a long passphrase")}`, accept: "application/json" };
    async function ask(method: string, path: string, body?: string): Promise<readonly [number | undefined, string]> {
      const request = secureRequest(`${nginx.origin}${path}`, { method, headers, ca: nginx.certificate, agent: false });
      request.end(body);
      const [response] = (await once(request, "response")) as [IncomingMessage];
      return [response.statusCode, await text(response)];
    }
    expect(await ask("PUT", "/home/a.txt", "content")).toEqual([201, expect.any(String)]);
    expect(await ask("GET", "/home/a.txt")).toEqual([200, "content"]);
    expect((await ask("GET", "/protected/alice/a.txt"))[0]).toBe(404);
    // nginx has sent the content, and the service knows the address of the client.
    await expect.poll(() => run.stderr()).toMatch(/"method":"GET","path":"\/home\/a\.txt"/);
    const lines = run.stderr().trimEnd().split("\n");
    const logged = lines.map((line) => JSON.parse(line)).filter(({ path }) => path === "/home/a.txt");
    expect(logged).toMatchObject([
      { method: "PUT", status: 201, received: 7 },
      { method: "GET", status: 200, sent: 0, address: "127.0.0.1", account: "alice" },
    ]);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
  }, 60_000);
});
