import { access, mkdir, readdir, writeFile } from "node:fs/promises";
import { type ClientRequest, get, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ensureBuilt, makeFolder, runCommand, startServer } from "../support/built.ts";

const ALICE = { Authorization: `Basic ${btoa("alice:secret")}` };
const ANY_PORT = ["--port", "0"];

beforeAll(ensureBuilt, 300_000);

/** The arguments of a command whose configuration has these members, and its folder of files. */
async function configured(members: object): Promise<{ args: readonly string[]; files: string }> {
  const folder = await makeFolder();
  const files = join(folder, "files");
  await mkdir(files);
  const account = { username: "alice", password: "secret", home_folder_path: "/" };
  const authentication = [{ type: "accounts", accounts: [account] }];
  const config = { storage: { type: "disk", root: "files" }, authentication, ...members };
  await writeFile(join(folder, "fileferry.json"), JSON.stringify(config));
  return { args: ["serve", "--config", join(folder, "fileferry.json"), ...ANY_PORT], files };
}

/** An upload that has sent some of its content. */
function beginUpload(url: string): ClientRequest {
  const upload = request(url, { method: "PUT", headers: { ...ALICE, "Content-Length": "1000" } });
  upload.on("error", () => undefined);
  upload.write("some");
  onTestFinished(() => void upload.destroy());
  return upload;
}

/** Starts a download and reads nothing of it. */
function beginDownload(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { headers: ALICE }, resolve);
    asked.on("error", reject);
    onTestFinished(() => void asked.destroy());
  });
}

describe("fileferry serve with a deadline for its end", () => {
  it.each([
    ["--deadline", {}, ["--deadline", "0.5"]],
    ["connections.deadlineSeconds", { connections: { deadlineSeconds: 0.5 } }, []],
    ["--deadline over the file's", { connections: { deadlineSeconds: 3600 } }, ["--deadline", "0.5"]],
  ])(
    "cuts transfers that take longer, leaves no partial file, and ends with status 0 (%s)",
    async (_way, members, flags) => {
      const { args, files } = await configured(members);
      const run = await startServer([...args, ...flags]);
      const upload = beginUpload(`${run.url}home/slow.bin`);
      const cut = new Promise((resolve) => upload.on("error", resolve));
      await delay(300);
      const startedAt = performance.now();
      run.child.kill("SIGTERM");
      await cut;
      expect(await run.ended).toBe(0);
      expect(performance.now() - startedAt).toBeGreaterThan(400);
      expect(await readdir(files)).toEqual([]);
      await expect(access(join(files, "slow.bin"))).rejects.toThrow();
    },
  );

  it("rejects a value that is not a number of seconds", async () => {
    const { status, stderr } = await runCommand(["serve", ".", "--account", "a:b", "--deadline", "soon"]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: [^\n]*'soon' is invalid\. expected seconds, or 0\n$/);
  });
});

describe("fileferry serve with limits", () => {
  it("takes the limits of connections from the configuration (connections)", async () => {
    const { args } = await configured({
      connections: { maxHeaderBytes: 1024, minBytesPerSecond: 100_000, paceSeconds: 1 },
    });
    const run = await startServer(args);
    const long = await fetch(`${run.url}home/`, { headers: { ...ALICE, "X-Long": "x".repeat(2000) } });
    expect(long.status).toBe(431);
    const upload = beginUpload(`${run.url}home/slow.bin`);
    await new Promise((resolve) => upload.on("error", resolve));
    expect((await fetch(`${run.url}home/slow.bin`, { headers: ALICE })).status).toBe(404);
  });

  it("takes the limits of transfers from the configuration (limits)", async () => {
    const { args, files } = await configured({ limits: { transfersPerAccount: 1, maxCommands: 1 } });
    await writeFile(join(files, "large.bin"), Buffer.alloc(30_000_000));
    const run = await startServer(args);
    const download = await beginDownload(`${run.url}home/large.bin`);
    const refused = await fetch(`${run.url}home/new.txt`, { method: "PUT", headers: ALICE, body: "new" });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    await expect.poll(run.stderr).toContain("The limit of concurrent transfers is reached");
    download.destroy();
    await delay(200);
    const taken = await fetch(`${run.url}home/new.txt`, { method: "PUT", headers: ALICE, body: "new" });
    expect(taken.status).toBe(201);
    const commands = ["a", "b"].map((target) => ({ command: "create-folder", target }));
    const headers = { ...ALICE, "Content-Type": "application/json" };
    const body = JSON.stringify({ commands });
    expect((await fetch(`${run.url}home/`, { method: "POST", headers, body })).status).toBe(400);
  });
});
