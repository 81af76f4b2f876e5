// What sinks cost transfers, those that hang, are slow or fail beside those that do not: npm run bench -- --sinks
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createCatalog } from "./lib/catalog.mjs";
import { makeFixtures } from "./lib/fixtures.mjs";
import { measure } from "./lib/measure.mjs";
import { toMedian, toNumber, toPlainTable } from "./lib/report.mjs";
import { createWorkloads } from "./workloads.mjs";

const SERVER = fileURLToPath(new URL("servers/fileferry-sink.mjs", import.meta.url));
const WORKLOADS = ["get-1k", "put-1k", "get-1g", "put-1g"];
const LATE_MS = 1000;

/** What takes posted events: each answers in its way. */
const RECEIVERS = {
  takes: (response) => response.writeHead(204).end(),
  hangs: () => undefined,
  slow: (response) => setTimeout(() => response.writeHead(204).end(), LATE_MS),
  fails: (response) => response.writeHead(500).end(),
};

/** Every kind of sink; those of one group do the same work while all is well, and are compared with its first. */
const SINKS = [
  { id: "none", title: "no sink", group: "none", kind: "none" },
  { id: "takes", title: "function that returns", group: "function", kind: "takes" },
  { id: "hangs", title: "function whose promise never settles", group: "function", kind: "hangs" },
  { id: "slow", title: "function whose promise takes 1 s", group: "function", kind: "slow" },
  { id: "throws", title: "function that throws", group: "function", kind: "throws" },
  { id: "webhook", title: "webhook that takes them", group: "webhook", kind: "webhook", receiver: "takes" },
  { id: "webhook-hangs", title: "webhook that never answers", group: "webhook", kind: "webhook", receiver: "hangs" },
  { id: "webhook-slow", title: "webhook that takes 1 s", group: "webhook", kind: "webhook", receiver: "slow" },
  { id: "webhook-fails", title: "webhook that answers 500", group: "webhook", kind: "webhook", receiver: "fails" },
];

/**
 * @returns by workload: its title, and a row for each sink with milliseconds as the client saw them and of processor
 * time.
 */
export async function measureSinks({ dist, folder, isQuick, rounds }) {
  const workloads = createWorkloads(isQuick).filter(({ id }) => WORKLOADS.includes(id));
  makeFixtures(folder, workloads);
  const urls = Object.fromEntries(await Promise.all(Object.entries(RECEIVERS).map(startReceiver)));
  const [own] = createCatalog(dist);
  const servers = SINKS.map(({ id, kind, receiver }) => ({
    ...own,
    id: `sink-${id}`,
    start: ({ folder: served }) => ({
      command: process.execPath,
      args: [SERVER, served, dist, kind, urls[receiver] ?? ""],
    }),
  }));
  const sinks = {};
  for (const workload of workloads) {
    const measured = await measureInTurn(servers, workload, { folder, rounds });
    sinks[workload.id] = { title: workload.title, rows: SINKS.map((sink, index) => toRow(sink, measured[index])) };
    print(sinks[workload.id]);
  }
  return sinks;
}

/** Measures the servers forwards and backwards by turns, so that no server gains by its place in the order. */
async function measureInTurn(servers, workload, { folder, rounds }) {
  const measured = servers.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...servers.keys()];
    if (round % 2 === 1) order.reverse();
    for (const index of order) measured[index].push(await measure(servers[index], workload, folder));
  }
  return measured;
}

async function startReceiver([id, answer]) {
  const server = createServer((request, response) => request.resume().on("end", () => answer(response)));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return [id, `http://127.0.0.1:${server.address().port}/`];
}

function toRow({ id, title, group }, rounds) {
  const { p50, p99, cpuMs, seconds, exchanges } = toMedian(rounds);
  return { id, title, group, ms: (seconds / exchanges) * 1000, p50, p99, cpuMs };
}

/** Cells, the head first. A ratio is to the first sink of the group: below 1 is faster. */
export function toSinkRows({ rows }) {
  const head = ["sink", "median, ms", "ratio", "99th percentile, ms", "ratio", "CPU ms each", "ratio"];
  const cells = rows.map((row) => {
    const first = rows.find(({ group }) => group === row.group);
    const withRatio = (field) => [toNumber(row[field]), row === first ? "" : (row[field] / first[field]).toFixed(2)];
    return [row.title, ...withRatio("p50"), ...withRatio("p99"), ...withRatio("cpuMs")];
  });
  return [head, ...cells];
}

function print(workload) {
  process.stdout.write(`\n${workload.title}\n${toPlainTable(toSinkRows(workload))}`);
}
