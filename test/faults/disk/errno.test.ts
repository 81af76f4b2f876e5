import "../errno/wrapped-fs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { amount, reportFigure } from "../../support/trust.ts";
import { createEnvironment } from "../errno/environment.ts";
import type { FileCall } from "../errno/failing-calls.ts";
import { OPERATIONS } from "../errno/operations.ts";
import { follow, judge, type Point, pointsOf, REFUSALS } from "../errno/points.ts";

/** All that an adapter of a disk asks the system for. */
const CALLS: readonly FileCall[] = [
  ...(["close file", "close folder", "closedir", "fchmod", "fstat", "fsync file", "fsync folder", "futimes"] as const),
  ...([
    "clone",
    "lchown",
    "link",
    "lstat",
    "mkdir",
    "open file",
    "open folder",
    "open new file",
    "opendir",
    "read",
  ] as const),
  ...(["readdir", "readlink", "rename", "rmdir", "unlink", "write"] as const),
  ...(process.getuid?.() === 0 ? (["fchown"] as const) : []),
];

/** How many ways are tried in which one call of an operation can fail with one error. */
const WAYS = amount({ short: 1, long: Number.POSITIVE_INFINITY });
/**
 * In a short run each call of an operation fails with every third error; with the others only if no operation before
 * has tried that call with that error.
 */
const ERRORS = amount({ short: 3, long: 1 });

const environment = createEnvironment();
/** Which errors each call has failed with. */
const tried = new Map<FileCall, Set<string>>();
let count = 0;

beforeAll(() => environment.settle());
afterAll(() => environment.remove());

/** For each call other errors, and others for each operation. */
function isLeftOut({ operation, faults: [{ call, errno }] }: Point): boolean {
  const place = OPERATIONS.indexOf(operation) + operation.uses.indexOf(call) + [...REFUSALS.keys()].indexOf(errno);
  return place % ERRORS !== 0 && tried.get(call)?.has(errno) === true;
}

describe("a disk of which a call fails (SECURITY 7, 14)", () => {
  it.each(OPERATIONS)("leaves $name undone or has it done, says which, and serves on", async (operation) => {
    const course = await follow(environment, operation);
    const made = new Set([...course.counts.quick.keys(), ...course.counts.slow.keys()]);
    expect([...made].sort(), "the calls that it is made of").toEqual([...operation.uses].sort());
    const problems: string[] = [];
    let index = 0;
    for (const ways of pointsOf(operation, course)) {
      const [first] = ways;
      if (first === undefined || isLeftOut(first)) continue;
      for (let number = 0; number < Math.min(WAYS, ways.length); number += 1) {
        const point = ways[(index + number) % ways.length];
        if (point === undefined) continue;
        problems.push(...(await judge(environment, course, point)));
        count += 1;
        const [{ call, errno }] = point.faults;
        tried.set(call, (tried.get(call) ?? new Set()).add(errno));
      }
      index += 5;
    }
    expect(problems).toEqual([]);
  });

  it("was tried with each call and each error", () => {
    expect([...tried.keys()].sort()).toEqual([...CALLS].sort());
    const errnos = [...REFUSALS.keys()].sort();
    for (const [call, found] of tried) expect([...found].sort(), call).toEqual(errnos);
    reportFigure({ row: "Failing file calls", what: "points", value: count });
  });
});
