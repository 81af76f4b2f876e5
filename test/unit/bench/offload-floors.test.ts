import { describe, expect, it } from "vitest";

interface Judged {
  readonly about: string;
  readonly value: number;
  readonly floor?: number;
  readonly verdict: string;
}

// The benchmark is JavaScript without types.
const targets = new URL("../../../bench/targets.mjs", import.meta.url).href;
const { judge } = (await import(targets)) as { judge(results: unknown, id: string): readonly Judged[] };

/** The verdicts of a run in which nginx has sent 1 GiB. */
function judgeLarge(figures: Readonly<Record<string, number>>): readonly Judged[] {
  const offloaded = { title: "fileferry behind nginx, offload", median: { figure: 9000, peakRss: 90, ...figures } };
  const own = { title: "fileferry", median: { figure: 3000, peakRss: 80 } };
  const results = {
    "get-1g": {
      id: "get-1g",
      title: "GET of 1 GiB",
      unit: "bytes",
      servers: { fileferry: own, "fileferry-offload": offloaded },
    },
  };
  return judge(results, "get-1g").filter(({ about }) => about.includes("offload"));
}

describe("the floor of a download of 1 GiB that nginx sends", () => {
  it("is less than 0.02 s of processor time for the service alone", () => {
    const about = "CPU ms of the service, offload";
    expect(judgeLarge({ ownCpuMs: 5, cpuMs: 300 })).toMatchObject([{ about, value: 5, verdict: "floor met" }]);
    expect(judgeLarge({ ownCpuMs: 20, cpuMs: 20 })).toMatchObject([{ about, value: 20, verdict: "missed" }]);
  });

  it("is left out of a run that has not measured it", () => {
    expect(judgeLarge({ cpuMs: 300 })).toEqual([]);
  });
});
