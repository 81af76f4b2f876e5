// The files that are served, made once per run.
import { randomFillSync } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

const BLOCK = Buffer.alloc(4 * 1_048_576);

/** Makes what the workloads need below `root`, each fixture once. */
export function makeFixtures(root, workloads) {
  const made = new Map();
  for (const { fixture } of workloads) {
    if (fixture !== undefined) made.set(fixture.folder, fixture);
  }
  const needed = [...made.values()].reduce((sum, { count = 0, size = 0 }) => sum + count * size, 0);
  const { bavail, bsize } = statfsSync(root);
  // Uploads come on top, twice the largest.
  if (bavail * bsize < needed + 4 * 1024 ** 3) throw new Error(`Too little space in ${root}.`);
  for (const fixture of made.values()) makeFixture(root, fixture);
}

function makeFixture(root, { folder, count = 0, size = 0, kind }) {
  mkdirSync(join(root, folder), { recursive: true });
  for (let index = 0; index < count; index += 1) {
    const name = kind === "members" ? `member-${String(index).padStart(6, "0")}.txt` : `${index}.bin`;
    writeRandom(join(root, folder, name), size);
  }
}

/** Incompressible, and no two blocks the same. */
function writeRandom(path, size) {
  const file = openSync(path, "w");
  for (let left = size; left > 0; left -= BLOCK.length) {
    const block = BLOCK.subarray(0, Math.min(left, BLOCK.length));
    randomFillSync(block);
    writeSync(file, block);
  }
  closeSync(file);
}

/** What was uploaded has its size and is not all zeros; then it is removed. */
export function checkStored(root, { folder, size }) {
  const path = join(root, folder);
  const names = readdirSync(path);
  const sized = names.filter((name) => statSync(join(path, name)).size === size);
  if (names.length === 0 || sized.length !== names.length)
    throw new Error(`${names.length - sized.length} of ${names.length} stored files have the wrong size.`);
  const tail = Buffer.alloc(Math.min(size, 1024));
  const file = openSync(join(path, names[0]), "r");
  readSync(file, tail, 0, tail.length, size - tail.length);
  closeSync(file);
  if (tail.every((byte) => byte === 0)) throw new Error("A stored file has no content.");
  clearFolder(root, folder);
}

export function clearFolder(root, folder) {
  rmSync(join(root, folder), { recursive: true, force: true });
  mkdirSync(join(root, folder));
}
