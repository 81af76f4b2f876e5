// The file of results, and on what they were measured.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";

export function describeMachine() {
  const processors = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    system: `${type()} ${release()}`,
    processor: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memory: Math.round(totalmem() / 1e9),
  };
}

export function readResults(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
}

export function writeResults(path, results) {
  const shortened = JSON.stringify(results, (_key, value) => (typeof value === "number" ? toShort(value) : value), 1);
  writeFileSync(`${path}.new`, `${shortened}\n`);
  renameSync(`${path}.new`, path);
}

/** Five digits say all that a measurement does. */
function toShort(value) {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}
