// The methods of WebDAV side by side with other servers of WebDAV: npm run bench -- --webdav
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCatalog } from "./lib/catalog.mjs";
import { cpuSeconds, hasCommand, memory } from "./lib/processes.mjs";
import { median } from "./lib/report.mjs";
import { measureTrials, toMedian } from "./lib/trials.mjs";
import { startApache, startNginxDav } from "./lib/web-servers.mjs";

const AUTHORIZATION = `Basic ${btoa("bench:bench")}`;
const XML = { "Content-Type": "application/xml" };
const NAMES = ["resourcetype", "getcontentlength", "getlastmodified", "getetag", "getcontenttype", "displayname"];
const NAMED = `<D:propfind xmlns:D="DAV:"><D:prop>${NAMES.map((name) => `<D:${name}/>`).join("")}</D:prop></D:propfind>`;
const ALL = `<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>`;
const LOCK = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>bench</D:owner></D:lockinfo>`;
/** The end of what a multistatus response says of one resource. */
const RESPONSE_END = /<\/(?:\w+:)?response>/;
const FULL_CONTROL = [["allow-full-control"]];
/** As good as full control, but every path is judged. */
const JUDGED = [["allow-full-control"], ["/never/*", "deny-full-control"]];

/** This project, on a disk, and what else serves WebDAV. `base` begins the paths. */
function createServers(dist) {
  const own = (id, title, permissions) => ({
    id,
    title,
    base: "/home/",
    isOwn: true,
    start({ folder, own: place }) {
      const accounts = [{ username: "bench", password: "bench", home_folder_path: "/", permissions }];
      const config = {
        listen: { port: 0 },
        connections: { maxPerAddress: 0 },
        limits: { transfersPerAccount: 0, transfersPerAddress: 0 },
        storage: { type: "disk", root: folder },
        authentication: [{ type: "accounts", accounts }],
        webdav: { locksPerAccount: 10_000 },
      };
      const file = join(place, "fileferry.json");
      writeFileSync(file, JSON.stringify(config));
      const args = [join(dist, "cli/main.js"), "serve", "--config", file, "--quiet"];
      return { command: process.execPath, args };
    },
  });
  const peers = createCatalog(dist).filter(({ id }) => id === "nephele" || id === "webdav-server");
  return [
    own("fileferry", "fileferry", FULL_CONTROL),
    own("fileferry-judged", "fileferry, permissions by path", JUDGED),
    { id: "apache", title: "Apache", start: startApache, base: "/", needs: "apache2" },
    { id: "nginx", title: "nginx, dav-ext", start: startNginxDav, base: "/", needs: "nginx", lacksProperties: true },
    ...peers.map((peer) => ({ ...peer, base: "/" })),
  ].filter(({ needs }) => needs === undefined || hasCommand(needs));
}

/**
 * `choose` takes some of the trials.
 * @returns rows: each has a title and the median figures of each server.
 */
export async function measureWebdav({ dist, folder, isQuick, rounds, servers: chosen, choose }) {
  const served = join(folder, "webdav-root");
  chmodSync(folder, 0o755);
  const counts = isQuick ? [100, 1000] : [10_000, 100_000];
  for (const count of [...counts, counts[0] / 10]) makeMembers(join(served, `members-${count}`), count);
  const servers = createServers(dist).filter(({ id }) => chosen === undefined || chosen.includes(id));
  return measureTrials({ trials: choose(createTrials(counts, isQuick)), servers, served, rounds, createClient });
}

/** Sends a request. `path` is below the server's folder. */
function createClient({ host, port }, { base, isOwn }) {
  const login = isOwn === true ? { Authorization: AUTHORIZATION } : {};
  return async (method, path, headers = {}, body = undefined) => {
    const begun = performance.now();
    const destination =
      headers.Destination === undefined ? {} : { Destination: `http://${host}:${port}${base}${headers.Destination}` };
    const response = await fetch(`http://${host}:${port}${base}${path}`, {
      method,
      headers: { ...login, ...headers, ...destination },
      ...(body !== undefined && { body }),
    });
    const firstMs = performance.now() - begun;
    return { response, firstMs, begun };
  };
}

