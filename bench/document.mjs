// Writes the figures of a run into docs/performance.md, between its marks, and the chart: node bench/document.mjs [results.json]
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { writeChart } from "./chart.mjs";
import { TARGET_HEAD, toMarkdownTable, toNumber, toRows, toTargetRows } from "./lib/report.mjs";
import { toSinkRows } from "./sinks.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = at("../docs/performance.md");
const [BEGIN, END] = ["<!-- figures -->", "<!-- /figures -->"];

const GROWTH = {
  members: ["Listing as JSON, by members", "members", (size) => size.toLocaleString("en")],
  get: ["GET, by the size of the file", "size", toMebibytes],
  put: ["PUT, by the size of the file", "size", toMebibytes],
  connections: [
    "Idle keep-alive connections, while another client asks for 1 KiB",
    "connections",
    (size) => size.toLocaleString("en"),
  ],
};
const COLUMNS = {
  ms: "ms",
  cpuMs: "CPU ms",
  peakRss: "peak RSS, MB",
  rss: "RSS, MB",
  p50: "median, ms",
  p99: "99th percentile, ms",
};

function toMebibytes(bytes) {
  return `${bytes / 1024 ** 2} MiB`;
}

/** The page and the chart from a file of results. */
export function writePages(path) {
  const results = JSON.parse(readFileSync(path, "utf8"));
  const page = readFileSync(PAGE, "utf8");
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${PAGE} has no ${BEGIN} … ${END}`);
  const figures = `${BEGIN}\n${toFigures(results)}\n${END}`;
  writeFileSync(PAGE, page.slice(0, begin) + figures + page.slice(end + END.length));
  if (results.workloads !== undefined) writeChart(results);
}

function toFigures({ workloads, growth, sinks, ...run }) {
  const blocks = [];
  if (workloads !== undefined) blocks.push(...toComparison(workloads, run));
  if (growth !== undefined) blocks.push("## How it grows", ...Object.entries(growth).flatMap(toGrowthBlock));
  if (sinks !== undefined) blocks.push(...toSinks(sinks));
  return `\n${blocks.join("\n\n")}\n`;
}

function toSinks(sinks) {
  return [
    "## What sinks cost",
    ...Object.values(sinks).flatMap((workload) => [
      `### ${workload.title}`,
      toMarkdownTable(toSinkRows(workload)).trim(),
    ]),
  ];
}

function toComparison(workloads, { date, node, system, processor, cores, memory, rounds, isQuick }) {
  const dates = [...new Set(Object.values(workloads).map((workload) => workload.date ?? date))].sort();
  const about = `${dates.join(", ")}, Node ${node.slice(1)}, ${system}, ${processor}, ${cores} cores, ${memory} GB; medians of ${rounds} rounds`;
  const targets = Object.keys(workloads).flatMap((id) =>
    toTargetRows(workloads, id).map(([what, ...cells]) => [workloads[id].title, what, ...cells]),
  );
  const [, ...columns] = TARGET_HEAD;
  return [
    `${about}${isQuick ? "; **a quick run, for trying only**" : ""}.`,
    "![Bars: each server's work for the same processor time, as a ratio to tuned node:http](images/performance.svg)",
    "## Against the targets",
    toMarkdownTable([["workload", "what", ...columns], ...targets]).trim(),
    "## All servers",
    ...Object.values(workloads).flatMap((workload) => [
      `### ${workload.title}`,
      toMarkdownTable(toRows(workload)).trim(),
    ]),
  ];
}

function toGrowthBlock([name, rows]) {
  const [title, what, toSize] = GROWTH[name];
  const fields = Object.keys(rows[0]).filter((field) => field !== "size");
  const head = [what, ...fields.map((field) => COLUMNS[field])];
  const cells = rows.map((row) => [toSize(row.size), ...fields.map((field) => toNumber(row[field]))]);
  return [`### ${title}`, toMarkdownTable([head, ...cells]).trim()];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writePages(process.argv[2] ?? at("results.json"));
