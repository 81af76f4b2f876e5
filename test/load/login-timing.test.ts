import { randomBytes, scryptSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import { createNodePasswordHasher } from "../../src/auth/passwords/hash-node.ts";
import { createRecordingLogger } from "../support/logger.ts";
import { basic, createTestService, type TestService } from "../support/service.ts";
import { amount, reportFigure } from "../support/trust.ts";

const PAIRS = amount({ short: 100, long: 1000 });
/** How far the medians may be apart: few pairs on a busy machine say little. */
const BOUND = amount({ short: 0.6, long: 0.05 });
const NAMES = 20;

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** A hash that takes some milliseconds in the short run, and what accounts have in the long one. */
function toHash(password: string): string {
  const ln = amount({ short: 11, long: 15 });
  const salt = randomBytes(16);
  const hash = scryptSync(password, salt, 32, { N: 2 ** ln, r: 8, p: 1, maxmem: 128 * 1024 ** 2 });
  const [saltText, hashText] = [salt, hash].map((bytes) => bytes.toString("base64").replace(/=+$/, ""));
  return `$scrypt$ln=${ln},r=8,p=1$${saltText}$${hashText}`;
}

async function createService(): Promise<TestService> {
  const passwordHasher = createNodePasswordHasher();
  const accounts = Array.from({ length: NAMES }, (_, index) => ({
    username: `account ${index}`,
    password: toHash(`password of ${index}`),
    home_folder_path: "/",
  }));
  return createTestService({
    authentication: createAccountsAuthenticator({ accounts, passwordHasher, logger: createRecordingLogger() }),
    limits: { loginAttempts: 1000 },
  });
}

type Way = (test: TestService, username: string) => Promise<number>;

const byJson: Way = async ({ call }, username) => {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ username, password: "wrong password" });
  return (await call("POST", "/__svc__/login", { as: null, headers, body })).status;
};

const byBasic: Way = async ({ call }, username) => {
  const headers = { authorization: basic(username, "wrong password") };
  return (await call("GET", "/home/", { as: null, variant: "json", headers })).status;
};

describe("the time of a login that fails (SECURITY 17)", () => {
  it.each<[string, Way]>([
    ["by JSON", byJson],
    ["by Basic", byBasic],
  ])("%s does not tell whether the account exists", async (what, login) => {
    const test = await createService();
    const known: number[] = [];
    const unknown: number[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      // In turns, and either first in turns: what the machine does meanwhile meets both.
      const asked = [`account ${pair % NAMES}`, `nobody ${pair % NAMES}`];
      for (const name of pair % 2 === 0 ? asked : asked.reverse()) {
        const begun = performance.now();
        expect(await login(test, name)).toBe(401);
        (name.startsWith("account") ? known : unknown).push(performance.now() - begun);
      }
      // Guesses are counted: they must not be what is measured.
      test.advance(601);
    }
    const apart = Math.abs(median(known) / median(unknown) - 1);
    const row = "Known and unknown accounts";
    reportFigure({
      row,
      what: `apart, ${what}, over ${PAIRS} pairs`,
      value: apart * 100,
      unit: "%",
      bound: "at most 5",
    });
    expect(apart).toBeLessThan(BOUND);
  });
});