/** Sends a request and reads the response, whose size and members are counted. */
async function ask(send, ...request) {
  const { response, firstMs, begun } = await send(...request);
  let [bytes, members, rest] = [0, 0, ""];
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    const parts = (rest + decoder.decode(chunk, { stream: true })).split(RESPONSE_END);
    members += parts.length - 1;
    rest = parts.at(-1).slice(-20);
  }
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    members,
    firstMs,
    ms: performance.now() - begun,
  };
}

function createTrials([medium, large], isQuick) {
  const small = medium / 10;
  const times = isQuick ? 3 : 20;
  return [
    ...[medium, large].flatMap((count) => [
      listing(`json-${count}`, `Listing as JSON of ${toCount(count)} members`, count),
      propfind(`propfind-${count}`, `PROPFIND of six properties, ${toCount(count)} members`, count, NAMED),
      propfind(`allprop-${count}`, `PROPFIND of all properties, ${toCount(count)} members`, count, ALL),
    ]),
    { id: "move", title: `MOVE of a folder of ${toCount(medium)} files`, run: (given) => moveTree(given, medium) },
    {
      id: "copy",
      title: `COPY of a folder of ${toCount(medium)} files, and a listing of ${toCount(small)} at the same time`,
      run: (given) => copyTree(given, medium, small),
    },
    {
      id: "lock-race",
      title: `50 clients LOCK one name at once, ${times} times`,
      run: (given) => lockRace(given, times),
    },
    {
      id: "proppatch-race",
      title: `30 PROPPATCH of one file at once, ${times} times`,
      run: (given) => proppatchRace(given, times),
    },
    { id: "move-race", title: `Two MOVE of one file at once, ${times} times`, run: (given) => moveRace(given, times) },
    {
      id: "put-locks",
      title: "PUT of 1 KiB, with 1,000 locks elsewhere",
      ownOnly: true,
      run: (given) => putBesideLocks(given, isQuick ? 100 : 1000),
    },
  ];
}

const toCount = (count) => count.toLocaleString("en");

function propfind(id, title, count, body) {
  return {
    id,
    title,
    run: (given) => list(given, count, ["PROPFIND", `members-${count}/`, { ...XML, Depth: "1" }, body]),
  };
}

function listing(id, title, count) {
  const headers = { Accept: "application/json" };
  return { id, title, ownOnly: true, run: (given) => list(given, count, ["GET", `members-${count}/`, headers]) };
}

/** Warms up with a few of them, where that does not take minutes. */
async function list({ send, running, server }, count, request) {
  const isSlow = server.isSlowToList === true;
  for (let round = 0; round < (isSlow ? 0 : 3); round += 1) await ask(send, ...request);
  const before = cpuSeconds(running.pid);
  const results = [];
  for (let round = 0; round < (isSlow ? 1 : 3); round += 1) results.push(await ask(send, ...request));
  const cpuMs = ((cpuSeconds(running.pid) - before) / results.length) * 1000;
  const { status, bytes, members, firstMs, ms } = toMedian(results);
  if (status !== 200 && members < count) throw new Error(`${status}, ${members} members`);
  return { ms, cpuMs, firstMs, peakRss: memory(running.pid, "VmHWM"), bytesPerMember: bytes / count };
}

async function moveTree({ send, served }, count) {
  cpSync(join(served, `members-${count}`), join(served, "work/tree"), { recursive: true });
  openFolder(join(served, "work/tree"));
  const { status, ms } = await ask(send, "MOVE", "work/tree/", { Destination: "work/moved/", Overwrite: "F" });
  if (status !== 201 || readdirSync(join(served, "work/moved")).length < count) throw new Error(`${status}`);
  rmSync(join(served, "work/moved"), { recursive: true });
  return { ms };
}

