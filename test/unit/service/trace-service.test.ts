import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { traceService } from "../../../src/service/trace-service.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { createTestService } from "../../support/service.ts";

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const BASIC = `Basic ${btoa("alice:secret")}`;
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

async function openTraced() {
  const events: FileEvent[] = [];
  const { service } = await createTestService({
    files: { "/alice/a.txt": "x".repeat(200_000) },
    links: { secret: "x".repeat(32), store: createMemoryKeyValueStore() },
    onEvent: (event) => void events.push(event),
    isDescribed: false,
  });
  const traced = traceService(service);
  const call = (path: string, init: RequestInit = {}) =>
    traced.fetch(new Request(`http://files.example${path}`, { headers: { authorization: BASIC }, ...init }), {
      peer: { address: "192.0.2.1", port: 1234, family: "IPv4", protocol: "TCP" },
    });
  return { service, call, events };
}

describe("traceService", () => {
  beforeAll(() => provider.register());
  beforeEach(() => exporter.reset());
  afterAll(async () => {
    await provider.shutdown();
    trace.disable();
    context.disable();
    propagation.disable();
  });

  it("has a span for a request, which lasts until the content has been read", async () => {
    const { call } = await openTraced();
    const response = await call("/home/a.txt");
    expect(response.status).toBe(200);
    expect(exporter.getFinishedSpans()).toEqual([]);
    await response.text();
    const [span] = exporter.getFinishedSpans();
    expect(span?.name).toBe("GET");
    expect(span?.kind).toBe(SpanKind.SERVER);
    expect(span?.parentSpanContext).toBeUndefined();
    expect(span?.attributes).toMatchObject({
      "http.request.method": "GET",
      "http.response.status_code": 200,
      "url.scheme": "http",
      "url.path": "/home/a.txt",
      "server.address": "files.example",
      "network.peer.address": "192.0.2.1",
      "user.name": "alice",
    });
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it("ends it when the client leaves in the middle of the content", async () => {
    const { call } = await openTraced();
    const response = await call("/home/a.txt");
    await response.body?.cancel();
    await expect.poll(() => exporter.getFinishedSpans().length).toBe(1);
  });

  it("is a child of the active span, else of the one in the header", async () => {
    const { call } = await openTraced();
    const headers = { authorization: BASIC, traceparent: `00-${TRACE}-${PARENT}-01` };
    await (await call("/home/", { headers })).text();
    const active = trace.getTracer("host").startSpan("host");
    await context.with(trace.setSpan(context.active(), active), async () => (await call("/home/", { headers })).text());
    const [byHeader, byHost] = exporter.getFinishedSpans();
    expect(byHeader?.spanContext().traceId).toBe(TRACE);
    expect(byHeader?.parentSpanContext?.spanId).toBe(PARENT);
    expect(byHost?.parentSpanContext?.spanId).toBe(active.spanContext().spanId);
  });

  it("lets events belong to the span", async () => {
    const { call, events } = await openTraced();
    await (await call("/home/b.txt", { method: "PUT", body: "x" })).text();
    const [span] = exporter.getFinishedSpans();
    const { traceId = "", spanId = "" } = span?.spanContext() ?? {};
    expect(events.length).toBeGreaterThan(2);
    for (const { trace: own } of events) expect(own?.traceparent).toBe(`00-${traceId}-${spanId}-01`);
  });

  it("has neither tokens of links nor invented methods, and knows failures", async () => {
    const { service, call } = await openTraced();
    const { urlPath } = await service.links.create({ username: "alice", path: "/" });
    await (await call(`${urlPath}a.txt`, { headers: {} })).text();
    await (await call("/home/a.txt", { method: "BREW" })).text();
    const failing = traceService({ fetch: async (_request: Request) => new Response(null, { status: 503 }) });
    await failing.fetch(new Request("http://files.example/"));
    const thrown = traceService({
      fetch: (_request: Request): Promise<Response> => Promise.reject(new Error("secret")),
    });
    await expect(thrown.fetch(new Request("http://files.example/"))).rejects.toThrow("secret");
    const [byLink, invented, failed, broken] = exporter.getFinishedSpans();
    expect(byLink?.attributes["url.path"]).toBe("/__svc__/share/*/a.txt");
    expect(invented?.name).toBe("HTTP");
    expect(invented?.attributes["http.request.method"]).toBe("_OTHER");
    expect(failed?.attributes["error.type"]).toBe("503");
    expect([failed, broken].map((span) => span?.status)).toEqual([
      { code: SpanStatusCode.ERROR },
      { code: SpanStatusCode.ERROR },
    ]);
  });
});
