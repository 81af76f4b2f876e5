import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { renderFamilies } from "../../../src/metrics/prometheus-text.ts";

function event(id: FileEvent["id"], data: object = {}, timestamp = 0): FileEvent {
  return { id, data, timestamp: { timestamp } } as unknown as FileEvent;
}

/** The value of a line. */
function sampleOf(text: string, line: string): number | undefined {
  const found = text.split("\n").find((each) => each.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}

describe("createMetrics", () => {
  it("counts events, operations, bytes, durations and transfers in progress", () => {
    const { onEvent, render } = createMetrics();
    const written = { total_write: 1000, duration: 0.3, write_speed: 1 };
    onEvent(event(40021));
    onEvent(event(40021));
    onEvent(event(40017, written));
    onEvent(event(40004));
    onEvent(event(40018, { total_read: 7, duration: 100_000, read_speed: 1 }));
    onEvent(event(40000));
    onEvent(event(40043, { details: null }));
    onEvent(event(40043, { details: "No." }));
    onEvent(event(49103, { reason: "used-up" }));
    onEvent(event(49103, { reason: "used-up" }));
    onEvent(event(49103, { reason: "password" }));
    const text = render();
    const values = {
      'fileferry_events_total{id="40021"}': 2,
      'fileferry_operations_total{operation="upload",outcome="done"}': 1,
      'fileferry_operations_total{operation="download",outcome="cut"}': 1,
      'fileferry_operations_total{operation="login",outcome="failed"}': 1,
      'fileferry_operations_total{operation="trigger",outcome="done"}': 1,
      'fileferry_operations_total{operation="trigger",outcome="failed"}': 1,
      'fileferry_links_refused_total{reason="used-up"}': 2,
      'fileferry_links_refused_total{reason="password"}': 1,
      'fileferry_transferred_bytes_total{direction="in"}': 1000,
      'fileferry_transferred_bytes_total{direction="out"}': 7,
      'fileferry_transfers_active{kind="upload"}': 1,
      'fileferry_transfers_active{kind="download"}': 0,
      'fileferry_transfer_seconds_bucket{kind="upload",le="0.1"}': 0,
      'fileferry_transfer_seconds_bucket{kind="upload",le="0.5"}': 1,
      'fileferry_transfer_seconds_bucket{kind="upload",le="+Inf"}': 1,
      'fileferry_transfer_seconds_sum{kind="upload"}': 0.3,
      'fileferry_transfer_seconds_count{kind="upload"}': 1,
      'fileferry_transfer_seconds_bucket{kind="download",le="7200"}': 0,
      'fileferry_transfer_seconds_bucket{kind="download",le="+Inf"}': 1,
    };
    for (const [line, value] of Object.entries(values)) expect([line, sampleOf(text, line)]).toEqual([line, value]);
  });

  it("counts sessions without an end event until they are too old", () => {
    let now = 0;
    const { onEvent, render } = createMetrics({ sessionSeconds: 3600, clock: () => now });
    const count = () => sampleOf(render(), "fileferry_sessions_active");
    expect(count()).toBe(0);
    const goTo = (minutes: number): void => {
      now = minutes * 60_000;
    };
    const login = (session = true) => onEvent(event(40007, { session }, now / 1000));
    const end = (id: 40015 | 40037, duration: number) => onEvent(event(id, { duration }, now / 1000));
    for (let session = 0; session < 3; session += 1) login();
    login(false);
    expect(count()).toBe(3);
    goTo(1);
    end(40037, 60);
    expect(count()).toBe(2);
    goTo(30);
    login();
    login();
    // Ended sessions are dropped together with the hour in which they started; other hours stay.
    end(40015, 0);
    expect(count()).toBe(3);
    goTo(65);
    expect(count()).toBe(1);
    goTo(200);
    expect(count()).toBe(0);
    // This session started before the metrics existed.
    end(40037, 3000);
    expect(count()).toBe(0);
  });

  it("counts the requests of a service; unknown methods count together", async () => {
    const { measure, render } = createMetrics();
    const service = measure({
      fetch: async (_request: Request) => new Response(null, { status: 204 }),
      handles: () => true,
    });
    for (const method of ["GET", "GET", "PATCH", "PROPFIND", "BREW", "STEEP"])
      await service.fetch(new Request("http://x/", { method }));
    expect(service.handles()).toBe(true);
    const text = render();
    expect(sampleOf(text, 'fileferry_requests_total{method="GET",status="204"}')).toBe(2);
    expect(sampleOf(text, 'fileferry_requests_total{method="PATCH",status="204"}')).toBe(1);
    expect(sampleOf(text, 'fileferry_requests_total{method="PROPFIND",status="204"}')).toBe(1);
    expect(sampleOf(text, 'fileferry_requests_total{method="other",status="204"}')).toBe(2);
    expect(sampleOf(text, 'fileferry_request_seconds_count{method="GET"}')).toBe(2);
  });

  it("renders text that Prometheus reads: HELP and TYPE before each metric, and one value per line", () => {
    const { onEvent, render, contentType } = createMetrics({ prefix: "files" });
    onEvent(event(40021));
    expect(contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
    for (const line of render().trimEnd().split("\n")) {
      expect(line).toMatch(
        /^(?:# (?:HELP|TYPE) files_[a-z_]+ .+|files_[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? [\d.e+-]+)$/,
      );
    }
  });

  it("rejects a prefix that cannot begin a metric's name", () => {
    expect(() => createMetrics({ prefix: "1-" })).toThrow("The option prefix");
  });
});

describe("the text format", () => {
  it("escapes labels", () => {
    const samples = [{ labels: { a: 'x"\\\n' }, value: 1 }];
    expect(renderFamilies([{ name: "m", help: "H", type: "gauge", samples }])).toBe(
      '# HELP m H\n# TYPE m gauge\nm{a="x\\"\\\\\\n"} 1\n',
    );
  });
});
