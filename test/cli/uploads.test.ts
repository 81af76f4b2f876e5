import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt, makeFolder, startServer } from "../support/built.ts";
import { leaveUndescribed } from "../support/openapi/undescribed.ts";

const ALICE = { Authorization: `Basic ${btoa("alice:secret")}` };
const CREATION = { ...ALICE, "Upload-Complete": "?0", "Upload-Length": "10" };
const PART = { ...ALICE, "Content-Type": "application/partial-upload", "Upload-Complete": "?0" };

beforeAll(ensureBuilt, 300_000);

/** A configuration with these uploads, and the folder of its files. */
async function configure(uploads: unknown) {
  const folder = await makeFolder();
  const files = join(folder, "files");
  await mkdir(files);
  const config = {
    listen: { port: 0 },
    storage: { type: "disk", root: "files" },
    authentication: [
      { type: "accounts", accounts: [{ username: "alice", password: "secret", home_folder_path: "/" }] },
    ],
    events: { file: "events.ndjson" },
    uploads,
  };
  await writeFile(join(folder, "fileferry.json"), JSON.stringify(config));
  return { args: ["serve", "--config", join(folder, "fileferry.json")], folder, files };
}

/** The names of files below a folder. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe("fileferry serve with uploads", () => {
  it("removes at its start what has expired while it did not run, and reports it (R 7.2, 9.3)", async () => {
    const { args, folder, files } = await configure({ idleSeconds: 1 });
    const first = await startServer(args);
    const created = await fetch(`${first.url}home/a`, { method: "PUT", headers: CREATION });
    expect([created.status, created.headers.get("upload-offset")]).toEqual([201, "0"]);
    const url = new URL(created.headers.get("location") ?? "", first.url);
    const part = await fetch(url, { method: "PATCH", headers: { ...PART, "Upload-Offset": "0" }, body: "hello" });
    expect(part.status).toBe(204);
    first.child.kill("SIGTERM");
    expect(await first.ended).toBe(0);
    expect((await filesBelow(files)).length).toBeGreaterThanOrEqual(2);
    await delay(1500);
    const second = await startServer(args);
    await expect.poll(() => filesBelow(files), { timeout: 10_000 }).toEqual([]);
    const shown = await fetch(new URL(url.pathname, second.url), { method: "HEAD", headers: ALICE });
    expect(shown.status).toBe(404);
    second.child.kill("SIGTERM");
    expect(await second.ended).toBe(0);
    const events = (await readFile(join(folder, "events.ndjson"), "utf8")).trimEnd().split("\n");
    const ends = events.map((line) => JSON.parse(line)).filter(({ id }) => id === 40021 || id === 40022);
    expect(ends).toMatchObject([{ id: 40021 }, { id: 40022, data: { path: "/a", total_write: 5 } }]);
  });

  it("keeps at its start what has not expired", async () => {
    const { args } = await configure({});
    const first = await startServer(args);
    const created = await fetch(`${first.url}home/a`, { method: "PUT", headers: CREATION, body: "hello" });
    const { pathname } = new URL(created.headers.get("location") ?? "", first.url);
    first.child.kill("SIGTERM");
    await first.ended;
    const second = await startServer(args);
    const headers = { ...PART, "Upload-Complete": "?1", "Upload-Offset": "5" };
    const last = await fetch(new URL(pathname, second.url), { method: "PATCH", headers, body: "world" });
    expect(last.status).toBe(201);
    expect(await (await fetch(`${second.url}home/a`, { headers: ALICE })).text()).toBe("helloworld");
  });

  it("has the limit of one request of its configuration", async () => {
    const { args } = await configure({ maxAppendBytes: 5 });
    const { url } = await startServer(args);
    const answer = await fetch(`${url}home/a`, { method: "PUT", headers: CREATION, body: "hello!" });
    expect([answer.status, answer.headers.get("upload-limit")]).toEqual([
      413,
      expect.stringContaining("max-append-size=5"),
    ]);
  });

  it("has none if the configuration says so", async () => {
    const { args } = await configure(false);
    const { url } = await startServer(args);
    const options = await fetch(`${url}home/a`, { method: "OPTIONS", headers: ALICE });
    expect(options.headers.get("tus-version")).toBeNull();
    // The description is that of a service without uploads.
    leaveUndescribed("PUT", "/home/a");
    leaveUndescribed("GET", "/home/__svc__/uploads/");
    expect((await fetch(`${url}home/a`, { method: "PUT", headers: CREATION, body: "hello" })).status).toBe(501);
    expect((await fetch(`${url}home/__svc__/uploads/`, { headers: ALICE })).status).toBe(404);
  });
});
