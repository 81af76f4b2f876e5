import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { VERSION } from "../../src/config/version.ts";
import type { FileEvent } from "../../src/contracts/events/file-event.ts";
import { fileEventSchema, webhookBodySchema } from "../../src/schemas/events.ts";
import { ensureBuilt, makeFolder, runCommand, startServer, waitFor } from "../support/built.ts";
import { countRequests, leaveUndescribed } from "../support/openapi/undescribed.ts";
import { watchText } from "../support/secrets/secrets.ts";

const ALICE = { Authorization: `Basic ${btoa("alice:secret")}` };
const SECRET = `whsec_${btoa("0123456789abcdef0123456789abcdef")}`;
const authentication = [
  { type: "accounts", accounts: [{ username: "alice", password: "secret", home_folder_path: "/" }] },
];

beforeAll(ensureBuilt);

/** Starts the command on a configuration of its own. */
async function serve(config: object) {
  const folder = await makeFolder();
  const file = join(folder, "fileferry.json");
  watchText(() =>
    existsSync(join(folder, "events.ndjson")) ? readFileSync(join(folder, "events.ndjson"), "utf8") : "",
  );
  const storage = { type: "memory" };
  await writeFile(file, JSON.stringify({ listen: { port: 0 }, storage, authentication, ...config }));
  return { folder, file, run: await startServer(["serve", "--config", file]) };
}

const idsOf = (events: readonly FileEvent[]): number[] => events.map(({ id }) => id);

describe("the events of fileferry serve", () => {
  it("go to a file and to webhooks with the metadata of uploads, including the last ones at the end", async () => {
    const posted: FileEvent[] = [];
    const hook = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      new Webhook(SECRET).verify(body, request.headers as Record<string, string>);
      posted.push(...(webhookBodySchema.parse(JSON.parse(body)).events as FileEvent[]));
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void hook.close());
    const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`;
    const { folder, run } = await serve({
      metadataFields: "X-Labels\nproject required",
      events: { file: "events.ndjson", webhooks: [{ url, secret: SECRET, filter: [40017] }] },
    });
    const headers = { ...ALICE, "X-Labels": "project=a" };
    expect((await fetch(`${run.url}home/a.txt`, { method: "PUT", headers, body: "12345" })).status).toBe(201);
    expect(await (await fetch(`${run.url}home/a.txt`, { headers: ALICE })).text()).toBe("12345");
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
    const lines = (await readFile(join(folder, "events.ndjson"), "utf8")).trimEnd().split("\n");
    const events = lines.map((line) => fileEventSchema.parse(JSON.parse(line)) as FileEvent);
    expect(idsOf(events)).toEqual([40007, 40021, 40017, 40004, 40039]);
    expect(events[2]?.data).toMatchObject({ path: "/a.txt", total_write: 5, metadata: { project: ["a"] } });
    expect(posted).toEqual([events[2]]);
  });

  it("are counted for Prometheus on an address of their own", async () => {
    const probe = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => probe.once("listening", resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    countRequests();
    const { run } = await serve({ metrics: { port } });
    await (await fetch(`${run.url}home/`, { headers: ALICE })).text();
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await answer.text();
    watchText(() => text);
    expect(text).toContain('fileferry_operations_total{operation="listing",outcome="done"} 1\n');
    expect(text).toContain('fileferry_requests_total{method="GET",status="200"} 1\n');
    expect(text).toContain(`fileferry_build_info{version="${VERSION}",node="${process.version}"} 1\n`);
    const sampleOf = (name: string) => Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1]);
    expect(Math.abs(sampleOf("process_start_time_seconds") - Date.now() / 1000)).toBeLessThan(60);
    expect(sampleOf("process_cpu_seconds_total")).toBeGreaterThan(0.05);
    expect(sampleOf("process_resident_memory_bytes")).toBeGreaterThan(sampleOf("nodejs_heap_size_used_bytes"));
    expect(sampleOf("nodejs_eventloop_lag_p99_seconds")).toBeLessThan(10);
    expect(sampleOf("process_open_fds")).toBeGreaterThan(5);
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: "POST" })).status).toBe(405);
    // What it has answered is compared with this, and it is gone soon.
    await (await fetch(`${run.url}__svc__/openapi.json`)).text();
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
  });

  it("are checked without quoting a secret", async () => {
    const folder = await makeFolder();
    const file = join(folder, "fileferry.json");
    const webhooks = [{ url: "https://a.example/", secret: "whsec_tooshort" }, { url: "nonsense" }];
    const config = {
      authentication,
      metadataFields: "X Labels",
      events: { webhooks, files: 3 },
      log: { format: "xml" },
    };
    await writeFile(file, JSON.stringify(config));
    const { status, stderr } = await runCommand(["serve", "--config", file]);
    expect(status).toBe(2);
    for (const place of [
      "events.webhooks[0].secret",
      "events.webhooks[1].url",
      "metadataFields",
      "log.format",
      "events.files",
    ]) {
      expect(stderr).toContain(`${file}: ${place}: `);
    }
    expect(stderr).not.toContain("tooshort");
  });
});

describe("the end of fileferry serve", () => {
  it("emits the end event of each transfer that it cuts", async () => {
    const { folder, run } = await serve({ events: { file: "events.ndjson" } });
    const body = new Uint8Array(30_000_000);
    expect((await fetch(`${run.url}home/large.bin`, { method: "PUT", headers: ALICE, body })).status).toBe(201);
    const { host } = new URL(run.url);
    const [name = "", port = ""] = host.split(":");
    const open = (head: string): Socket => {
      const socket = connect(Number(port), name);
      socket.write(`${head} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${ALICE.Authorization}\r\n`);
      return socket;
    };
    const download = open("GET /home/large.bin");
    download.write("\r\n");
    download.once("data", () => download.pause());
    const upload = open("PUT /home/new.bin");
    upload.write("Content-Length: 1000\r\n\r\n12345");
    const ids = async () => {
      const lines = (await readFile(join(folder, "events.ndjson"), "utf8")).trimEnd().split("\n");
      return lines.map((line) => JSON.parse(line).id as number);
    };
    await expect.poll(ids).toEqual(expect.arrayContaining([40004]));
    await expect.poll(async () => (await ids()).filter((id) => id === 40021).length).toBe(2);
    run.child.kill("SIGTERM");
    await waitFor(() => (run.stderr().includes("Stopping") ? true : undefined), run);
    download.destroy();
    upload.destroy();
    expect(await run.ended).toBe(0);
    expect(await ids()).toEqual(expect.arrayContaining([40018, 40022]));
  });
});

describe("a start that fails", () => {
  it.each([
    ["a folder that is not there", "missing/events.ndjson", "cannot be written: does not exist"],
    ["a folder in its place", ".", "is not a regular file"],
  ])("names the file of events: %s", async (_name, events, reason) => {
    const folder = await makeFolder();
    const file = join(folder, "fileferry.json");
    await writeFile(file, JSON.stringify({ authentication, storage: { type: "memory" }, events: { file: events } }));
    const { status, stderr } = await runCommand(["serve", "--config", file]);
    expect([status, stderr]).toEqual([2, `${file}: events.file: ${reason}\n`]);
  });

  it("ends the command, even if something is already open", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const folder = await makeFolder();
    const file = join(folder, "fileferry.json");
    const config = { listen: { port }, authentication, metrics: { port: 0 }, events: { file: "events.ndjson" } };
    await writeFile(file, JSON.stringify({ ...config, storage: { type: "memory" } }));
    const { status, stderr } = await runCommand(["serve", "--config", file]);
    expect(status).toBe(1);
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}`);
  });
});

