// Runs the tests of hostile input, faults and load at their full size, and prints their figures: npm run trust [--
// --write] [-- <folder or file of tests>...] With --write the list in docs/security.md is replaced by these.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("..", import.meta.url));
const page = join(project, "docs/security.md");
const [BEGIN, END] = ["<!-- figures -->", "<!-- end of figures -->"];
/** The longest suite takes most of an hour at its full size. */
const TEST_TIMEOUT = 5_400_000;
/** In columns, of a line of the page. */
const LONGEST_LINE = 160;
const SUITES = [
  "test/browser/uppy.test.ts",
  "test/conformance",
  "test/faults",
  "test/fuzz",
  "test/load",
  "test/memory",
  "test/model",
  "test/openapi/drift.test.ts",
  "test/runtimes/node/transfer-limits.test.ts",
  "test/runtimes/quick-start.test.ts",
  "test/runtimes/uploads",
  "test/runtimes/webdav/races.test.ts",
  "test/spec",
  "test/unit",
];

const isWritten = process.argv.includes("--write");
const named = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const folder = mkdtempSync(join(tmpdir(), "fileferry-trust-"));
const report = join(folder, "figures.ndjson");
writeFileSync(report, "");

const timeouts = [`--testTimeout=${TEST_TIMEOUT}`, `--hookTimeout=${TEST_TIMEOUT}`];
const suites = named.length > 0 ? named : SUITES;
// One file after the other: what is measured is disturbed by nothing else.
const { status } = spawnSync("npx", ["vitest", "run", "--no-file-parallelism", ...timeouts, ...suites], {
  cwd: project,
  stdio: "inherit",
  env: { ...process.env, TRUST_REPORT: report },
});
const list = toList(
  readFileSync(report, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line)),
);
rmSync(folder, { recursive: true });

process.stdout.write(`\n${list}\n`);
if (isWritten && status === 0) {
  const text = readFileSync(page, "utf8");
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  writeFileSync(page, `${text.slice(0, before + BEGIN.length)}\n\n${list}\n\n${text.slice(after)}`);
}
process.exitCode = status ?? 1;

/** A list, a row an item; its figures go on in further lines where one would be too long. */
function toList(figures) {
  const rows = new Map();
  for (const figure of figures) rows.set(figure.row, [...(rows.get(figure.row) ?? []), figure]);
  const items = [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([row, own]) => toItem(row, own));
  return items.join("\n");
}

function toItem(row, figures) {
  const lines = [];
  let line = `- ${row}:`;
  for (const [index, figure] of figures.entries()) {
    const text = `${toText(figure)}${index < figures.length - 1 ? ";" : ""}`;
    if (line.length + 1 + text.length > LONGEST_LINE) {
      lines.push(line);
      line = " ";
    }
    line += ` ${text}`;
  }
  return [...lines, line].join("\n");
}

function toText({ what, value, unit, bound }) {
  const shown = `${value.toLocaleString("en", { maximumFractionDigits: 2 })}${unit === undefined ? "" : ` ${unit}`}`;
  return `${shown} ${what}${bound === undefined ? "" : ` (${bound})`}`;
}
