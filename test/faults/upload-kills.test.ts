import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { noise } from "../../src/testing/storage/content.ts";
import { uploadsOf } from "../../src/testing/uploads/setup.ts";
import { amount, reportFigure } from "../support/trust.ts";
import { createRandom } from "./cut-requests.ts";
import { buildProgram, type ProgramRun, runProgram } from "./uploads/run.ts";

/** How many processes are killed: `KILLS=20 KILL_SEED=1 npx vitest run test/faults/upload-kills.test.ts`. */
const KILLS = Number(process.env.KILLS ?? amount({ short: 5, ci: 10, long: 200 }));
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
const TOTAL = 6_000_000;

let built: Awaited<ReturnType<typeof buildProgram>>;

beforeAll(async () => {
  built = await buildProgram("uploads");
});
afterAll(() => rm(built.folder, { recursive: true, force: true }));

describe("uploads on a disk whose process is killed", () => {
  it(`lose no acknowledged offset and keep no part of a checked chunk (seed ${SEED})`, async ({ onTestFinished }) => {
    const root = await mkdtemp(join(tmpdir(), "fileferry-upload-kills-"));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const random = createRandom(SEED);
    let kills = 0;
    let acknowledged = 0;
    for (let uploads = 0; kills < KILLS; uploads += 1) {
      const id = randomUUID().replaceAll("-", "");
      const key = { owner: "account:alice", id };
      const seed = String(uploads);
      let stored = 0;
      for (let isDone = false; !isDone; ) {
        const kill = { milliseconds: 150 + random.below(400), lines: 1 + random.below(8) };
        const run = await runProgram(built.program, [root, id, seed, String(TOTAL)], kill);
        kills += run.isKilled ? 1 : 0;
        acknowledged += run.lines.filter((line) => line.startsWith("stored")).length;
        const found = await uploadsOf(createDiskStorage({ root })).find(key);
        const last = lastChecked(run, stored);
        stored = Math.max(stored, ...run.lines.map(toOffset));
        const offset = found?.offset ?? 0;
        expect(offset, `offset after ${run.lines.join(", ")}`).toBeGreaterThanOrEqual(stored);
        if (last !== undefined) expect([...last], `offset of a checked chunk`).toContain(offset);
        stored = offset;
        isDone = found?.done !== undefined || run.lines.some((line) => line.startsWith("done"));
      }
      expect(Buffer.compare(await readFile(join(root, "file")), noise(TOTAL, Number(seed)))).toBe(0);
      expect(await uploadsOf(createDiskStorage({ root })).discard(key)).toBeDefined();
    }
    expect((await readdir(root, { recursive: true })).filter((name) => /\.(?:json|lock)$|upload-/.test(name))).toEqual(
      [],
    );
    reportFigure({ row: "Kills during uploads", what: "at random moments", value: kills });
    reportFigure({ row: "Kills during uploads", what: "acknowledged appends, none lost", value: acknowledged });
  }, 600_000);
});

function toOffset(line: string): number {
  const [word, offset] = line.split(" ");
  return word === "stored" ? Number(offset) : 0;
}

/** The offsets that are possible if the last thing that a process said is the start of a checked append. */
function lastChecked({ lines }: ProgramRun, before: number): readonly number[] | undefined {
  const [word, from, to] = (lines.at(-1) ?? "").split(" ");
  return word === "checked" ? [Number(from), Number(to), before].filter((offset) => offset >= Number(from)) : undefined;
}
