// The ratios of a run as an SVG chart: node bench/chart.mjs [results.json] [chart.svg]
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { toRatio } from "./lib/report.mjs";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

const PANELS = [
  "get-1k",
  "get-100k",
  "get-1g",
  "get-1g-8",
  "put-1k",
  "put-1g",
  "list-1k",
  "list-10k",
  "list-100k",
  "zip",
];
const COLUMN = 480;
const ROW = 20;
const HEAD = 44;
const GAP = 28;
const MARGIN = 20;
const LABEL = 180;
const VALUE = 52;
/** The ends of the scale, which is logarithmic; bars beyond are cut. */
const LEAST = 0.01;
const MOST = 10;

const STYLE = `
  .ground { fill: #ffffff; } text { fill: #24292f; font: 12px system-ui, sans-serif; } .title { font-weight: 600; font-size: 13px; }
  .note, .tick { fill: #656d76; font-size: 11px; } .value { text-anchor: end; } .tick { text-anchor: middle; }
  .bar { fill: #b6c2cf; } .own { fill: #1f6feb; } .bare { fill: #8c959f; } .line { stroke: #d0d7de; } .one { stroke: #57606a; }
  .mine { font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; } text { fill: #e6edf3; } .note, .tick { fill: #8d96a0; } .bar { fill: #3d4752; } .own { fill: #4493f8; }
    .bare { fill: #6e7681; } .line { stroke: #30363d; } .one { stroke: #9198a1; }
  }`;

/** The chart as text. */
export function toChart({ workloads, date }) {
  const panels = PANELS.flatMap((id) => toPanel(workloads[id]));
  const columns = [[], []];
  const heights = [0, 0];
  for (const panel of panels) {
    const column = heights[0] <= heights[1] ? 0 : 1;
    columns[column].push({ ...panel, top: heights[column] });
    heights[column] += HEAD + panel.rows.length * ROW + GAP;
  }
  const top = 64;
  const width = 2 * COLUMN + 3 * MARGIN;
  const height = top + Math.max(...heights);
  const parts = columns.flatMap((own, column) =>
    own.map((panel) => drawPanel(panel, MARGIN + column * (COLUMN + MARGIN), top + panel.top)),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="chart-title">
<title id="chart-title">fileferry and its peers, as ratios to node:http</title>
<style>${STYLE}
</style>
<rect class="ground" width="${width}" height="${height}"/>
<text class="title" x="${MARGIN}" y="26">Work for the same processor time, as a ratio to tuned node:http; longer to the right is better</text>
<text class="note" x="${MARGIN}" y="44">Logarithmic scale. Listings and archives by the clock; archives as a ratio to the fastest writer of npm. ${date}</text>
${parts.join("\n")}
</svg>
`;
}

/** The servers of a workload with their ratios, the best first; nothing where there is nothing to compare with. */
function toPanel(workload) {
  if (workload === undefined) return [];
  const reference = workload.id === "zip" ? bestWriter(workload) : undefined;
  const rows = Object.entries(workload.servers).flatMap(([id, { title, median }]) => {
    if (median === undefined) return [];
    const ratio = reference === undefined ? toRatio(workload, median.figure) : median.figure / reference;
    return ratio === undefined ? [] : [{ id, title, ratio }];
  });
  rows.sort((one, other) => other.ratio - one.ratio);
  return rows.length < 2 ? [] : [{ title: workload.title, rows }];
}

function bestWriter({ servers }) {
  const figures = Object.entries(servers).flatMap(([id, { median }]) =>
    id.startsWith("zip-") && median !== undefined ? [median.figure] : [],
  );
  return figures.length > 0 ? Math.max(...figures) : undefined;
}

/** Where a ratio stands between the ends of the scale, in pixels. */
function toX(ratio) {
  const inside = Math.min(MOST, Math.max(LEAST, ratio));
  const share = Math.log(inside / LEAST) / Math.log(MOST / LEAST);
  return LABEL + share * (COLUMN - LABEL - VALUE);
}

function drawPanel({ title, rows }, x, y) {
  const bottom = HEAD + rows.length * ROW;
  const ticks = [0.01, 0.1, 1, 10].map(
    (ratio) =>
      `<text class="tick" x="${toX(ratio)}" y="36">${ratio}</text>` +
      `<line class="${ratio === 1 ? "one" : "line"}" x1="${toX(ratio)}" x2="${toX(ratio)}" y1="40" y2="${bottom}"/>`,
  );
  const bars = rows.map(({ id, title: name, ratio }, index) => {
    const middle = HEAD + index * ROW + ROW / 2;
    const isOwn = id.startsWith("fileferry");
    const [from, to] = [toX(1), toX(ratio)].sort((one, other) => one - other);
    const kind = isOwn ? "own" : id === "bare-tuned" ? "bare" : "bar";
    return (
      `<text${isOwn ? ' class="mine"' : ""} x="0" y="${middle + 4}">${escapeText(name)}</text>` +
      `<rect class="${kind}" x="${from.toFixed(1)}" y="${middle - 6}" width="${Math.max(2, to - from).toFixed(1)}" height="12"/>` +
      `<text class="value${isOwn ? " mine" : ""}" x="${COLUMN}" y="${middle + 4}">${ratio.toFixed(2)}</text>`
    );
  });
  return `<g transform="translate(${x} ${y})">
<text class="title" x="0" y="16">${escapeText(title)}</text>
${[...ticks, ...bars].join("\n")}
</g>`;
}

function escapeText(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

export function writeChart(results, path = at("../docs/images/performance.svg")) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, toChart(results));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , from = at("results.json"), to] = process.argv;
  writeChart(JSON.parse(readFileSync(from, "utf8")), to);
}
