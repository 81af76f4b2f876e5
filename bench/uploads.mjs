// Resumable uploads side by side with the server of tus: npm run bench -- --uploads
import { createHash, randomFillSync } from "node:crypto";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cpuSeconds, memory } from "./lib/processes.mjs";
import { median } from "./lib/report.mjs";
import { measureTrials } from "./lib/trials.mjs";

const MIB = 1024 * 1024;
const CHUNK = randomFillSync(Buffer.alloc(8 * MIB));
const CHUNK_SHA256 = createHash("sha256").update(CHUNK).digest("base64");
const KIB = CHUNK.subarray(0, 1024);
const TUS = { "Tus-Resumable": "1.0.0" };
const APPEND = { ...TUS, "Content-Type": "application/offset+octet-stream" };
/** What a connection gets through the proxy, in bytes per second. */
const CONNECTION_SPEED = 20_000_000;

/** This project, on a disk, and the server of tus with its file store. */
function createServers(dist) {
  const own = {
    id: "fileferry",
    title: "fileferry",
    isOwn: true,
    base: "/home/work/",
    start({ folder, own: place }) {
      const accounts = [
        { username: "bench", password: "bench", home_folder_path: "/", permissions: [["allow-full-control"]] },
      ];
      const config = {
        listen: { port: 0 },
        connections: { maxPerAddress: 0 },
        limits: { transfersPerAccount: 0, transfersPerAddress: 0, uploadsPerAccount: 0 },
        storage: { type: "disk", root: folder },
        authentication: [{ type: "accounts", accounts }],
      };
      const file = join(place, "fileferry.json");
      writeFileSync(file, JSON.stringify(config));
      const args = [join(dist, "cli/main.js"), "serve", "--config", file, "--quiet"];
      return { command: process.execPath, args };
    },
  };
  const program = fileURLToPath(new URL("servers/tus.mjs", import.meta.url));
  const start = ({ folder }) => ({ command: process.execPath, args: [program, join(folder, "work")] });
  return [own, { id: "tus", title: "@tus/server", base: "/files", start }];
}

/** @returns rows as of `measureTrials`. */
export async function measureUploads({ dist, folder, isQuick, rounds, servers: chosen, choose }) {
  const served = join(folder, "uploads-root");
  mkdirSync(served);
  const servers = createServers(dist).filter(({ id }) => chosen === undefined || chosen.includes(id));
  const trials = choose(createTrials((isQuick ? 64 : 1024) * MIB, isQuick));
  return measureTrials({ trials, servers, served, rounds, createClient });
}

/** Logs in, and returns a function that sends a request on a connection that stays open. */
async function createClient({ host, port }, { isOwn }) {
  const agent = new Agent({ keepAlive: true });
  let login = {};
  async function send(method, path, headers = {}, ...body) {
    const length = body.reduce((sum, part) => sum + part.length, 0);
    const fields = { ...login, "Content-Length": length, ...headers };
    return exchange({ host, port: send.port ?? port, agent, method, path, headers: fields }, body);
  }
  if (isOwn !== true) return send;
  const credentials = Buffer.from(JSON.stringify({ username: "bench", password: "bench" }));
  const { text } = await send("POST", "/__svc__/login", { "Content-Type": "application/json" }, credentials);
  login = { Authorization: `session ${JSON.parse(text).results[0].session}` };
  return send;
}

/** Sends a request, its body part by part. The response's text is read. */
function exchange(options, body) {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(options);
    sent.once("error", reject).once("response", async (response) => {
      let text = "";
      for await (const part of response.setEncoding("utf8")) text += part;
      const { statusCode: status, headers } = response;
      if (status >= 400) reject(new Error(`${options.method}: ${status} ${text.slice(0, 200)}`));
      else resolve({ status, headers, text, ms: performance.now() - begun });
    });
    void writeParts(sent, body);
  });
}

async function writeParts(sent, body) {
  for (const part of body) {
    if (!sent.write(part)) await new Promise((resolve) => sent.once("drain", resolve));
  }
  sent.end();
}

function createTrials(size, isQuick) {
  const text = isQuick ? "64 MiB" : "1 GiB";
  const chunks = size / CHUNK.length;
  const counts = isQuick ? [10, 100] : [10, 1000];
  const measured = (id, title, run, isOwnOnly = false) => ({ id, title, ownOnly: isOwnOnly, run: withCost(run) });
  return [
    measured("put", `One PUT of ${text}`, (given) => put(given, chunks), true),
    measured("patch", `${chunks} PATCH of 8 MiB`, (given) => upload(given, chunks)),
    measured("patch-sha256", `${chunks} PATCH of 8 MiB with SHA-256`, (given) => upload(given, chunks, SHA256), true),
    measured("optimistic", `One PUT of ${text} that can be resumed`, (given) => put(given, chunks, DRAFT), true),
    measured("concatenation", `4 partial uploads at once, ${text} together`, (given) => join4(given, chunks), true),
    measured("sixteen", `16 uploads at once, ${text} together`, (given) =>
      uploadMany(given, 16, Math.ceil(chunks / 16)),
    ),
    { id: "head-size", title: "HEAD by the size of an upload", run: (given) => headBySize(given, chunks) },
    { id: "head-count", title: "HEAD by the number of uploads", run: (given) => headByCount(given, counts) },
    { id: "create", title: "Creation of an upload", run: createUploads },
    { id: "parts", title: "20 MB/s for a connection: one, and three parts", ownOnly: true, run: uploadInParts },
  ];
}

