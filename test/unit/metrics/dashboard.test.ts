import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { renderProcesses } from "../../../src/cli/process-metrics.ts";
import { watchProcess } from "../../../src/cli/process-usage.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const file = new URL("../../../examples/grafana/dashboard.json", import.meta.url);
const { panels } = JSON.parse(readFileSync(file, "utf8")) as Dashboard;

/** Every metric with a value, and its labels. */
async function renderAll(): Promise<string> {
  const metrics = createMetrics();
  const event = (id: FileEvent["id"], data: object) =>
    metrics.onEvent({ id, data, timestamp: { timestamp: 0 } } as unknown as FileEvent);
  event(40021, {});
  event(40017, { total_write: 1, duration: 1 });
  event(49103, { reason: "used-up" });
  metrics.onRequest({ method: "GET", status: 200, seconds: 1 });
  const watch = watchProcess();
  const usage = await watch.look();
  watch.stop();
  return metrics.render() + renderProcesses(new Map([["primary", usage]]));
}

describe("the dashboard of Grafana", () => {
  it("asks for metrics and labels that are there, and shows each metric", async () => {
    const text = await renderAll();
    const labelsOf = new Map<string, Set<string>>();
    for (const [, name = "", labels = ""] of text.matchAll(/^([a-z_\d]+)(?:\{(.*)\})? /gm)) {
      labelsOf.set(name, new Set([...labels.matchAll(/(\w+)="/g)].map(([, label = ""]) => label)));
    }
    const asked = new Set<string>();
    for (const { title, targets } of panels) {
      for (const { expr, legendFormat } of targets) {
        const names = expr.match(/\b(?:fileferry|process|nodejs)_\w+/g) ?? [];
        expect(names, title).toHaveLength(1);
        const [name = ""] = names;
        asked.add(name);
        // Prometheus adds the last two to each metric.
        const known = new Set([...(labelsOf.get(name) ?? []), "job", "instance"]);
        const used = [
          ...[...expr.matchAll(/(\w+)=~?"/g), ...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(
            ([, label = ""]) => label,
          ),
          ...[...expr.matchAll(/by \(([^)]+)\)/g)].flatMap(([, list = ""]) => list.split(", ")),
        ];
        expect(labelsOf.has(name), name).toBe(true);
        expect(
          used.filter((label) => !known.has(label)),
          title,
        ).toEqual([]);
      }
    }
    const shown = [...labelsOf.keys()].filter((name) => !/_(?:sum|count)$/.test(name));
    expect(shown.filter((name) => !asked.has(name))).toEqual([]);
  });

  it("has panels that do not overlap", () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});
