import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder, startServer } from "../support/built.ts";
import { leaveUndescribed } from "../support/openapi/undescribed.ts";
import { runInProcess } from "../support/run-in-process.ts";

const ALICE = { Authorization: `Basic ${btoa("alice:secret of alice")}` };

async function configure(members: object): Promise<string> {
  const folder = await makeFolder();
  await mkdir(join(folder, "files"));
  const file = join(folder, "fileferry.json");
  const config = {
    listen: { port: 0 },
    storage: { type: "disk", root: "./files" },
    authentication: [{ type: "accounts", accounts: [{ username: "alice", password: "secret of alice" }] }],
    ...members,
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

describe("the keys digests, idempotency and scan of a configuration", () => {
  it("are options of the service", async () => {
    const scan = { clamd: "/nowhere/clamd.ctl", onUnavailable: "pass" };
    const config = await configure({ digests: {}, idempotency: {}, scan, events: { file: "events.ndjson" } });
    const { url } = await startServer(["serve", "--config", config]);
    leaveUndescribed("PUT", "/home/a");
    const headers = { ...ALICE, "Want-Repr-Digest": "sha-256=1" };
    const stored = await fetch(`${url}home/a`, { method: "PUT", headers, body: "content" });
    const digest = createHash("sha256").update("content").digest("base64");
    expect([stored.status, stored.headers.get("repr-digest")]).toEqual([201, `sha-256=:${digest}:`]);
    const command = {
      method: "POST",
      headers: { ...ALICE, "Content-Type": "application/json", "Idempotency-Key": "key" },
      body: JSON.stringify({ commands: [{ command: "delete", target: "a" }] }),
    };
    leaveUndescribed("POST", "/home/");
    const replayed = [];
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { status, headers } = await fetch(`${url}home/`, command);
      replayed.push([status, headers.get("idempotency-replayed")]);
    }
    expect(replayed).toEqual([
      [200, null],
      [200, "true"],
    ]);
  });

  it("refuse uploads where no clamd answers", async () => {
    const config = await configure({ scan: { clamd: "/nowhere/clamd.ctl" } });
    const { url } = await startServer(["serve", "--config", config]);
    const refused = await fetch(`${url}home/a`, { method: "PUT", headers: ALICE, body: "content" });
    expect([refused.status, refused.headers.get("error-code")]).toEqual([503, "scan-unavailable"]);
    expect((await fetch(`${url}home/a`, { headers: ALICE })).status).toBe(404);
  });

  it("refuse workers whose responses are in memory, with status 2", async () => {
    const config = await configure({ idempotency: {}, session: { store: "redis://127.0.0.1:9" } });
    const { status, stderr } = await runInProcess(["serve", "--config", config, "--workers", "2"]);
    expect(status).toBe(2);
    expect(stderr).toMatch(
      /^error: --workers needs responses that all workers share: set idempotency\.store [^\n]*\n$/m,
    );
  });
});