/** Adds processor time and the peak of memory to what a trial is about. */
function withCost(run) {
  return async (given) => {
    const { pid } = given.running;
    const before = cpuSeconds(pid);
    const begun = performance.now();
    await run(given);
    return { cpu: cpuSeconds(pid) - before, ms: performance.now() - begun, peakRss: memory(pid, "VmHWM") };
  };
}

const SHA256 = { "Upload-Checksum": `sha256 ${CHUNK_SHA256}` };
const DRAFT = { "Upload-Draft-Interop-Version": "8", "Upload-Complete": "?1" };

async function put({ send, server, served }, chunks, headers = {}) {
  const body = Array.from({ length: chunks }, () => CHUNK);
  await send("PUT", `${server.base}file.bin`, headers, ...body);
  checkSize(join(served, "work/file.bin"), chunks);
}

async function create({ send, server }, size, headers = {}) {
  const name = `${Math.random()}.bin`;
  const metadata = `filename ${Buffer.from(name).toString("base64")}`;
  const fields = { ...TUS, "Upload-Length": size, "Upload-Metadata": metadata, ...headers };
  const { headers: answered, ms } = await send("POST", server.base, fields);
  const url = new URL(answered.location, "http://bench").pathname;
  // The server of tus stores a file by the ID of its upload.
  return { url, name: server.isOwn ? name : url.split("/").at(-1), ms };
}

async function append({ send }, url, chunks, headers = {}) {
  for (let index = 0; index < chunks; index += 1) {
    await send("PATCH", url, { ...APPEND, ...headers, "Upload-Offset": index * CHUNK.length }, CHUNK);
  }
}

async function upload(given, chunks, headers = {}) {
  const { url, name } = await create(given, chunks * CHUNK.length);
  await append(given, url, chunks, headers);
  checkSize(join(given.served, "work", name), chunks);
}

function checkSize(path, chunks) {
  const { size } = statSync(path);
  if (size !== chunks * CHUNK.length) throw new Error(`${path} has ${size} bytes`);
}

async function uploadMany(given, count, chunks) {
  await Promise.all(Array.from({ length: count }, () => upload(given, chunks)));
}

async function join4(given, chunks) {
  await joinParts(given, 4, chunks / 4);
}

async function joinParts(given, count, chunks) {
  const parts = await Promise.all(
    Array.from({ length: count }, async () => {
      const { url } = await create(given, chunks * CHUNK.length, { "Upload-Concat": "partial" });
      await append(given, url, chunks);
      return url;
    }),
  );
  const { send, server } = given;
  const metadata = `filename ${Buffer.from("joined.bin").toString("base64")}`;
  await send("POST", server.base, { ...TUS, "Upload-Concat": `final;${parts.join(" ")}`, "Upload-Metadata": metadata });
  checkSize(join(given.served, "work/joined.bin"), count * chunks);
}

async function headBySize(given, chunks) {
  const small = await create(given, 2 * MIB);
  await given.send("PATCH", small.url, { ...APPEND, "Upload-Offset": 0 }, CHUNK.subarray(0, MIB));
  const large = await create(given, 2 * chunks * CHUNK.length);
  await append(given, large.url, chunks);
  const [smallMs, largeMs] = await headInTurn(given, [small.url, large.url]);
  return { smallMs, largeMs };
}

async function headByCount(given, [few, many]) {
  const { url } = await create(given, MIB);
  for (let index = 1; index < few; index += 1) await create(given, MIB);
  const [fewMs] = await headInTurn(given, [url]);
  for (let index = few; index < many; index += 1) await create(given, MIB);
  const [manyMs] = await headInTurn(given, [url]);
  return { fewMs, manyMs };
}

/** The median times of `HEAD` of uploads, which are asked for in turn. */
async function headInTurn({ send }, urls) {
  const times = urls.map(() => []);
  for (let turn = 0; turn < 200; turn += 1) {
    for (const [index, url] of urls.entries()) times[index].push((await send("HEAD", url, TUS)).ms);
  }
  return times.map((all) => median(all.slice(20)));
}

async function createUploads(given) {
  const { send, server } = given;
  const [times, puts] = [[], []];
  for (let turn = 0; turn < 200; turn += 1) {
    times.push((await create(given, MIB)).ms);
    if (server.isOwn) puts.push((await send("PUT", `${server.base}small-${turn}.bin`, {}, KIB)).ms);
  }
  return { ms: median(times), ...(puts.length > 0 && { putMs: median(puts) }) };
}

/** Behind a proxy that holds each connection to a speed. */
async function uploadInParts(given) {
  const proxy = await startSlowProxy(given.running);
  given.send.port = proxy.port;
  try {
    const oneMs = await timeOf(() => upload(given, 12));
    rmSync(join(given.served, "work"), { recursive: true });
    mkdirSync(join(given.served, "work"));
    const threeMs = await timeOf(() => joinParts(given, 3, 4));
    return { oneMs, threeMs };
  } finally {
    given.send.port = undefined;
    proxy.stop();
  }
}

async function timeOf(run) {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}

async function startSlowProxy({ host, port }) {
  const sockets = new Set();
  const server = createServer((client) => {
    const target = connect(port, host);
    for (const socket of [client, target]) sockets.add(socket.on("error", () => socket.destroy()));
    target.pipe(client);
    let readyAt = performance.now();
    client.on("data", (bytes) => {
      target.write(bytes);
      readyAt = Math.max(readyAt, performance.now()) + (bytes.length / CONNECTION_SPEED) * 1000;
      const wait = readyAt - performance.now();
      if (wait < 5) return;
      client.pause();
      setTimeout(() => client.resume(), wait);
    });
    client.once("close", () => target.destroy());
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    port: server.address().port,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
