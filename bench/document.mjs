// Writes the figures of a run into docs/performance.md, between its marks, and the chart: node bench/document.mjs
// [results.json]
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { writeChart } from "./chart.mjs";
import {
  TARGET_HEAD,
  toFloorTable,
  toMarkdownTable,
  toNumber,
  toRows,
  toServerTable,
  toTargetRows,
} from "./lib/report.mjs";
import { PAGE_COLUMNS, toPageCells } from "./pages.mjs";
import { toSinkRows } from "./sinks.mjs";
import { judgeUploads, judgeWebdav } from "./targets.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = at("../docs/performance.md");
const [BEGIN, END] = ["<!-- figures -->", "<!-- /figures -->"];

const GROWTH = {
  members: ["Listing as JSON, by members", "members", (size) => size.toLocaleString("en")],
  get: ["GET, by the size of the file", "size", toMebibytes],
  put: ["PUT, by the size of the file", "size", toMebibytes],
  clients: [
    "GET of 1 KiB, by connections that ask at the same time",
    "connections",
    (size) => size.toLocaleString("en"),
  ],
  connections: [
    "Idle keep-alive connections, while another client asks for 1 KiB",
    "connections",
    (size) => size.toLocaleString("en"),
  ],
};
const TARGETS_INTRO = `A floor must be met; an aim is a goal.
Ratios compare servers of one run; above 1 \`fileferry\` is ahead, also in time.`;
const SINKS_INTRO = `The table shows median times.
A ratio compares a sink that hangs, is slow or fails with the first one of its kind, which works; below 1 is faster.`;
const COLUMNS = {
  figure: "requests per CPU second",
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

function toFigures({ workloads, growth, sinks, webdav, uploads, pages, ...run }) {
  const blocks = [];
  if (workloads !== undefined) blocks.push(...toComparison(workloads, run));
  if (growth !== undefined)
    blocks.push("## Growth of time and memory", ...Object.entries(growth).flatMap(toGrowthBlock));
  if (sinks !== undefined) blocks.push("## What sinks cost", SINKS_INTRO, toTable(toSinkTable(Object.values(sinks))));
  if (webdav !== undefined) blocks.push("## WebDAV", ...toWebdavBlocks(webdav));
  if (uploads !== undefined) blocks.push("## Resumable uploads", ...toUploadBlocks(uploads));
  if (pages !== undefined) blocks.push("## The page of a folder", ...toPageBlocks(pages));
  return `\n${blocks.join("\n\n")}\n`;
}

const WEBDAV_COLUMNS = {
  ms: "ms",
  cpuMs: "CPU ms",
  firstMs: "first byte, ms",
  peakRss: "peak RSS, MB",
  bytesPerMember: "bytes per member",
  listingP99: "99th percentile of the listing, ms",
  severalWinners: "rounds with several winners",
  lost: "changes lost",
  failed: "responses 5xx",
  bothMoved: "rounds in which both moved",
  withoutMs: "without locks, ms",
  withMs: "with locks, ms",
};

const UPLOAD_COLUMNS = {
  cpu: "CPU s",
  peakRss: "peak RSS, MB",
  ms: "ms",
  smallMs: "1 MiB, ms",
  largeMs: "1 GiB, ms",
  fewMs: "of 10, ms",
  manyMs: "of 1,000, ms",
  putMs: "PUT of 1 KiB, ms",
  oneMs: "one connection, ms",
  threeMs: "three, ms",
};

const UPLOADS_INTRO =
  "1 GiB in 8 MiB chunks where a row does not say otherwise; the file store of `@tus/server` does not wait for the disk.";

function toWebdavBlocks(run) {
  const some = "medians of rounds, one for nephele and webdav-server; of failures and peak RSS the highest";
  return [toAbout(run, some), "### Floors of WebDAV", ...toTrialBlocks(run.rows, judgeWebdav, WEBDAV_COLUMNS)];
}

function toUploadBlocks(run) {
  return [
    toAbout(run, "medians of rounds; of peak RSS the highest"),
    UPLOADS_INTRO,
    "### Floors of resumable uploads",
    ...toTrialBlocks(run.rows, judgeUploads, UPLOAD_COLUMNS),
  ];
}

const PAGES_INTRO = `First visits in Chromium, with an empty cache; times are from the start of the navigation.
The page is usable in the first frame in which its rows and controls work, and ready when the browser has nothing to do.
Filtering and selecting are timed from the input to the next frame.`;

function toPageBlocks({ rows, ...run }) {
  const table = [["members", ...Object.values(PAGE_COLUMNS)], ...rows.map(toPageCells)];
  return [toAbout(run, "medians of rounds"), PAGES_INTRO, toTable(table)];
}

function toAbout({ date, node, rounds }, figures) {
  return `${date}, Node ${node.slice(1)}, in one run; ${figures.replace("rounds", `${rounds} rounds`)}.`;
}

function toTrialBlocks(rows, judgeRow, columns) {
  return [
    toTable(toFloorTable(rows, judgeRow)),
    ...rows.flatMap((row) => [
      `### ${row.title}`,
      toTable(
        toServerTable(row).map(([server, ...cells], index) => [
          server,
          ...(index === 0 ? cells.map((key) => columns[key]) : cells),
        ]),
      ),
    ]),
  ];
}

function toComparison(workloads, { date, node, system, processor, cores, memory, rounds, isQuick }) {
  const dates = [...new Set(Object.values(workloads).map((workload) => workload.date ?? date))].sort();
  const about = `${dates.join(", ")}, Node ${node.slice(1)}, ${system}, ${processor}, ${cores} cores, ${memory} GB; medians of ${rounds} rounds`;
  const all = Object.values(workloads);
  const [works, listings] = [isWork, isListing].map((is) => all.filter(is));
  const others = all.filter((workload) => !isWork(workload) && !isListing(workload));
  const table = (title, rows) => [`### ${title}`, toTable(rows)];
  return [
    `${about}${isQuick ? "; **a quick run, for trying only**" : ""}.`,
    "![Bars: each server's work for the same processor time, as a ratio to tuned node:http](images/performance.svg)",
    "## Targets",
    TARGETS_INTRO,
    toTable([["workload", ...TARGET_HEAD], ...Object.keys(workloads).flatMap((id) => toTargets(workloads, id))]),
    "## All servers",
    ...table("Downloads and uploads: work per CPU second", toMatrix(works, toFigure, toWorkHead)),
    ...table("Small requests: 99th percentile, ms", toMatrix(works.filter(isSmall), toLatency)),
    ...table("Listings: milliseconds", toMatrix(listings, toFigure)),
    ...table("Peak RSS, MB", toMatrix([...works, ...listings], toPeak)),
    ...others.flatMap((workload) => table(workload.title, toRows(workload))),
  ];
}

const isListing = ({ id }) => id.startsWith("list-");
const isWork = ({ id }) => /^(?:get|put)-/.test(id);

const isSmall = ({ unit }) => unit === "requests";

const toLatency = ({ p99 }) => toNumber(p99);
const toFigure = ({ figure }) => toNumber(figure);
const toPeak = ({ peakRss }) => Math.round(peakRss).toLocaleString("en");

/** The targets of a workload, which is named in the first row alone. */
function toTargets(workloads, id) {
  return toTargetRows(workloads, id).map((cells, index) => [index === 0 ? workloads[id].title : "", ...cells]);
}

/** A row for each server, a column for each workload. */
function toMatrix(workloads, toText, toHead = toShortTitle) {
  const cell = ({ servers }, id) => {
    if (servers[id] === undefined) return "";
    return servers[id].median === undefined ? "failed" : toText(servers[id].median);
  };
  const rows = toServers(workloads).map(([id, title]) => [title, ...workloads.map((workload) => cell(workload, id))]);
  return [["server", ...workloads.map(toHead)], ...rows];
}

/** Identifiers and titles of the servers of several workloads, in the order of the catalog. */
function toServers(workloads) {
  const found = [];
  for (const { servers } of workloads) {
    let place = 0;
    for (const [id, { title }] of Object.entries(servers)) {
      const known = found.findIndex(([other]) => other === id);
      if (known < 0) found.splice(place, 0, [id, title]);
      place = (known < 0 ? place : known) + 1;
    }
  }
  return found;
}

function toShortTitle({ title }) {
  const short = title.replace(", 64 connections", "").replace(/, (\d+) at a time/, " × $1");
  return short.replace(/^Listing of /, "").replace(" of ", " ");
}

function toWorkHead(workload) {
  return `${toShortTitle(workload)}, ${workload.unit === "bytes" ? "MB" : workload.unit}`;
}

/** A row for each sink: the median time of each workload, and its ratio to the first sink of the group. */
function toSinkTable(workloads) {
  const [names] = workloads.map(({ rows }) => rows.map(({ title }) => title));
  const columns = workloads.map((workload) => toSinkRows(workload).slice(1));
  const rows = names.map((name, row) => [name, ...columns.flatMap((cells) => cells[row].slice(1, 3))]);
  return [["sink", ...workloads.flatMap((workload) => [`${toShortTitle(workload)}, ms`, "ratio"])], ...rows];
}

function toTable(rows) {
  return toMarkdownTable(rows).trim();
}

function toGrowthBlock([name, rows]) {
  const [title, what, toSize] = GROWTH[name];
  const fields = Object.keys(rows[0]).filter((field) => field !== "size");
  const head = [what, ...fields.map((field) => COLUMNS[field])];
  const cells = rows.map((row) => [toSize(row.size), ...fields.map((field) => toNumber(row[field]))]);
  return [`### ${title}`, toTable([head, ...cells])];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writePages(process.argv[2] ?? at("results.json"));
