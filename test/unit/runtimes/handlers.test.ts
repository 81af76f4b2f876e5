import { describe, expect, it, vi } from "vitest";
import { toBunHandler, toBunServeOptions } from "../../../src/bun.ts";
import type { Connection } from "../../../src/contracts/connection.ts";
import type { FileService } from "../../../src/contracts/file-service.ts";
import { toDenoHandler } from "../../../src/deno.ts";
import { createEventQueue } from "../../../src/events/event-stream.ts";
import { toWorkerHandler } from "../../../src/workers.ts";
import { NO_LINKS } from "../../support/links.ts";
import { basic, createTestService } from "../../support/service.ts";

/** What each runtime hands over, and how its handler is called with it. */
interface Mounted {
  readonly handle: (request: Request) => Promise<Response>;
}

interface Options {
  readonly api?: "rest" | "webdav" | "browser";
  readonly next?: (request: Request) => Response | Promise<Response>;
}

const info = { remoteAddr: { transport: "tcp", hostname: "::ffff:192.0.2.7", port: 4711 } };
const server = { requestIP: () => ({ address: "192.0.2.7", port: 4711, family: "IPv4" }) };
const runtimes: Readonly<Record<string, (service: FileService, options?: Options) => Mounted>> = {
  deno(service, options) {
    const handler = toDenoHandler(service, options);
    return { handle: (request) => handler(request, info) };
  },
  bun(service, options) {
    const handler = toBunHandler(service, options);
    return { handle: (request) => handler(request, server) };
  },
  workers(service, options) {
    const { fetch } = toWorkerHandler(service, options);
    return {
      handle(request) {
        request.headers.set("CF-Connecting-IP", "192.0.2.7");
        return fetch(request, {}, { waitUntil: () => undefined });
      },
    };
  },
};

function requestOf(path: string, init: RequestInit = {}): Request {
  return new Request(`http://files.example${path}`, { headers: { Authorization: basic("alice", "secret") }, ...init });
}

/** A service that is what a test makes of its handler. */
function stub(fetch: FileService["fetch"]): FileService {
  const rest = {
    start: async () => undefined,
    close: async () => undefined,
    endSessions: async () => undefined,
    sweep: async () => 0,
    links: NO_LINKS,
    sessions: { start: async () => ({ id: "", setCookie: "" }), end: async () => undefined },
    events: () => createEventQueue(1, () => undefined).stream,
  };
  return { ...rest, fetch, rest: fetch, webdav: fetch, browser: fetch, handles: () => true };
}

describe.each(Object.entries(runtimes))("the handler for %s", (name, mount) => {
  it("answers with the service", async () => {
    const { service } = await createTestService({ files: { "/alice/a.txt": "hello" } });
    const answer = await mount(service).handle(requestOf("/home/a.txt"));
    expect([answer.status, await answer.text()]).toEqual([200, "hello"]);
  });

  it("answers 404 beside the service's URL space, or passes on untouched", async () => {
    const { service } = await createTestService();
    expect((await mount(service).handle(requestOf("/other"))).status).toBe(404);
    const next = vi.fn(() => new Response("the host's"));
    const request = requestOf("/other");
    const { handle } = mount(service, { next });
    expect(await (await handle(request)).text()).toBe("the host's");
    expect(next.mock.calls[0]).toContain(request);
    expect((await handle(requestOf("/home/"))).status).toBe(200);
    expect(next).toHaveBeenCalledOnce();
  });

  it("answers with one variant alone", async () => {
    const { service } = await createTestService();
    const answer = await mount(service, { api: "rest" }).handle(requestOf("/home/"));
    expect(answer.headers.get("content-type")).toContain("application/json");
  });

  it("tells the service of the peer", async () => {
    const connections: (Connection | undefined)[] = [];
    const service = stub(async (_request, connection) => {
      connections.push(connection);
      return new Response(null);
    });
    await mount(service).handle(requestOf("/home/"));
    const port = name === "workers" ? 0 : 4711;
    expect(connections[0]?.peer).toEqual({ address: "192.0.2.7", port, family: "IPv4", protocol: "TCP" });
  });

  it.each([
    ["a rejection", () => Promise.reject(new Error("secret"))],
    ["a body of another length", async () => new Response("four", { headers: { "Content-Length": "5" } })],
    ["a body that fails at once", async () => new Response(new ReadableStream({ pull: () => Promise.reject("x") }))],
  ])("answers 500, blank, for %s", async (_what, fetch: () => Promise<Response>) => {
    const answer = await mount(stub(fetch)).handle(requestOf("/home/"));
    expect([answer.status, await answer.text()]).toEqual([500, ""]);
  });

  it("answers HEAD without content, and keeps the length", async () => {
    const service = stub(async () => new Response("four", { headers: { "Content-Length": "4" } }));
    const answer = await mount(service).handle(requestOf("/home/", { method: "HEAD" }));
    expect([answer.body, answer.headers.get("content-length")]).toEqual([null, "4"]);
  });

  it("refuses options that are wrong", async () => {
    const { service } = await createTestService();
    expect(() => mount(service, { api: "soap" as "rest" })).toThrow(TypeError);
    expect(() => mount(service, { next: "x" as unknown as () => Response })).toThrow(/next/);
  });
});

