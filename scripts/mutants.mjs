// Changes the sources that decide about trust, one place at a time, and asks whether a test notices: npm run mutants
// [-- --write] [-- <folder of src>...] The mutants of a folder are tried by its own tests first, a moment each; those
// that live, by the tests of the service that are about it as well. With --write the table of docs/security.md is
// replaced by these. Ends with 1 where fewer than 85 % of a folder's mutants are noticed; those that live are in
// coverage/mutants/<folder>.txt.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("..", import.meta.url));
const own = join(project, "test/mutation");
const reports = join(project, "coverage/mutants");
const page = join(project, "docs/security.md");
const [BEGIN, END] = ["<!-- mutants -->", "<!-- end of mutants -->"];
const KNOWN = ["account", "auth", "http", "remote-auth"];
/** Per cent of a folder's mutants. */
const LEAST_NOTICED = 85;
const LIVING = ["Survived", "NoCoverage"];
const COUNTED = [...LIVING, "Killed", "Timeout"];

const isWritten = process.argv.includes("--write");
const named = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const folders = named.length > 0 ? named : KNOWN;
for (const folder of folders) if (!KNOWN.includes(folder)) throw new Error(`${folder} is none of ${KNOWN.join(", ")}`);
if (!existsSync(join(own, "node_modules"))) run("npm", ["ci", "--prefix", own]);
mkdirSync(reports, { recursive: true });

const scores = folders.map((folder) => {
  const mutants = tried(folder, "folder", [`src/${folder}/**/*.ts`]);
  const living = [...mutants.values()].filter(isLiving);
  if (living.length > 0) {
    const again = tried(folder, "service", living.map(toRange));
    for (const { key } of living) mutants.set(key, again.get(key) ?? mutants.get(key));
  }
  const all = [...mutants.values()];
  const left = all.filter(isLiving);
  writeFileSync(join(reports, `${folder}.txt`), left.map((mutant) => `${toText(mutant)}\n`).join(""));
  return { folder, all: all.length, noticed: all.length - left.length };
});

const rows = scores.map(({ folder, all, noticed }) => {
  return `| ${folder}/ | ${all.toLocaleString("en")} | ${((100 * noticed) / all).toFixed(1)} % |`;
});
const table = ["| folder | mutants | noticed |", "|---|--:|--:|", ...rows].join("\n");
process.stdout.write(`\n${table}\n`);
if (isWritten) {
  const text = readFileSync(page, "utf8");
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  writeFileSync(page, `${text.slice(0, before + BEGIN.length)}\n${table}\n${text.slice(after)}`);
}
if (scores.some(({ all, noticed }) => (100 * noticed) / all < LEAST_NOTICED)) process.exitCode = 1;

/** The mutants at these places, by what they are, with how they fared against these tests. */
function tried(folder, by, places) {
  const report = join(reports, `${folder}-${by}.json`);
  rmSync(report, { force: true });
  const stryker = join(own, "node_modules/@stryker-mutator/core/bin/stryker.js");
  run(process.execPath, [stryker, "run", join(own, "stryker.config.mjs"), "--mutate", places.join(",")], {
    MUTANTS_OF: folder,
    MUTANTS_BY: by,
    MUTANTS_REPORT: report,
  });
  const mutants = new Map();
  for (const [file, { mutants: found, source }] of Object.entries(JSON.parse(readFileSync(report, "utf8")).files)) {
    for (const { mutatorName, replacement, location, status } of found) {
      const key = JSON.stringify([file, location, mutatorName, replacement]);
      // What does not compile, or could not be tried, is no mutant.
      if (!COUNTED.includes(status)) continue;
      mutants.set(key, { key, file, mutatorName, replacement, location, status, source });
    }
  }
  return mutants;
}

function isLiving({ status }) {
  return LIVING.includes(status);
}

/** The place of a mutant as Stryker takes it: lines from one, columns from nought. */
function toRange({ file, location: { start, end } }) {
  return `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;
}

function toText({ file, mutatorName, replacement, location: { start, end }, status, source }) {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = lines[last].slice(0, end.column - 1);
  lines[0] = lines[0].slice(start.column - 1);
  const [before, after] = [lines.join(" "), replacement ?? ""].map((text) => text.replace(/\s+/g, " ").slice(0, 200));
  return `${file}:${start.line}:${start.column} ${status} ${mutatorName}: ${before} -> ${after}`;
}

function run(command, args, environment = {}) {
  const { status, error } = spawnSync(command, args, {
    cwd: project,
    stdio: "inherit",
    env: { ...process.env, ...environment },
  });
  if (error !== undefined || status !== 0) throw error ?? new Error(`${command} ended with ${status}`);
}
