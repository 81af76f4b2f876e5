import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { webhookBodySchema } from "../../../src/schemas/events.ts";
import { createWebhookSink, type WebhookSinkOptions } from "../../../src/sinks/webhook.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { startProcessorTime } from "../../support/processor-time.ts";

const SECRET = `whsec_${btoa("0123456789abcdef0123456789abcdef")}`;

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Reply = readonly [status: number, headers?: Record<string, string>];

/** A receiver that sends these responses in order, and then repeats the last one. */
async function receive(replies: readonly Reply[] = [[204]]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    received.push({ headers: request.headers, body });
    const [status, headers = {}] = replies[Math.min(received.length, replies.length) - 1] as Reply;
    response.writeHead(status, headers).end();
  });
  return { received, url: await listen(server) };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

let counter = 0;
function event(own: Partial<FileEvent> = {}): FileEvent {
  counter += 1;
  return {
    id: 40010,
    message: "A folder was created.",
    timestamp: { timestamp: 1_700_000_000, iso_8601: "2023-11-14T22:13:20.000Z" },
    component: { uuid: "00000000-0000-0000-0000-000000000000", type: "http" },
    server: { uuid: "00000000-0000-0000-0000-000000000000" },
    data: { path: `/${counter}`, real_path: `/${counter}` },
    ...own,
  } as FileEvent;
}

/** Makes the delays of sinks a thousand times shorter; everything else takes its usual time. */
function hurry(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const ticking = setInterval(() => vi.advanceTimersByTime(1000), 2);
  onTestFinished(() => {
    clearInterval(ticking);
    vi.useRealTimers();
  });
}

function createSink(options: WebhookSinkOptions) {
  const log = createRecordingLogger();
  return { sink: createWebhookSink({ logger: log, ...options }), log };
}

const paths = ({ body }: Received): string[] =>
  webhookBodySchema.parse(JSON.parse(body)).events.map(({ data }) => (data as { path: string }).path);