describe("the log of fileferry serve as JSON", () => {
  it("can be chosen by a flag too, and includes the last line", async () => {
    countRequests();
    const run = await startServer([
      "serve",
      await makeFolder(),
      "--account",
      "a:b",
      "--port",
      "0",
      "--log-format",
      "json",
    ]);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
    const lines = run.stderr().trimEnd().split("\n");
    const messages = lines.map((line) => JSON.parse(line) as object);
    expect(messages).toContainEqual(expect.objectContaining({ level: "info", message: "Stopping." }));
    expect(messages.at(-1)).toMatchObject({ level: "info", message: "Stopped." });
  });

  it("has one object per line, for requests and everything else", async () => {
    countRequests();
    const { run } = await serve({ log: { format: "json" }, triggers: { publish: {} } });
    // It is ignored.
    leaveUndescribed("PUT", "/home/a.txt?secret");
    await fetch(`${run.url}home/a.txt?secret`, { method: "PUT", headers: ALICE, body: "12345" });
    const body = JSON.stringify({ commands: [{ command: "publish", target: "a.txt" }] });
    await fetch(`${run.url}home/`, { method: "POST", headers: { ...ALICE, "Content-Type": "application/json" }, body });
    await waitFor(() => (/"method":"POST"/.test(run.stderr()) ? true : undefined), run);
    const lines = run
      .stderr()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(lines).toEqual([
      { time, level: "warn", message: expect.any(String), count: 1 },
      expect.objectContaining({ level: "info", message: "The service is running.", version: expect.any(String) }),
      {
        time,
        level: "info",
        message: "request",
        method: "PUT",
        path: "/home/a.txt",
        status: 201,
        bytes: expect.any(Number),
        milliseconds: expect.any(Number),
        aborted: false,
        account: "alice",
        address: "127.0.0.1",
        agent: expect.any(String),
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        received: 5,
        sent: 0,
      },
      { time, level: "info", message: "A trigger was run.", trigger: "publish", path: "/a.txt", account: "alice" },
      expect.objectContaining({ method: "POST", path: "/home/", status: 200 }),
    ]);
  });
});
