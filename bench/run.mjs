// This project and its peers side by side: npm run bench -- [options]
//
//   --quick                small sizes and short times, for trying
//   --only get-1k,put-1g   some workloads    --servers fileferry,bare-tuned   some servers
//   --rounds 3             how often; the median counts    --growth   the growth of this project alone
//   --webdav               the methods of WebDAV beside Apache, nginx, nephele and webdav-server
//   --uploads              resumable uploads beside the server of tus
//   --pages                how soon the page of a folder is there in Chromium
//   --sinks                what sinks for events cost transfers, also those that hang, are slow or fail
// --out FILE where the results go: bench/results.json for a whole run. From that file docs/performance.md and its chart
// are made; with --only, its other workloads stay --strict ends with 1 where a floor is missed --dist FOLDER another
// build --node-args="--cpu-prof" for the process of this project
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createCatalog, findObstacle } from "./lib/catalog.mjs";
import { makeFixtures } from "./lib/fixtures.mjs";
import { measure } from "./lib/measure.mjs";
import { printWorkload, toFloorTable, toMedian, toNumber, toPlainTable } from "./lib/report.mjs";
import { describeMachine, readResults, writeResults } from "./lib/results.mjs";
import { judge, judgeUploads, judgeWebdav } from "./targets.mjs";
import { createWorkloads, toMemoryFolder } from "./workloads.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    growth: { type: "boolean", default: false },
    sinks: { type: "boolean", default: false },
    webdav: { type: "boolean", default: false },
    uploads: { type: "boolean", default: false },
    pages: { type: "boolean", default: false },
    only: { type: "string" },
    servers: { type: "string" },
    rounds: { type: "string", default: "3" },
    out: { type: "string" },
    dist: { type: "string", default: join(HERE, "../dist") },
    "node-args": { type: "string" },
    strict: { type: "boolean", default: false },
  },
});

if (!existsSync(join(HERE, "node_modules"))) {
  const { status } = spawnSync("npm", ["ci", "--prefix", HERE], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
const COMMITTED = join(HERE, "results.json");
const isWhole = !options.quick && options.only === undefined && options.servers === undefined;
const out = options.out === undefined ? (isWhole ? COMMITTED : undefined) : resolve(options.out);
const dist = resolve(options.dist);
const folder = mkdtempSync(join(tmpdir(), "fileferry-bench-"));
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));
process.once("exit", () => {
  for (const made of [folder, toMemoryFolder(folder)]) {
    try {
      // A server may still be writing.
      rmSync(made, { recursive: true, force: true, maxRetries: 10 });
    } catch (error) {
      process.stderr.write(`${error.message}\n`);
    }
  }
});

const own = { dist, folder, isQuick: options.quick, rounds: Number(options.rounds) };
if (options.growth) {
  const { measureGrowth } = await import("./growth.mjs");
  const growth = await measureGrowth(own);
  if (out !== undefined) writeResults(out, { ...readResults(out), growth });
} else if (options.webdav) {
  const { measureWebdav } = await import("./webdav.mjs");
  await runTrials("webdav", measureWebdav, judgeWebdav);
} else if (options.uploads) {
  const { measureUploads } = await import("./uploads.mjs");
  await runTrials("uploads", measureUploads, judgeUploads);
} else if (options.pages) {
  const { measurePages } = await import("./pages.mjs");
  const rows = await measurePages(own);
  const pages = { ...describeMachine(), rounds: own.rounds, rows };
  if (out !== undefined) writeResults(out, { ...readResults(out), pages });
} else if (options.sinks) {
  const { measureSinks } = await import("./sinks.mjs");
  const sinks = await measureSinks(own);
  if (out !== undefined) writeResults(out, { ...readResults(out), sinks });
} else {
  await compare();
}
if (out === COMMITTED) {
  const { writePages } = await import("./document.mjs");
  writePages(out);
}

