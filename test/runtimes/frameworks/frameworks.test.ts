import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type FrameworkHost,
  findMissing,
  prepareFrameworks,
  startFramework,
  startScript,
} from "../../support/frameworks.ts";
import { type FrameworkCase, frameworkCases } from "./cases.ts";
import { BASIC, createClient, type FrameworkClient } from "./client.ts";
import { EXCEPTIONS } from "./exceptions.ts";

const missing = findMissing();
if (missing !== undefined) process.stderr.write(`The frameworks are not tested: ${missing}\n`);

/** Examples of examples/frameworks, and other ways to mount the service; see test/support/frameworks/host.mjs. */
const HOSTS = [
  "express",
  "nest",
  "fastify",
  "koa",
  "hono",
  "hono-fetch",
  "elysia",
  "h3",
  "node-server",
  "next",
  "react-router",
  "sveltekit",
  "astro",
  "whatwg-server",
  "whatwg-server-bare",
];

describe.skipIf(missing !== undefined)("a service mounted", () => {
  beforeAll(prepareFrameworks, 300_000);

  describe.each(HOSTS)("in %s", (name) => {
    let host: FrameworkHost;
    let client: FrameworkClient;

    beforeAll(async () => {
      host = await startFramework(name);
      client = await createClient(host);
    });

    afterAll(() => host?.stop());

    const isExcepted = ({ title }: FrameworkCase): boolean => EXCEPTIONS[name]?.[title] !== undefined;

    it.for(frameworkCases.filter((one) => !isExcepted(one)))("$title", ({ platform, run }, { skip }) => {
      skip(platform !== undefined && platform !== process.platform, `only on ${platform}`);
      return run(client);
    });

    // Last: the host may not outlive it.
    it.for(frameworkCases.filter(isExcepted))("has its exception for a reason: $title", ({ run }) =>
      expect(run(client)).rejects.toThrow(),
    );
  });

  it("has no exception that does not exist", () => {
    const titles = frameworkCases.map(({ title }) => title);
    for (const exceptions of Object.values(EXCEPTIONS))
      expect(titles).toEqual(expect.arrayContaining(Object.keys(exceptions)));
  });
});

/** Applications that do it wrong: whatever reads bodies stands before the service. */
const MISUSES: Readonly<Record<string, string>> = {
  Express: `
    import express from "express";
    import { toNodeMiddleware } from "fileferry/node";
    const app = express();
    app.use(express.json());
    app.use(toNodeMiddleware(toFiles()));
    listening(app.listen(0));`,
  Fastify: `
    import createFastify from "fastify";
    import { toNodeListener } from "fileferry/node";
    const app = createFastify();
    const listener = toNodeListener(toFiles());
    app.all("/files/*", (request, reply) => {
      reply.hijack();
      listener(request.raw, reply.raw);
    });
    await app.listen({ port: 0 });
    listening(app.server);`,
  Hono: `
    import { serve } from "@hono/node-server";
    import { Hono } from "hono";
    import { toFetchHandler } from "fileferry/node";
    const app = new Hono();
    const handle = toFetchHandler(toFiles());
    app.use(async (c, next) => { await c.req.text(); return next(); });
    app.all("/files/*", (c) => handle(c.req.raw));
    listening(serve({ fetch: app.fetch, port: 0 }));`,
};

describe.skipIf(missing !== undefined)("a service behind a body parser", () => {
  beforeAll(prepareFrameworks, 300_000);

  it.each(Object.entries(MISUSES))("of %s says so, and stores nothing", async (name, text) => {
    const host = await startScript(name, `${text}\n${MISUSED}`);
    try {
      // What it answers later is compared with this, and it is gone soon.
      await (await fetch(`${host.origin}/files/__svc__/openapi.json`)).text();
      for (const [method, path] of [
        ["PUT", "/files/home/a.json"],
        ["POST", "/files/home/"],
      ] as const) {
        for (const body of ['{"a":1}', new Blob(['{"a":1}']).stream()]) {
          const response = await fetch(`${host.origin}${path}`, {
            method,
            headers: { authorization: BASIC, "content-type": "application/json" },
            body,
            ...{ duplex: "half" },
          });
          expect([response.status, await response.text()]).toEqual([
            500,
            expect.stringContaining("The request's body was read before it reached the service."),
          ]);
        }
      }
      expect(host.log()).toContain("mount the service before body parsers");
      expect(await readdir(host.root)).toEqual([]);
    } finally {
      await host.stop();
    }
  });
});

/** A handler whose bodies end, or fail, before what they promise. */
const BROKEN = `
  import { once } from "node:events";
  import { serve } from "@hono/node-server";
  import { Hono } from "hono";
  import { toFetchHandler } from "fileferry/node";
  const failures = {
    "/ends": (controller) => controller.close(),
    "/fails": (controller) => controller.error(new Error("The disk is gone.")),
  };
  const handle = toFetchHandler(async ({ url }) => {
    const { pathname, searchParams } = new URL(url);
    let left = Number(searchParams.get("chunks"));
    const body = new ReadableStream({
      pull(controller) {
        if (left-- > 0) controller.enqueue(new Uint8Array(65536));
        else failures[pathname](controller);
      },
    });
    return new Response(body, { headers: { "Content-Length": "1000000" } });
  });
  const app = new Hono();
  app.all("*", (c) => handle(c.req.raw));
  const server = serve({ fetch: app.fetch, port: 0 });
  if (!server.listening) await once(server, "listening");
  console.log("Listening on " + server.address().port);`;

describe.skipIf(missing !== undefined)("toFetchHandler in Hono on Node's server", () => {
  let host: FrameworkHost;

  beforeAll(async () => {
    await prepareFrameworks();
    host = await startScript("Hono", BROKEN);
  }, 300_000);

  afterAll(() => host?.stop());

  it.each(["/ends", "/fails"])("answers 500 for a body that %s at once", async (path) => {
    const response = await fetch(`${host.origin}${path}?chunks=0`);
    expect([response.status, await response.text()]).toEqual([500, ""]);
  });

  it.each(["/ends", "/fails"])("breaks the connection under a body that %s midway", async (path) => {
    const signal = AbortSignal.timeout(5000);
    const response = await fetch(`${host.origin}${path}?chunks=3`, { signal });
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
    // It was the server that broke it off, not a client that waited in vain.
    expect(signal.aborted).toBe(false);
  });
});

const MISUSED = `
  import { once } from "node:events";
  import { createFiles } from ${JSON.stringify(new URL("../../../examples/frameworks/files.mjs", import.meta.url).href)};
  function toFiles() { return createFiles(process.argv[1]); }
  async function listening(server) {
    if (!server.listening) await once(server, "listening");
    console.log("Listening on " + server.address().port);
  }`;