/** The context that `createServerAdapter` of @whatwg-node/server gives to the handler that it mounts. */
interface AdapterContext {
  waitUntil(work: Promise<void> | void): void;
}

describe("service.fetch", () => {
  it("is a handler for adapters that keep a runtime alive", async () => {
    const { service } = await createTestService();
    const handler: (request: Request, context: AdapterContext) => Promise<Response> = service.fetch;
    const request = new Request("http://files.test/____svc__/openapi.yaml");
    expect((await handler(request, { waitUntil: () => undefined })).status).toBe(200);
  });
});

describe("toDenoHandler", () => {
  it("gives the request a signal that an answered request does not abort", async () => {
    const platform = new AbortController();
    let own: AbortSignal | undefined;
    const service = stub(async ({ signal }) => {
      own = signal;
      return new Response("x");
    });
    await toDenoHandler(service)(requestOf("/home/", { signal: platform.signal }), info);
    platform.abort();
    expect(own?.aborted).toBe(false);
  });

  it("aborts it when the client has gone before there is an answer, or lets go of one", async () => {
    const platform = new AbortController();
    const seen: boolean[] = [];
    const before = stub(async ({ signal }) => {
      platform.abort("gone");
      seen.push(signal.aborted);
      return new Response(null);
    });
    await toDenoHandler(before)(requestOf("/home/", { signal: platform.signal }), info);
    expect(seen).toEqual([true]);

    let own: AbortSignal | undefined;
    const behind = stub(async ({ signal }) => {
      own = signal;
      return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(9)) }));
    });
    const sent = await toDenoHandler(behind)(requestOf("/home/"), info);
    // The light body of Node rejects with the reason.
    await sent.body?.cancel("gone").catch(() => undefined);
    expect(own?.aborted).toBe(true);
  });
});

describe("toDenoHandler, of a request whose client has gone already", () => {
  it("gives the request a signal that is aborted", async () => {
    const signals: AbortSignal[] = [];
    const service = stub(async ({ signal }) => {
      signals.push(signal);
      return new Response(null);
    });
    const request = Object.defineProperty(requestOf("/home/"), "signal", {
      configurable: true,
      value: AbortSignal.abort("gone"),
    });
    await toDenoHandler(service)(request, info);
    expect(signals.map(({ aborted, reason }) => [aborted, reason])).toEqual([[true, "gone"]]);
  });
});

