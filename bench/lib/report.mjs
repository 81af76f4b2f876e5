// The results as text: one table for each workload, in the terminal and in Markdown.
import { judge } from "../targets.mjs";

export const UNIT_TEXTS = {
  requests: "requests per CPU second",
  bytes: "MB per CPU second",
  speed: "MB/s",
  milliseconds: "ms",
};

/** The middle one, or the mean of the two in the middle. */
export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The median of each field of several rounds; of the peak of memory the highest. */
export function toMedian(rounds) {
  const fields = Object.keys(rounds[0]).filter((field) => typeof rounds[0][field] === "number");
  const entries = fields.map((field) => [field, median(rounds.map((round) => round[field]))]);
  return { ...Object.fromEntries(entries), peakRss: Math.max(...rounds.map(({ peakRss }) => peakRss)) };
}

/** How much better than tuned node:http a figure is: above 1 is better, of times too. */
export function toRatio({ unit, servers }, figure) {
  const bare = servers["bare-tuned"]?.median?.figure;
  if (bare === undefined) return undefined;
  return unit === "milliseconds" ? bare / figure : figure / bare;
}

/** How long a reason may be in a table; the file of results has it whole. */
const REASON = 60;

/** Rows of cells for a workload's servers, the head first. */
export function toRows(workload) {
  const { unit, servers } = workload;
  const isStart = workload.id === "start";
  const hasRatios = servers["bare-tuned"]?.median !== undefined;
  const ratioCell = (text) => (hasRatios ? [text] : []);
  const isSmall = unit === "requests";
  const latencyCell = (text) => (isSmall ? [text] : []);
  const memoryHead = isStart ? "idle RSS, MB" : "peak RSS, MB";
  const head = [
    "server",
    UNIT_TEXTS[unit],
    ...ratioCell("to tuned node:http"),
    "CPU ms each",
    ...latencyCell("p99, ms"),
    memoryHead,
  ];
  const rows = Object.values(servers).map(({ title, median: result, error }) => {
    if (result === undefined) {
      return [title, "failed", ...ratioCell(""), "", ...latencyCell(""), error.slice(0, REASON)];
    }
    const ratio = toRatio(workload, result.figure)?.toFixed(2) ?? "";
    const rss = isStart ? result.idleRss : result.peakRss;
    const latency = latencyCell(isSmall ? toNumber(result.p99) : "");
    return [title, toNumber(result.figure), ...ratioCell(ratio), toNumber(result.cpuMs), ...latency, rss.toFixed(0)];
  });
  return [head, ...rows];
}

/** Three digits at least. */
export function toNumber(value) {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The rows in columns as wide as they need. */
export function toPlainTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const lines = rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join("  "),
  );
  return `${lines.join("\n")}\n`;
}

export function toMarkdownTable(rows) {
  const [head, ...others] = rows;
  const line = (row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return `${[line(head), `|${head.map((_, column) => (column === 0 ? "---|" : "---:|")).join("")}`, ...others.map(line)].join("\n")}\n`;
}

/** The targets of a workload, and whether they are met. */
export function toTargetRows(results, id) {
  return judge(results, id).map(toTargetCells);
}

function toTargetCells({ about, value, floor, aim, isLimit, verdict }) {
  const sign = isLimit ? "≤" : "≥";
  const limit = (number) => (number === undefined ? "" : `${sign} ${number.toLocaleString("en")}`);
  return [about, isLimit ? toNumber(value) : value.toFixed(2), limit(floor), limit(aim), verdict];
}

/** The figures of a row of a run of trials, a line for each server, the head first. */
export function toServerTable({ servers }) {
  const columns = [...new Set(Object.values(servers).flatMap((one) => Object.keys(one)))].filter(
    (key) => key !== "title",
  );
  return [
    ["server", ...columns],
    ...Object.values(servers).map((one) => [
      one.title,
      ...columns.map((key) => (one[key] === undefined ? "–" : toNumber(one[key]))),
    ]),
  ];
}

/** The floors of a run of trials, its rows named in the first column. */
export function toFloorTable(rows, judgeRow) {
  const cells = rows.flatMap((row) =>
    judgeRow(rows, row).map((judged, index) => [index === 0 ? row.title : "", ...toTargetCells(judged)]),
  );
  return [["request", ...TARGET_HEAD], ...cells].map(([request, about, value, floor, , verdict]) => [
    request,
    about,
    value,
    floor,
    verdict,
  ]);
}

export const TARGET_HEAD = ["fileferry", "value", "floor", "aim", "verdict"];

export function printWorkload(results, id) {
  const workload = results[id];
  process.stdout.write(`\n${workload.title}\n${toPlainTable(toRows(workload))}`);
  const targets = toTargetRows(results, id);
  if (targets.length > 0) process.stdout.write(`\n${toPlainTable([TARGET_HEAD, ...targets])}`);
}