describe("createWebhookSink", () => {
  it("posts events as JSON, in order, many in one request", async () => {
    const { received, url } = await receive();
    const { sink } = createSink({ url });
    const events = Array.from({ length: 250 }, () => event());
    for (const each of events) sink(each);
    await sink.close();
    expect(received.flatMap(paths)).toEqual(events.map(({ data }) => (data as { path: string }).path));
    expect(received.length).toBe(3);
    expect(received[0]?.headers).toMatchObject({ "content-type": "application/json; charset=utf-8" });
    expect(sink.dropped()).toBe(0);
  });

  it.each([24, 25, 26, 64, 100])("signs as Standard Webhooks does, with a key of %i bytes", async (length) => {
    const { received, url } = await receive();
    const secret = `whsec_${Buffer.alloc(length, "key/\xff").toString("base64")}`;
    const { sink } = createSink({ url, secret });
    sink(event({ data: { path: "/Käse €.txt" } } as Partial<FileEvent>));
    await sink.close();
    const [{ headers, body }] = received as [Received];
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      events: [{ id: 40010, data: { path: "/Käse €.txt" } }],
    });
    expect(() => new Webhook(secret).verify(`${body} `, headers as Record<string, string>)).toThrow();
  });

  it.each([
    ["another prefix", `WHSEC_${btoa("0".repeat(32))}`],
    ["no prefix", btoa("0".repeat(32))],
    ["fewer than 24 bytes", `whsec_${btoa("0".repeat(23))}`],
    ["no padding", `whsec_${btoa("0".repeat(25)).replaceAll("=", "")}`],
    ["another alphabet", `whsec_${"_".repeat(32)}`],
    ["a line", `whsec_${btoa("0".repeat(24))}\n`],
  ])("takes no secret with %s", (_name, secret) => {
    const url = "http://127.0.0.1:1/";
    expect(() => createWebhookSink({ url, secret })).toThrow("secret must be whsec_ and 24 bytes or more in Base64");
  });

  it("authenticates itself as the authenticator does", async () => {
    const { received, url } = await receive();
    const { sink } = createSink({ url, username: "hook", password: "pass", headers: "X-Key: 1" });
    sink(event());
    await sink.close();
    expect(received[0]?.headers).toMatchObject({ authorization: `Basic ${btoa("hook:pass")}`, "x-key": "1" });
  });

  it.each<[string, WebhookSinkOptions["filter"], number[]]>([
    ["by identifiers", [40012], [40012]],
    ["by a function", ({ id }) => id > 40010, [40012, 40026]],
    ["none", [], []],
  ])("posts the events that the filter selects: %s", async (_name, filter, expected) => {
    const { received, url } = await receive();
    const { sink } = createSink({ url, ...(filter && { filter }) });
    for (const id of [40010, 40012, 40026] as const) sink(event({ id } as Partial<FileEvent>));
    await sink.close();
    const ids = received.flatMap(({ body }) => JSON.parse(body).events.map(({ id }: FileEvent) => id));
    expect(ids).toEqual(expected);
  });

  it("repeats a request that was not accepted, after Retry-After", async () => {
    hurry();
    const { received, url } = await receive([[503, { "Retry-After": "1" }], [500, { "Retry-After": "1" }], [202]]);
    const { sink, log } = createSink({ url });
    sink(event());
    sink(event());
    await expect.poll(() => received.length).toBe(3);
    await sink.close();
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(sink.dropped()).toBe(0);
    expect(log.entries.length).toBe(2);
  });

  it("has one identifier for all attempts of a request, and another for each request", async () => {
    hurry();
    const { received, url } = await receive([[503, { "Retry-After": "1" }], [204]]);
    const { sink } = createSink({ url, secret: SECRET });
    sink(event());
    await expect.poll(() => received.length).toBe(2);
    sink(event());
    await sink.close();
    const ids = received.map(({ headers }) => headers["webhook-id"]);
    expect(ids[0]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(2);
  });

  it("gives up and logs events after the configured retries", async () => {
    hurry();
    const { received, url } = await receive([[400, { "Retry-After": "1" }]]);
    const { sink, log } = createSink({ url, retries: 2, timeoutSeconds: 300 });
    sink(event());
    await expect.poll(() => sink.dropped()).toBe(1);
    expect(received.length).toBe(3);
    expect(log.text()).toContain("Events could not be sent to the webhook.");
    await sink.close();
  });

  it("switches to the next URL if one does not respond, and stays with it", async () => {
    const { received, url } = await receive();
    const { sink } = createSink({ url: ["http://127.0.0.1:1/", url] });
    sink(event());
    await expect.poll(() => received.length).toBe(1);
    sink(event());
    await sink.close();
    expect(received.length).toBe(2);
  });

  it("posts long events in separate requests, because receivers limit the size", async () => {
    const { received, url } = await receive();
    const { sink } = createSink({ url });
    const long = { path: `/${"x".repeat(100_000)}`, real_path: "/" };
    for (let count = 0; count < 5; count += 1) sink(event({ data: long } as Partial<FileEvent>));
    await sink.close();
    expect(received.map(({ body }) => JSON.parse(body).events.length)).toEqual([2, 2, 1]);
  });

  it("bounds the number of waiting events, and never delays the caller", async () => {
    const { sink, log } = createSink({
      url: "http://a.example/",
      capacity: 10,
      fetch: () => new Promise(() => undefined),
    });
    const elapsed = startProcessorTime();
    for (let count = 0; count < 5000; count += 1) sink(event());
    expect(elapsed()).toBeLessThan(1000);
    expect(sink.dropped()).toBeGreaterThanOrEqual(4880);
    expect(log.entries.length).toBe(1);
  });

  it("sends the remaining events once when it is closed, and accepts no more", async () => {
    const { received, url } = await receive([[500]]);
    const { sink } = createSink({ url });
    sink(event());
    await expect.poll(() => received.length).toBe(1);
    await sink.close();
    expect(received.length).toBe(2);
    sink(event());
    expect(sink.dropped()).toBe(1);
  });

  it("closes within the time of one request, however many events remain and however slow the receiver is", async () => {
    const { sink, log } = createSink({
      url: ["http://a.example/", "http://b.example/"],
      timeoutSeconds: 0.2,
      fetch: () => new Promise(() => undefined),
    });
    for (let count = 0; count < 1000; count += 1) sink(event());
    const startedAt = performance.now();
    await sink.close();
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(sink.dropped()).toBe(1000);
    expect(log.entries.filter(({ level }) => level === "error").map(({ details }) => details)).toEqual([
      { events: 1000 },
    ]);
  });

  it("drops and logs events that JSON cannot hold or for which the filter throws", async () => {
    const { received, url } = await receive();
    const filter = ({ id }: FileEvent): boolean => {
      if (id === 40012) throw new Error("a defect");
      return true;
    };
    const { sink, log } = createSink({ url, filter });
    sink({ ...event(), data: { audit: 1n } } as unknown as FileEvent);
    sink(event({ id: 40012 } as Partial<FileEvent>));
    sink(event());
    await sink.close();
    expect(received.flatMap(paths).length).toBe(1);
    expect(sink.dropped()).toBe(2);
    expect(log.entries.length).toBe(2);
  });

  it("does not replace a configured traceparent", async () => {
    const { received, url } = await receive();
    const { sink } = createSink({ url, headers: { traceparent: "own" } });
    sink(event({ trace: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" } }));
    await sink.close();
    expect(received[0]?.headers.traceparent).toBe("own");
  });

  it("sends the trace that all events of a request have", async () => {
    const { received, url } = await receive();
    const trace = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };
    const { sink } = createSink({ url });
    sink(event({ trace }));
    sink(event({ trace }));
    await expect.poll(() => received.length).toBe(1);
    sink(event({ trace }));
    sink(event());
    await sink.close();
    expect(received.map(({ headers }) => headers.traceparent)).toEqual([trace.traceparent, undefined]);
  });

  it.each<[string, object]>([
    ["url", { url: "ftp://a.example/" }],
    ["url", {}],
    ["headers", { url: "https://a.example/", headers: "nonsense" }],
    ["secret", { url: "https://a.example/", secret: "short" }],
    ["headers", { url: "https://a.example/", secret: SECRET, headers: "Webhook-Id: 1" }],
    ["retries", { url: "https://a.example/", retries: -1 }],
    ["capacity", { url: "https://a.example/", capacity: 0 }],
    ["filter", { url: "https://a.example/", filter: "40010" }],
    ["filter", { url: "https://a.example/", filter: [4010] }],
    ["timeoutSeconds", { url: "https://a.example/", timeoutSeconds: 0 }],
    ["events", { url: "https://a.example/", events: [] }],
  ])("rejects a wrong %s without quoting it", (option, options) => {
    expect(() => createWebhookSink(options as WebhookSinkOptions)).toThrow(new RegExp(`^The option ${option} `));
  });
});

describe("a delivery whose runtime has ended", () => {
  it("is given up after its time, and the next one starts", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const bodies: unknown[] = [];
    let isDead = true;
    const request = async (_url: unknown, init?: RequestInit): Promise<Response> => {
      bodies.push(init?.body);
      return isDead ? new Promise(() => undefined) : new Response(null, { status: 204 });
    };
    const { sink, log } = createSink({ url: "https://a.example/", timeoutSeconds: 10, fetch: request as typeof fetch });
    sink(event());
    await new Promise((resolve) => setImmediate(resolve));
    expect(bodies.length).toBe(1);
    // The timers of the delivery never run.
    vi.clearAllTimers();
    isDead = false;
    vi.setSystemTime(Date.now() + 14_000);
    sink(event());
    await new Promise((resolve) => setImmediate(resolve));
    expect([bodies.length, sink.dropped()]).toEqual([1, 0]);
    vi.setSystemTime(Date.now() + 2000);
    sink(event());
    await expect.poll(() => bodies.length, { interval: 1 }).toBe(2);
    expect(sink.dropped()).toBe(1);
    expect(log.text()).toContain("the runtime ended the delivery");
  });
});
