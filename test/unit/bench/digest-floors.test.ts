import { describe, expect, it } from "vitest";

interface Judged {
  readonly about: string;
  readonly value: number;
  readonly verdict: string;
}

// The benchmark is JavaScript without types.
const targets = new URL("../../../bench/targets.mjs", import.meta.url).href;
const { judge } = (await import(targets)) as { judge(results: unknown, id: string): readonly Judged[] };

/** The verdicts of a run of PUT of 1 GiB, by the MB that the two servers store in a second of processor time. */
function judgePuts(plain: number, digested: number): readonly Judged[] {
  const servers = {
    fileferry: { title: "fileferry", median: { figure: plain, peakRss: 80 } },
    "fileferry-digest": { title: "fileferry, with digests", median: { figure: digested, peakRss: 80 } },
  };
  const results = { "put-1g": { id: "put-1g", title: "PUT of 1 GiB", unit: "bytes", servers } };
  return judge(results, "put-1g").filter(({ about }) => about.includes("digests"));
}

describe("the floor of a PUT of 1 GiB with a digest", () => {
  it("is twice the processor time of one without", () => {
    const about = "with digests, to fileferry";
    expect(judgePuts(1000, 501)).toMatchObject([{ about, value: 0.501, verdict: "floor met" }]);
    expect(judgePuts(1000, 499)).toMatchObject([{ about, value: 0.499, verdict: "missed" }]);
  });
});
