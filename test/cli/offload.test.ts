import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeFolder, startServer } from "../support/built.ts";
import { findFreePort, findMissingNginx, startNginx } from "../support/nginx.ts";
import { standBetween } from "../support/openapi/between.ts";
import { leaveUndescribed } from "../support/openapi/undescribed.ts";
import { runInProcess } from "../support/run-in-process.ts";

const NGINX = { type: "nginx", prefix: "/protected/" };

async function configure(members: object): Promise<string> {
  const file = join(await makeFolder(), "fileferry.json");
  const config = {
    listen: { port: 0 },
    storage: { type: "disk", root: await makeFolder() },
    authentication: [{ type: "accounts", accounts: [{ username: "alice", password: "secret of alice" }] }],
    ...members,
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

const missing = findMissingNginx();

describe("the key offload of a configuration", () => {
  it("leaves downloads to the server in front, also with quotas", async () => {
    const config = await configure({ offload: NGINX, quota: {} });
    const { url } = await startServer(["serve", "--config", config]);
    standBetween(Number(new URL(url).port), { isOffloaded: true });
    const headers = { Authorization: `Basic ${btoa("alice:secret of alice")}` };
    await fetch(`${url}home/a.txt`, { method: "PUT", headers, body: "content" });
    const answer = await fetch(`${url}home/a.txt`, { headers });
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
    expect(answer.headers.get("x-accel-redirect")).toBe("/protected/alice/a.txt");
  });

  describe.skipIf(missing)(`behind nginx${missing ? ` (skipped: ${missing})` : ""}`, () => {
    it("keeps the identifier of a request, also in both logs, and may serve other programs of the machine", async () => {
      const [front, root] = [await findFreePort(), await makeFolder()];
      const members = { clientForwardedHeader: "X-Forwarded-For", log: { format: "json" } };
      const offload = { ...NGINX, report: true, trustedPeers: ["127.0.0.2"] };
      const config = await configure({ ...members, storage: { type: "disk", root }, offload });
      const run = await startServer(["serve", "--config", config]);
      const nginx = await startNginx(front, [Number(new URL(run.url).port)], "offload", [
        ["alias /srv/files/;", `alias ${root}/;`],
        ["from=/srv/files;", `from=${root};`],
        ["proxy_pass http://fileferry;", "proxy_pass http://fileferry;\nproxy_bind 127.0.0.2;"],
        ["location @done {", "location @done {\nproxy_bind 127.0.0.2;"],
      ]);
      onTestFinished(() => nginx.stop());
      leaveUndescribed("GET", "/home/a.txt");
      const authorization = `Basic ${btoa("alice:secret of alice")}`;
      await fetch(`${run.url}home/a.txt`, { method: "PUT", headers: { authorization }, body: "content" });
      const asked = request(`${nginx.origin}/home/a.txt`, { ca: nginx.certificate, headers: { authorization } }).end();
      const [{ statusCode, headers }] = (await once(asked, "response")) as [IncomingMessage];
      const id = String(headers["x-request-id"]);
      expect([statusCode, headers["content-length"], id]).toEqual([200, "7", expect.stringMatching(/^[0-9a-f]{32}$/)]);
      asked.destroy();
      // With reports nginx logs the status of the report in place of the download's.
      await expect.poll(nginx.accessLog).toContain(`"GET /home/a.txt" 204 7 ${id}\n`);
      await expect.poll(run.stderr).toContain(`"account":"alice","id":"${id}","method":"GET"`);
      await expect.poll(run.stderr).toMatch(/"method":"POST","path":"\/__svc__\/offload\/\w+",.*"status":204/);
      const direct = await fetch(`${run.url}home/a.txt`, { headers: { authorization } });
      expect([await direct.text(), direct.headers.get("x-accel-redirect")]).toEqual(["content", null]);
    });
  });

  it.each([
    [{ offload: { type: "lighttpd" } }, "offload.type"],
    [{ offload: { type: "nginx" } }, "offload.prefix"],
    [{ offload: { type: "nginx", prefix: "protected" } }, "offload.prefix: must be the path of a location"],
    [{ offload: { ...NGINX, seconds: 1 } }, "offload.seconds: unknown key"],
    [{ offload: { ...NGINX, trustedPeers: ["localhost"] } }, "offload.trustedPeers: must be addresses or networks"],
    [{ offload: NGINX, storage: { type: "memory" } }, 'offload.type: needs storage.type "disk"'],
    [{ offload: { type: "apache", root: "/srv" }, storage: { type: "memory" } }, 'needs storage.type "disk"'],
    [{ offload: { type: "presigned" } }, 'offload.type: needs storage.type "s3"'],
    [{ offload: { type: "presigned", seconds: 0 } }, "offload.seconds: must be a whole number from 1 to 604800"],
  ])("is checked at the start: %j", async (members, problem) => {
    const { status, stderr } = await runInProcess(["serve", "--config", await configure(members)]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(problem) });
  });

  it("refuses reports with workers, of which each would know its own downloads", async () => {
    const session = { store: `sqlite://${join(await makeFolder(), "sessions.sqlite")}` };
    const config = await configure({ session, offload: { ...NGINX, report: true } });
    const { status, stderr } = await runInProcess(["serve", "--config", config, "--workers", "2"]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("remove offload.report") });
  });
});