async function copyTree({ send, served, server }, count, small) {
  const waits = [];
  let isDone = false;
  const beside = (async () => {
    while (!isDone && server.isSlowToList !== true) {
      waits.push((await ask(send, "PROPFIND", `members-${small}/`, { ...XML, Depth: "1" }, NAMED)).ms);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  const { status, ms } = await ask(send, "COPY", `members-${count}/`, { Destination: "work/copy/" });
  isDone = true;
  await beside;
  if (status !== 201 || readdirSync(join(served, "work/copy")).length < count) throw new Error(`${status}`);
  rmSync(join(served, "work/copy"), { recursive: true });
  const sorted = waits.sort((one, other) => one - other);
  return { ms, ...(sorted.length > 0 && { listingP99: sorted[Math.floor(sorted.length * 0.99)] }) };
}

/** @returns how often more than one client had the lock, and the time of one round. */
async function lockRace({ send }, times) {
  let severalWinners = 0;
  const begun = performance.now();
  for (let round = 0; round < times; round += 1) {
    const path = `work/lock-${round}.txt`;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => ask(send, "LOCK", path, { ...XML, Depth: "0" }, LOCK)),
    );
    const granted = answers.filter(({ status }) => status === 200 || status === 201);
    if (granted.length === 0) throw new Error(`no lock: ${answers[0].status}`);
    if (granted.length > 1) severalWinners += 1;
  }
  return { severalWinners, ms: (performance.now() - begun) / times };
}

async function proppatchRace({ send, server }, times) {
  if (server.lacksProperties) return undefined;
  await ask(send, "PUT", "work/file.txt", {}, "x");
  let [lost, failed] = [0, 0];
  const begun = performance.now();
  for (let round = 0; round < times; round += 1) {
    const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
    const patch = (name) =>
      `<D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop><x:${name}>${round}-${name}</x:${name}></D:prop></D:set></D:propertyupdate>`;
    const answers = await Promise.all(names.map((name) => ask(send, "PROPPATCH", "work/file.txt", XML, patch(name))));
    failed += answers.filter(({ status }) => status !== 207).length;
    const { response } = await send("PROPFIND", "work/file.txt", { ...XML, Depth: "0" }, ALL);
    const text = await response.text();
    lost += names.filter((name) => !text.includes(`>${round}-${name}<`)).length;
  }
  return { lost, failed, ms: (performance.now() - begun) / times };
}

async function moveRace({ send, served }, times) {
  let [bothMoved, failed] = [0, 0];
  for (let round = 0; round < times; round += 1) {
    await ask(send, "PUT", "work/source.txt", {}, "x");
    const targets = [`work/left-${round}.txt`, `work/right-${round}.txt`];
    const answers = await Promise.all(targets.map((to) => ask(send, "MOVE", "work/source.txt", { Destination: to })));
    const moved = answers.filter(({ status }) => status === 201);
    if (moved.length > 1) bothMoved += 1;
    failed += answers.filter(({ status }) => status >= 500).length;
    const there = readdirSync(join(served, "work")).filter((name) => name.endsWith(`-${round}.txt`));
    if (there.length === 0) throw new Error("the file is lost");
  }
  return { bothMoved, failed };
}

async function putBesideLocks({ send }, locks) {
  const body = Buffer.alloc(1024, 1);
  const waits = { withoutMs: [], withMs: [] };
  async function put(kept) {
    for (let index = 0; index < 300; index += 1) {
      const { status, ms } = await ask(send, "PUT", `work/put-${index % 16}.bin`, {}, body);
      if (status >= 300) throw new Error(`PUT: ${status}`);
      kept?.push(ms);
    }
  }
  await put();
  await ask(send, "MKCOL", "work/elsewhere/");
  // In turn, and the medians: a disk is sometimes slow for seconds.
  for (let turn = 0; turn < 3; turn += 1) {
    await put(waits.withoutMs);
    const tokens = [];
    for (let index = 0; index < locks; index += 1) {
      const { status, headers } = await ask(send, "LOCK", `work/elsewhere/${index}.txt`, { ...XML, Depth: "0" }, LOCK);
      if (status >= 300) throw new Error(`LOCK: ${status}`);
      tokens.push(headers.get("lock-token"));
    }
    await put(waits.withMs);
    for (const [index, token] of tokens.entries()) {
      await ask(send, "UNLOCK", `work/elsewhere/${index}.txt`, { "Lock-Token": token });
    }
  }
  return Object.fromEntries(Object.entries(waits).map(([when, all]) => [when, median(all)]));
}

/** Apache has an account of its own. */
function openFolder(folder) {
  chmodSync(folder, 0o777);
}

function makeMembers(folder, count) {
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < count; index += 1) {
    writeFileSync(join(folder, `member-${String(index).padStart(6, "0")}.txt`), "0123456789");
  }
  openFolder(folder);
}
