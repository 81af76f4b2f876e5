import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The seeds of a target, by their file names: an example of each thing that it knows, and whatever has once broken a
 * promise.
 */
export function readCorpus(name: string): ReadonlyMap<string, string> {
  return readInputs(fileURLToPath(new URL(`./corpus/${name}/`, import.meta.url)));
}

/** The inputs in a folder; none where it is missing. */
export function readInputs(folder: string): ReadonlyMap<string, string> {
  mkdirSync(folder, { recursive: true });
  const names = readdirSync(folder).sort();
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), "latin1")]));
}

/** Keeps an input under a name that is made of it; the path of its file. */
export function writeInput(folder: string, input: string): string {
  const bytes = Buffer.from(input, "latin1");
  const path = join(folder, createHash("sha256").update(bytes).digest("hex").slice(0, 16));
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, bytes);
  return path;
}
