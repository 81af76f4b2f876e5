import { describe, expect, it } from "vitest";

type Figures = Readonly<Record<string, number>>;
interface Row {
  readonly id: string;
  readonly title: string;
  readonly servers: Readonly<Record<string, Figures>>;
}

// The benchmark is JavaScript without types.
const report = new URL("../../../bench/lib/report.mjs", import.meta.url).href;
const targets = new URL("../../../bench/targets.mjs", import.meta.url).href;
type JudgeRow = (rows: readonly Row[], row: Row) => unknown;
const { toFloorTable } = (await import(report)) as {
  toFloorTable(rows: readonly Row[], judgeRow: JudgeRow): readonly (readonly string[])[];
};
const { judgeWebdav } = (await import(targets)) as { judgeWebdav: JudgeRow };

function judge(...rows: readonly (readonly [id: string, own: Figures, judged?: Figures])[]) {
  const judged = rows.map(([id, own, byPath]) => ({
    id,
    title: `row ${id}`,
    servers: { fileferry: own, apache: { ms: 1 }, ...(byPath && { "fileferry-judged": byPath }) },
  }));
  return toFloorTable(judged, judgeWebdav);
}

const JSON_LISTING = { ms: 100, cpuMs: 100, firstMs: 5, peakRss: 90 };
const HEAD = ["request", "fileferry", "value", "floor", "verdict"];

describe("the floors of WebDAV in a run of the benchmark", () => {
  it("compare a PROPFIND with the JSON listing of as many members", () => {
    const other = { ms: 1, cpuMs: 1, firstMs: 1, peakRss: 1 };
    const own = { ms: 161, cpuMs: 160, firstMs: 101, peakRss: 115.3 };
    expect(judge(["json-10", other], ["json-100", JSON_LISTING], ["propfind-100", own])).toEqual([
      HEAD,
      ["row propfind-100", "ms, to the JSON listing", "1.61", "≤ 1.6", "missed"],
      ["", "CPU ms, to the JSON listing", "1.60", "≤ 1.6", "floor met"],
      ["", "first byte, ms", "101", "≤ 100", "missed"],
      ["", "peak RSS, MB above that of the JSON listing", "25.3", "≤ 25.2", "missed"],
    ]);
  });

  it("allow more time for all properties, but only so many bytes", () => {
    const own = { ms: 180, cpuMs: 181, firstMs: 100, peakRss: 80, bytesPerMember: 431 };
    expect(judge(["json-100", JSON_LISTING], ["allprop-100", own]).map((cells) => cells.at(-1))).toEqual([
      "verdict",
      "floor met",
      "missed",
      "floor met",
      "floor met",
      "missed",
    ]);
  });

  it("judge moves, copies and races by their own figures", () => {
    const rows = judge(
      ["move", { ms: 50 }, { ms: 1501 }],
      ["copy", { ms: 10_001, listingP99: 99 }],
      ["lock-race", { severalWinners: 1, ms: 9 }],
      ["proppatch-race", { lost: 0, failed: 2, ms: 9 }],
      ["move-race", { bothMoved: 0, failed: 0 }],
      ["put-locks", { withoutMs: 10, withMs: 11.2 }],
    );
    expect(rows.slice(1).map(([title, about, , , verdict]) => [title, about, verdict])).toEqual([
      ["row move", "ms", "floor met"],
      ["", "permissions by path, ms", "missed"],
      ["row copy", "ms", "missed"],
      ["", "99th percentile of the listing, ms", "floor met"],
      ["row lock-race", "rounds with several winners", "missed"],
      ["row proppatch-race", "changes lost", "floor met"],
      ["", "responses 5xx", "missed"],
      ["row move-race", "rounds in which both moved", "floor met"],
      ["", "responses 5xx", "floor met"],
      ["row put-locks", "to PUT without locks, ms", "missed"],
    ]);
  });

  it("leave out what the run has not measured", () => {
    expect(judge(["propfind-100", { firstMs: 5 }], ["move", {}], ["unknown", { ms: 1 }])).toEqual([
      HEAD,
      ["row propfind-100", "first byte, ms", "5.00", "≤ 100", "floor met"],
    ]);
  });
});
