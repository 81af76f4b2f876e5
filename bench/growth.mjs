// How time and memory of this project grow with the members of a folder, the size of a file, and idle connections: npm
// run bench -- --growth
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createCatalog, createUnlimited } from "./lib/catalog.mjs";
import { makeFixtures } from "./lib/fixtures.mjs";
import { measure, runClient } from "./lib/measure.mjs";
import { memory, pinned, startServer } from "./lib/processes.mjs";
import { toMedian, toNumber, toPlainTable } from "./lib/report.mjs";
import {
  createClientsWorkloads,
  createConnectionsWorkload,
  createGrowthWorkloads,
  toServedFolder,
} from "./workloads.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
/** Descriptors that a process has for itself. */
const SPARE_DESCRIPTORS = 200;
const SETTLE_MS = 1000;

/** @returns rows by what grows: `members`, `get`, `put`, `connections`. */
export async function measureGrowth({ dist, folder, isQuick, rounds }) {
  const [server] = createCatalog(dist);
  const series = createGrowthWorkloads(isQuick);
  const idle = createConnectionsWorkload(isQuick);
  makeFixtures(folder, [...Object.values(series).flat(), idle]);
  const growth = {};
  for (const [name, workloads] of Object.entries(series)) {
    growth[name] = await measureSeries(server, workloads, { folder, rounds });
    print(name, growth[name]);
  }
  const unlimited = createUnlimited(dist);
  growth.clients = [];
  for (const workload of createClientsWorkloads(isQuick).filter(({ size }) => isAllowed(size))) {
    const results = [];
    for (let round = 0; round < rounds; round += 1) results.push(await measure(unlimited, workload, folder));
    const { figure, p50, p99, peakRss } = toMedian(results);
    growth.clients.push({ size: workload.size, figure, p50, p99, peakRss });
  }
  print("clients", growth.clients);
  const [patient] = createCatalog(dist, ["--import", at("lib/keep-alive.mjs")]);
  growth.connections = [];
  for (const count of idle.counts.filter(isAllowed)) {
    growth.connections.push(await measureIdle(patient, { ...idle, count }, folder));
  }
  print("connections", growth.connections);
  return growth;
}

async function measureSeries(server, workloads, { folder, rounds }) {
  const measured = workloads.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, workload] of workloads.entries()) measured[index].push(await measure(server, workload, folder));
  }
  return workloads.map(({ size }, index) => {
    const { seconds, exchanges, cpu, peakRss } = toMedian(measured[index]);
    return { size, ms: (seconds / exchanges) * 1000, cpuMs: (cpu / exchanges) * 1000, peakRss };
  });
}

function isAllowed(count) {
  const limit = Number(spawnSync("sh", ["-c", "ulimit -n"]).stdout.toString()) || Number.POSITIVE_INFINITY;
  const isEnough = count + SPARE_DESCRIPTORS <= limit;
  if (!isEnough) process.stdout.write(`without ${count} connections: a process may have ${limit} descriptors\n`);
  return isEnough;
}

/**
 * Measures the memory of a process with a number of idle connections, and how long another client waits for small files
 * meanwhile.
 */
async function measureIdle(server, workload, root) {
  const running = await startServer(server, toServedFolder(root, workload));
  const { host, port, pid } = running;
  const headers = await server.login(running);
  const asked = workload.toJob(server.requests);
  const holderJob = { host, port, headers, count: workload.count, request: asked.requests[0] };
  const holder = spawn(...pinned("client", process.execPath, [at("client/holder.mjs"), JSON.stringify(holderJob)]), {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: holder.stdout })[Symbol.asyncIterator]();
  try {
    if ((await lines.next()).done) throw new Error(`${workload.count} connections could not be opened.`);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const rss = memory(pid, "VmRSS");
    const { p50, p99 } = await runClient({ ...workload.shape, host, port, headers, ...asked }, running);
    holder.stdin.write("count\n");
    const { value: open } = await lines.next();
    if (Number(open) !== workload.count) throw new Error(`Only ${open} of ${workload.count} connections were kept.`);
    return { size: workload.count, p50, p99, rss };
  } finally {
    holder.kill("SIGKILL");
    await running.stop();
  }
}

function print(name, rows) {
  const head = Object.keys(rows[0]);
  const cells = rows.map((row) =>
    head.map((key) => (key === "size" ? row[key].toLocaleString("en") : toNumber(row[key]))),
  );
  process.stdout.write(`\n${name}\n${toPlainTable([head, ...cells])}`);
}
