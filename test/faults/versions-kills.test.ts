import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createTrashStorage, type TrashStorage } from "../../src/storage/trash.ts";
import { createVersionsStorage, type VersionsStorage } from "../../src/storage/versions.ts";
import { readFileText } from "../../src/testing/storage/content.ts";
import { amount, reportFigure } from "../support/trust.ts";
import { entriesOf, pathsIn } from "../unit/storage/trash/setup.ts";
import { textsOf } from "../unit/storage/versions/setup.ts";
import { createRandom, type Random } from "./cut-requests.ts";
import { buildProgram, runProgram } from "./uploads/run.ts";

/** How many processes are killed: `KILLS=20 KILL_SEED=1 npx vitest run test/faults/versions-kills.test.ts`. */
const KILLS = Number(process.env.KILLS ?? amount({ short: 8, ci: 20, long: 300 }));
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
const START = Date.now();
/** All kills so far and those of the sweeps are over after this time, in the hours of the program. */
const HOURS = 3_600_000;
const NAMES = ["a", "b", "c"];

let built: Awaited<ReturnType<typeof buildProgram>>;
let root: string;

beforeAll(async () => {
  built = await buildProgram("versions");
  root = await mkdtemp(join(tmpdir(), "fileferry-versions-kills-"));
  await mkdir(join(root, "home/moved"), { recursive: true });
  for (const name of NAMES) await writeFile(join(root, "home", name), `first of ${name}`);
});
afterAll(async () => {
  await Promise.all([built.folder, root].map((folder) => rm(folder, { recursive: true, force: true })));
});

interface Opened {
  readonly kept: VersionsStorage;
  readonly storage: TrashStorage;
}

/** Opens the storage, in which more time has passed than any write takes. */
function openLater(): Opened {
  const disk = createDiskStorage({ root, durability: "rename" });
  const clock = (): number => START + (Date.now() - START) * 3600 + 2 * HOURS;
  const kept = createVersionsStorage(disk, { clock, keep: 10_000 });
  return { kept, storage: createTrashStorage(kept, { clock, keepSeconds: 0 }) };
}

/** Runs the program until it is killed, at any moment or at one of its steps. Returns what it has written, by name. */
async function runAndKill(random: Random): Promise<readonly (readonly [name: string, text: string])[]> {
  const isAtStep = random.below(4) > 0;
  const args = [root, `${random.below(2 ** 31)}`, `${isAtStep ? 1 + random.below(400) : 0}`, `${START}`];
  const kill = { milliseconds: isAtStep ? 20_000 : 200 + random.below(300), lines: 10_000 };
  const { lines, isKilled } = await runProgram(built.program, args, kill);
  expect(isKilled).toBe(true);
  return lines.map((line) => line.split(" ").slice(1) as [string, string]);
}

/** Brings a file back to its one place. Returns its path. */
async function settle({ kept, storage }: Opened, name: string): Promise<string> {
  const paths = [`/home/${name}`, `/home/moved/${name}`];
  const found = await Promise.all(paths.map((path) => storage.stat(path)));
  const own = (await entriesOf(storage)).filter(({ path }) => path.endsWith(`/${name}`));
  const [path, ...others] = [...paths.filter((_, index) => found[index] !== undefined), ...own];
  if (path === undefined) throw new Error(`${name} is lost`);
  if (typeof path !== "string") return storage.trash.restore(path.id);
  // A sweep ends a move that a kill has cut in two. It does not know of one of a file without versions.
  if (others.length > 0) expect(await textsOf(kept, path), `in two places: ${name}`).toEqual([]);
  for (const other of others) {
    if (typeof other !== "string") await storage.trash.purge(other.id);
    else await rm(join(root, other));
  }
  return path;
}

describe("versions on a disk whose processes are killed", () => {
  it(`loses no version, and has none of the present content (seed ${SEED})`, { timeout: 900_000 }, async () => {
    const random = createRandom(SEED);
    const written = new Map(NAMES.map((name) => [name, new Set([`first of ${name}`])]));
    let [leftovers, records] = [0, 0];
    for (let round = 0; round < KILLS; round += 1) {
      for (const [name, text] of await runAndKill(random)) written.get(name)?.add(text);
      const opened = openLater();
      const paths = await pathsIn(createDiskStorage({ root }));
      records += paths.filter((path) => /versions-moves\/\d/.test(path)).length;
      leftovers += await opened.kept.versions.sweep();
      for (const name of NAMES) {
        const path = await settle(opened, name);
        const present = await readFileText(opened.storage, path);
        const versions = await textsOf(opened.kept, path);
        expect(versions[0], `the present content, ${name} after round ${round}`).not.toBe(present);
        // One write may be done, but was not acknowledged.
        const texts = new Set([present, ...versions]);
        const expected = written.get(name) ?? new Set();
        expect(
          [...expected].filter((text) => !texts.has(text)),
          `lost, ${name} after round ${round}`,
        ).toEqual([]);
        for (const text of texts) expected.add(text);
      }
      expect((await pathsIn(createDiskStorage({ root }))).filter((path) => /versions-moves\/\d/.test(path))).toEqual(
        [],
      );
    }
    const row = "Kills of processes with versions";
    reportFigure({ row, what: "kills", value: KILLS });
    reportFigure({ row, what: "contents", value: [...written.values()].reduce((sum, texts) => sum + texts.size, 0) });
    reportFigure({ row, what: "contents that were also a version, which a sweep removed", value: leftovers });
    reportFigure({ row, what: "moves that a sweep ended", value: records });
  });
});
