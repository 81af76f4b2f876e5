import "./errno/wrapped-fs.ts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { amount, reportFigure } from "../support/trust.ts";
import {
  createAccountsEnvironment,
  createAccountsFolder,
  PASSWORDS,
  passwordIn,
} from "./errno/accounts-environment.ts";
import { type Fault, type FileCall, openDescriptors, strike, struck } from "./errno/failing-calls.ts";
import { faultsOf, REFUSALS } from "./errno/points.ts";

/** How many ways are tried in which one call can fail with one error. */
const WAYS = amount({ short: 1, long: Number.POSITIVE_INFINITY });

/** The calls that a change of password is made of. No other one is made. */
const USED: readonly FileCall[] = [
  ...(["read", "realpath", "stat", "readdir", "lstat", "unlink", "open new file", "fstat", "fchmod", "write"] as const),
  ...(["fsync file", "close file", "rename", "open folder", "fsync folder", "close folder", "open file"] as const),
  ...(process.getuid?.() === 0 ? (["fchown"] as const) : []),
];
/**
 * The calls that a change needs: if the first one fails, nothing changes. The folder's call is needed. Removing an old
 * temporary file is not.
 */
const NEEDED: readonly FileCall[] = [
  ...(["read", "realpath", "stat", "open new file", "fchmod", "write", "fsync file", "close file", "rename"] as const),
];

const folder = createAccountsFolder();
beforeAll(() => {
  // A change waits ten seconds for a lock that cannot be read.
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() * 20);
});
afterAll(() => {
  vi.restoreAllMocks();
  folder.remove();
});

describe("an accounts file of which a call fails (SECURITY 7)", () => {
  it("has the former password or the next one, as is told, and nothing beside it from the next start on", async () => {
    const { root } = folder;
    const course = await createAccountsEnvironment(root);
    strike();
    expect((await course.update()).status).toBe(200);
    const { counts } = struck();
    expect([...counts.keys()].sort()).toEqual([...USED].sort());
    const problems: string[] = [];
    let index = 0;
    let tried = 0;
    for (const call of USED) {
      for (const errno of REFUSALS.keys()) {
        const ways = faultsOf(call, errno, counts.get(call) ?? 0);
        for (let number = 0; number < Math.min(WAYS, ways.length); number += 1) {
          const fault = ways[(index + number) % ways.length];
          if (fault === undefined) continue;
          problems.push(...(await judge(root, [fault])));
          tried += 1;
        }
        index += 1;
      }
    }
    const fails = { call: "fsync file", errno: "EIO", nth: 1, lasts: "once", effect: "before" } as const;
    for (const errno of REFUSALS.keys()) {
      // The unfinished file stays as well.
      problems.push(...(await judge(root, [{ ...fails, call: "unlink", errno, lasts: "on" }, fails])));
      tried += 1;
    }
    expect(problems).toEqual([]);
    reportFigure({ row: "Failing file calls", what: "points of the accounts file", value: tried });
  });
});

async function judge(root: string, faults: readonly [Fault, ...Fault[]]): Promise<readonly string[]> {
  const environment = await createAccountsEnvironment(root);
  const open = openDescriptors();
  strike(...faults);
  const { status, headers, body } = await environment.update();
  const { fired } = struck();
  strike();
  const [{ call, errno, nth, lasts, effect }] = faults;
  const text = `${Buffer.from(body ?? [])}${[...headers].join("\n")}`;
  const found = await passwordIn(root);
  const other = found === "next" ? PASSWORDS.former : PASSWORDS.next;
  const isRefusal = status === 503 && text.includes("Passwords cannot be changed at the moment.");
  const left = await environment.restart(faults.length > 1);
  const checks: readonly (readonly [isWell: boolean, problem: string])[] = [
    [faults.every((one) => fired.has(one.call)), "it was not made to fail"],
    [status === 200 || (isRefusal && headers.has("retry-after")), `it is answered ${status}`],
    [![root, errno, "injected", ".tmp"].some((word) => text.includes(word)), `it tells ${text}`],
    [found !== undefined && (status !== 200 || found === "next"), `the password is the ${found} one`],
    [status !== 200 || nth > 1 || !NEEDED.includes(call), "it says that it is done"],
    [openDescriptors() === open, "a descriptor is open"],
    [left.length === 0, `there stays ${left.join()}`],
    [(await environment.logIn(PASSWORDS[found ?? "former"])) === 200, "then nobody can log in"],
    [(await environment.logIn(other)) === 401, "then the other password is good"],
  ];
  const point = `${errno} ${effect} ${call} ${nth} ${lasts}`;
  return checks.filter(([isWell]) => !isWell).map(([, problem]) => `${point}: ${problem}`);
}