/** Measures trials, prints their floors, and keeps their rows below a key of the results. */
async function runTrials(key, measureRows, judgeRow) {
  const chosen = { servers: options.servers?.split(","), choose: (trials) => choose(trials, options.only) };
  const measured = await measureRows({ ...own, ...chosen });
  const former = out === undefined ? {} : readResults(out);
  const rows = options.only === undefined ? measured : replaceRows(former[key]?.rows ?? [], measured);
  process.stdout.write(`\n${toPlainTable(toFloorTable(rows, judgeRow))}`);
  const missed = rows.flatMap((row) => judgeRow(rows, row)).some(({ verdict }) => verdict === "missed");
  if (options.strict && missed) process.exitCode = 1;
  if (out !== undefined) writeResults(out, { ...former, [key]: { ...describeMachine(), rounds: own.rounds, rows } });
}

async function compare() {
  const workloads = choose(createWorkloads(options.quick), options.only);
  const servers = choose(createCatalog(dist, options["node-args"]?.split(" ")), options.servers).filter((server) => {
    const obstacle = findObstacle(server, dist);
    if (obstacle !== undefined) process.stdout.write(`without ${server.title}: ${obstacle}\n`);
    return obstacle === undefined;
  });
  makeFixtures(folder, workloads);
  const former = out === undefined ? {} : readResults(out);
  const results = options.only === undefined ? {} : { ...former.workloads };
  for (const workload of workloads) {
    results[workload.id] = await measureAll(workload, servers);
    printWorkload(results, workload.id);
    const run = { ...describeMachine(), isQuick: options.quick, rounds: Number(options.rounds), workloads: results };
    if (out !== undefined) writeResults(out, { ...former, ...run });
  }
  // A server that gives wrong answers has no figures; of this project's that is a failure.
  const own = servers.filter(({ isOwn }) => isOwn);
  const failed = workloads.some((workload) => own.some(({ id }) => results[workload.id].servers[id]?.error));
  const missed = workloads.some(({ id }) => judge(results, id).some(({ verdict }) => verdict === "missed"));
  if (failed || (options.strict && missed)) process.exitCode = 1;
}

/** All servers in turn, so that a bad minute of the machine is everybody's. */
async function measureAll(workload, servers) {
  const rounds = new Map(servers.map(({ id }) => [id, []]));
  const errors = new Map();
  for (let round = 1; round <= Number(options.rounds); round += 1) {
    for (const server of servers) {
      if (errors.has(server.id)) continue;
      try {
        const result = await measure(server, workload, folder);
        if (result === undefined) continue;
        rounds.get(server.id).push(result);
        process.stderr.write(`${workload.id} ${round} ${server.id}: ${toNumber(result.figure)}\n`);
      } catch (error) {
        errors.set(server.id, error.message);
        process.stderr.write(`${workload.id} ${round} ${server.id}: failed: ${error.message}\n`);
      }
    }
  }
  const measured = servers.flatMap(({ id, title }) => {
    if (errors.has(id)) return [[id, { title, error: errors.get(id) }]];
    const own = rounds.get(id);
    return own.length === 0 ? [] : [[id, { title, median: toMedian(own), rounds: own }]];
  });
  const { id, title, unit } = workload;
  return { id, title, unit, date: describeMachine().date, servers: Object.fromEntries(measured) };
}

/** The rows with those that were measured again in their places. */
function replaceRows(rows, measured) {
  const again = new Map(measured.map((row) => [row.id, row]));
  const known = rows.map((row) => again.get(row.id) ?? row);
  return [...known, ...measured.filter(({ id }) => !rows.some((row) => row.id === id))];
}

/** Those of a list that were named, all without names. */
function choose(list, names) {
  const wanted = names?.split(",");
  const unknown = wanted?.filter((name) => !list.some(({ id }) => id === name)) ?? [];
  if (unknown.length > 0) {
    process.stderr.write(`Not one of ${list.map(({ id }) => id).join(", ")}: ${unknown.join(", ")}\n`);
    process.exit(2);
  }
  return list.filter(({ id }) => wanted?.includes(id) ?? true);
}
