import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TrashEntry } from "../../src/contracts/kept/trash.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createTrashStorage, type TrashStorage } from "../../src/storage/trash.ts";
import { amount, reportFigure } from "../support/trust.ts";
import { entriesOf, pathsIn } from "../unit/storage/trash/setup.ts";
import { createRandom, type Random } from "./cut-requests.ts";
import { buildProgram, runProgram } from "./uploads/run.ts";

/** How many processes are killed: `KILLS=20 KILL_SEED=1 npx vitest run test/faults/trash-kills.test.ts`. */
const KILLS = Number(process.env.KILLS ?? amount({ short: 10, ci: 30, long: 300 }));
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
const START = Date.now();
const MEMBERS = 5;
const THINGS = 8;

let built: Awaited<ReturnType<typeof buildProgram>>;
let root: string;

beforeAll(async () => {
  built = await buildProgram("trash");
  root = await mkdtemp(join(tmpdir(), "fileferry-trash-kills-"));
  await mkdir(join(root, "home"));
});
afterAll(async () => {
  await Promise.all([built.folder, root].map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Makes what is missing of the files and folders, which have their names as content. */
async function makeMissing(missing: readonly string[]): Promise<void> {
  for (const name of missing) {
    const path = join(root, "home", name);
    if (name.startsWith("file")) await writeFile(path, name);
    else {
      await mkdir(path);
      for (let member = 0; member < MEMBERS; member += 1) await writeFile(join(path, `${member}`), name);
    }
  }
}

/** Where a file or folder is: in its place, and by the IDs of its entries. All of it is checked to be whole. */
async function locate(storage: TrashStorage, entries: readonly TrashEntry[], name: string): Promise<readonly string[]> {
  const own = entries.filter(({ path }) => path === `/home/${name}`);
  const folders = own.map(({ id }) => ({ id, folder: join(root, `__svc__/trash/home/${name}~t/${id}/data`) }));
  if ((await storage.stat(`/home/${name}`)) !== undefined) folders.push({ id: "", folder: join(root, "home", name) });
  for (const { folder } of folders) {
    const files = name.startsWith("file")
      ? [folder]
      : Array.from({ length: MEMBERS }, (_, at) => join(folder, `${at}`));
    for (const file of files) expect(readFileSync(file, "utf8")).toBe(name);
  }
  return folders.map(({ id }) => id);
}

/** What a kill has left of the files and folders: those that are missing, and how many are in two places. */
async function checkAll(
  storage: TrashStorage,
  names: readonly string[],
  mayBeGone: (name: string) => boolean,
): Promise<{ readonly missing: readonly string[]; readonly twice: number }> {
  const entries = await entriesOf(storage);
  const missing: string[] = [];
  let twice = 0;
  for (const name of names) {
    const places = await locate(storage, entries, name);
    if (places.length === 0) {
      expect(mayBeGone(name), `${name} is lost`).toBe(true);
      missing.push(name);
    }
    if (places.length < 2) continue;
    // The system moves a file in two steps: a link, and the removal of the old name.
    expect(name, "only files are moved in two steps").toMatch(/^file/);
    twice += places.length - 1;
    const ids = places.filter((id) => id !== "");
    for (const id of ids.slice(0, places.length - 1)) await storage.trash.purge(id);
  }
  return { missing, twice };
}

/** Has some processes work until they are killed, each at any moment or at one of its steps. */
async function runAndKill(random: Random, processes: number): Promise<readonly string[]> {
  const runs = Array.from({ length: processes }, () => {
    const isAtStep = random.below(2) === 0;
    const args = [root, String(random.below(2 ** 31)), String(isAtStep ? 1 + random.below(300) : 0), `${START}`];
    return runProgram(built.program, args, {
      milliseconds: isAtStep ? 10_000 : 120 + random.below(200),
      lines: 10_000,
    });
  });
  const ended = await Promise.all(runs);
  expect(ended.every(({ isKilled }) => isKilled)).toBe(true);
  return ended.flatMap(({ lines }) => lines.map((line) => line.split(" ")[1] ?? ""));
}

describe("a trash on a disk whose processes are killed", () => {
  it.each([
    ["one process", 1, KILLS],
    ["three processes at once", 3, Math.ceil(KILLS / 10)],
  ])(
    `loses nothing, and has nothing twice: %s (seed ${SEED})`,
    { timeout: 600_000 },
    async (_name, processes, rounds) => {
      const random = createRandom(SEED + processes);
      const names = Array.from({ length: THINGS }, (_, index) => (index % 2 === 0 ? `file${index}` : `folder${index}`));
      // Later than all that the programs do: its sweep brings back what has come into an unused folder.
      const clock = (): number => START + (Date.now() - START) * 3600 + 7_200_000;
      const disk = createDiskStorage({ root, durability: "rename" });
      const storage = createTrashStorage(disk, { clock, keepSeconds: 0 });
      await makeMissing(names);
      for (let round = 0; round < rounds; round += 1) {
        const known = new Map((await entriesOf(storage)).map(({ id, path }) => [id, path.slice("/home/".length)]));
        const purged = await runAndKill(random, processes);
        await storage.trash.sweep();
        const left = (await pathsIn(disk)).filter((path) => /\/purged\/|trash-purges\/\d/.test(path));
        expect(left, `left of purges after round ${round}`).toEqual([]);
        // A purge may be of an entry that the process has made itself.
        const mayBeGone = (name: string): boolean => purged.some((id) => (known.get(id) ?? name) === name);
        const { missing, twice } = await checkAll(storage, names, mayBeGone);
        expect(twice, `in two places after round ${round}`).toBeLessThanOrEqual(processes);
        await makeMissing(missing);
      }
      await rm(root, { recursive: true });
      await mkdir(join(root, "home"), { recursive: true });
      reportFigure({ row: "Kills of processes with a trash", what: `rounds of ${processes}`, value: rounds });
    },
  );
});
