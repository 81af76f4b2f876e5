import { describe, expect, it } from "vitest";
import { NOTHING } from "../../../../src/storage/quota/amount.ts";
import { type Asked, createHeld, type Share } from "../../../../src/storage/quota/held.ts";
import { type CountRecord, toUsage, UNCOUNTED } from "../../../../src/storage/quota/record.ts";

const LIMIT = { path: "/", bytes: 1000 };

function ask(share: Share, bytes: number): Asked {
  const amount = { bytes, files: 1 };
  return { limit: LIMIT, share, amount, needed: amount };
}

function askAgain(share: Share): Asked {
  return { limit: LIMIT, share, amount: NOTHING, needed: NOTHING };
}

/** A process with two files of 300 bytes that was stopped for too long. Another one has stored 500 meanwhile. */
function stopInTheMiddle() {
  const held = createHeld(() => 1);
  const shares = [1, 2].map((): Share => ({ amount: NOTHING, round: 0 }));
  let record: CountRecord = { ...UNCOUNTED, countedAt: 1, isStale: false };
  for (const share of shares) {
    const asked = ask(share, 300);
    const decision = held.decide(record, asked);
    record = held.withDecision(record, asked, decision);
    held.note(asked, decision);
  }
  expect(toUsage(record)).toMatchObject({ reservedBytes: 600, reservedFiles: 2 });
  return { held, shares, record: { ...record, used: { bytes: 500, files: 1 }, leases: [] } };
}

describe("what a process holds, if the store keeps a decision and reports a failure", () => {
  it("is never more than was admitted", () => {
    const { held, shares, record } = stopInTheMiddle();
    const [first, second] = shares.map(askAgain) as [Asked, Asked];
    const kept = held.withDecision(record, first, held.decide(record, first));
    expect(toUsage(kept)).toMatchObject({ bytes: 500, reservedBytes: 300 });
    // The failure is reported, so the decision is not noted.
    const next = held.withDecision(kept, second, held.decide(kept, second));
    expect(toUsage(next)).toMatchObject({ bytes: 500, reservedBytes: 300 });
    const given = held.withReleased(kept, "/", { share: second.share, amount: { bytes: 100, files: 0 } });
    expect(toUsage(given).reservedBytes).toBe(300);
  });

  it("is what the example says, if it reports none", () => {
    const { held, shares, record } = stopInTheMiddle();
    const [first, second] = shares.map(askAgain) as [Asked, Asked];
    const decision = held.decide(record, first);
    const kept = held.withDecision(record, first, decision);
    held.note(first, decision);
    expect(toUsage(kept)).toMatchObject({ bytes: 500, reservedBytes: 300 });
    expect(held.decide(kept, second).answer).toMatchObject({ bytes: 100 });
  });
});
