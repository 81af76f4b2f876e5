// The files that are served, made once per run.
import { randomFillSync } from "node:crypto";
import {
  chmodSync,
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
import { toServedFolder } from "../workloads.mjs";

const BLOCK = Buffer.alloc(4 * 1_048_576);

/** Makes what the workloads need below `root`, each fixture once and in a folder to be served of its own. */
export function makeFixtures(root, workloads) {
  chmodSync(root, 0o755);
  const made = new Map();
  for (const workload of workloads) made.set(workload.fixture.folder, workload);
  const { bavail, bsize, ffree } = statfsSync(root);
  const fixtures = [...made.values()].map(({ fixture: { count = 0, size = 0 } }) => ({ count, size }));
  const needed = fixtures.reduce((sum, { count, size }) => sum + count * Math.ceil(size / bsize) * bsize, 0);
  const files = fixtures.reduce((sum, { count }) => sum + count, 0);
  // Uploads come on top.
  if (bavail * bsize < needed + 4 * 1024 ** 3 || ffree < files) throw new Error(`Too little space in ${root}.`);
  for (const workload of made.values()) makeFixture(toServedFolder(root, workload), workload.fixture);
}

function makeFixture(served, { folder, count = 0, size = 0, kind }) {
  const path = join(served, folder);
  mkdirSync(path, { recursive: true });
  if (kind === "folder") return clearFolder(served, folder);
  for (let index = 0; index < count; index += 1) {
    const name = kind === "members" ? `member-${String(index).padStart(6, "0")}.txt` : `${index}.bin`;
    writeRandom(join(path, name), size);
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

/** What was uploaded has its size, and its last bytes are not zeros. */
export function checkStored(served, { folder, size }) {
  const path = join(served, folder);
  const names = readdirSync(path);
  const sized = names.filter((name) => statSync(join(path, name)).size === size);
  if (names.length === 0 || sized.length !== names.length)
    throw new Error(`${names.length - sized.length} of ${names.length} stored files have the wrong size.`);
  const tail = Buffer.alloc(Math.min(size, 1024));
  const file = openSync(join(path, names[0]), "r");
  readSync(file, tail, 0, tail.length, size - tail.length);
  closeSync(file);
  if (tail.every((byte) => byte === 0)) throw new Error("A stored file has no content.");
}

/** Empty, and open to servers that have an account of their own. */
export function clearFolder(served, folder) {
  const path = join(served, folder);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  chmodSync(path, 0o777);
}