describe("toBunServeOptions", () => {
  it("has the limits that files need", async () => {
    const { service } = await createTestService();
    const options = toBunServeOptions(service);
    expect(options).toMatchObject({
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      idleTimeout: 120,
      development: false,
    });
    expect((await options.fetch(requestOf("/home/"), server)).status).toBe(200);
    expect(toBunServeOptions(service, { idleSeconds: 0 }).idleTimeout).toBe(0);
  });

  it.each([-1, 1.5, 256, Number.NaN])("refuses %s idle seconds", async (idleSeconds) => {
    const { service } = await createTestService();
    expect(() => toBunServeOptions(service, { idleSeconds })).toThrow(/idleSeconds/);
  });
});

describe("toWorkerHandler", () => {
  it("makes the service once for each environment, and again after a failure", async () => {
    const { service } = await createTestService();
    const make = vi.fn((env: { isBroken?: boolean }) => {
      if (env.isBroken) throw new Error("no binding");
      return service;
    });
    const { fetch } = toWorkerHandler(make);
    const context = { waitUntil: vi.fn() };
    const [one, other] = [{}, {}];
    for (const env of [one, one, other, one]) expect((await fetch(requestOf("/home/"), env, context)).status).toBe(200);
    expect(make.mock.calls.map(([env]) => env)).toEqual([one, other]);
    const broken = { isBroken: true };
    for (let round = 0; round < 2; round++) await expect(fetch(requestOf("/home/"), broken, context)).rejects.toThrow();
    expect(make).toHaveBeenCalledTimes(4);
  });

  it("takes what makes a mere handler of requests, as that of an authentication endpoint", async () => {
    const make = vi.fn(
      () =>
        async (_request: Request, { peer }: Connection) =>
          new Response(peer?.address),
    );
    const { fetch } = toWorkerHandler(make);
    const context = { waitUntil: () => undefined };
    for (let round = 0; round < 2; round++) {
      const request = requestOf("/anywhere", { headers: { "CF-Connecting-IP": "192.0.2.7" } });
      expect(await (await fetch(request, context, context)).text()).toBe("192.0.2.7");
    }
    expect(make).toHaveBeenCalledOnce();
    await expect(toWorkerHandler(make, { api: "rest" }).fetch(requestOf("/"), {}, context)).rejects.toThrow(/api/);
  });

  it("keeps a request and its events running after its client has disconnected", async () => {
    let settle: () => void = () => undefined;
    const told = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const { service } = await createTestService({ onEvent: () => told });
    const kept: Promise<unknown>[] = [];
    const { fetch } = toWorkerHandler(service);
    await fetch(requestOf("/home/missing"), {}, { waitUntil: (work) => void kept.push(work) });
    expect(kept.length).toBeGreaterThan(1);
    let isOver = false;
    const all = Promise.all(kept).then(() => {
      isOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(isOver).toBe(false);
    settle();
    await all;
  });

  it("believes no address that is none", async () => {
    const connections: (Connection | undefined)[] = [];
    const service = stub(async (_request, connection) => {
      connections.push(connection);
      return new Response(null);
    });
    const request = requestOf("/home/", {
      headers: { "CF-Connecting-IP": "localhost", "X-Forwarded-For": "192.0.2.1" },
    });
    await toWorkerHandler(service).fetch(request, {}, { waitUntil: () => undefined });
    expect(connections[0]?.peer).toBeUndefined();
  });

  it("logs in by the certificate that Cloudflare has verified", async () => {
    const { service } = await createTestService({
      authentication: {
        name: "certificates",
        authenticate: async ({ type }) =>
          type === "ssl-certificate" ? { outcome: "accepted", account: {} } : { outcome: "unknown" },
      },
    });
    const tlsClientAuth = {
      certVerified: "SUCCESS",
      certRevoked: "0",
      certSubjectDNRFC2253: "CN=alice",
      certRFC9440: ":AAAA:",
    };
    const request = Object.assign(requestOf("/home/", { headers: { Accept: "application/json" } }), {
      cf: { tlsClientAuth },
    });
    const answer = await toWorkerHandler(service).fetch(request, {}, { waitUntil: () => undefined });
    expect(answer.status).toBe(200);
  });
});
