import { describe, expect, it } from "vitest";
import type { ChainVerdict } from "../../../../src/auth/chain.ts";
import { createSecondFactor } from "../../../../src/auth/second-factor/second-factor.ts";
import { createMemoryKeyValueStore } from "../../../../src/stores/memory.ts";
import { TOTP_SECRET } from "../../../support/secrets/totp.ts";

const VERDICT: ChainVerdict = {
  outcome: "second-factor",
  account: {},
  secondFactor: { totp: { secret: TOTP_SECRET } },
  verdicts: [],
};

describe("wrong one-time passwords in several processes on one atomic store", () => {
  it("are no more than the limit, also if all come at the same moment", async () => {
    const store = createMemoryKeyValueStore();
    const clock = () => 1_800_000_000_000;
    // No one-time password of the secret around that time.
    const wrong = "000000";
    const processes = Array.from({ length: 3 }, () => createSecondFactor({ store, clock }));
    const guesses = processes.flatMap((complete) => Array.from({ length: 30 }, () => complete(VERDICT, wrong)));
    const problems = (await Promise.all(guesses)).map((verdict) => "problem" in verdict && verdict.problem);
    expect(problems.filter((problem) => problem === "second-factor-wrong")).toHaveLength(50);
    expect(problems.filter((problem) => problem === "second-factor-throttled")).toHaveLength(40);
  });
});
