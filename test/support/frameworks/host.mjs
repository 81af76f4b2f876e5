// Runs one example of examples/frameworks on a free port: `node host.mjs <name> <folder>`. Prints `Listening
// on <port>`.

import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { answerOthers, toAstro, toNext, toReactRouter, toSvelteKit } from "./answers.mjs";

const [, , name = "", root = ""] = process.argv;
const examples = new URL("../../../examples/frameworks/", import.meta.url);

const starts = {
  express: startExample,
  nest: startExample,
  fastify: startExample,
  koa: startExample,
  h3: startExample,
  hono: startExample,
  "hono-fetch": async () => {
    const { createApp } = await import(new URL("hono.mjs", examples).href);
    const app = createApp(root);
    return serveFetch((request) => app.fetch(request));
  },
  elysia: startExample,
  next: () => serveModule(toNext),
  "react-router": async () => {
    const library = await import(new URL("node_modules/react-router/dist/production/index.js", examples).href);
    return serveModule((route) => toReactRouter(route, library));
  },
  sveltekit: () => serveModule(toSvelteKit),
  astro: () => serveModule(toAstro),
  "node-server": async () => {
    const { startBefore } = await import(new URL("node-server.mjs", examples).href);
    return startBefore((req, res) => void answer(answerOthers, req, res), root, 0);
  },
  "whatwg-server": startExample,
  "whatwg-server-bare": async () => {
    const { createServerAdapter } = await import(
      new URL("node_modules/@whatwg-node/server/esm/index.js", examples).href
    );
    const { createFiles } = await import(new URL("files.mjs", examples).href);
    // The service is the whole app. Its second argument is what the adapter knows of the request.
    return createServer({ requestTimeout: 0 }, createServerAdapter(createFiles(root).fetch)).listen(0, "127.0.0.1");
  },
};

async function startExample() {
  const { start } = await import(new URL(`${name}.mjs`, examples).href);
  return start(root, 0);
}

/** A module of which a framework makes a handler of requests. */
async function serveModule(toHandler) {
  process.env.FILES_ROOT = root;
  return serveFetch(await toHandler(await import(new URL(`${name}.mjs`, examples).href)));
}

/** A server that only accepts the platform's own classes as answers, as Next.js does. */
async function serveFetch(fetch) {
  const server = createServer({ requestTimeout: 0 }, (req, res) => {
    answer(fetch, req, res).catch(() => res.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function answer(fetch, req, res) {
  const controller = new AbortController();
  res.on("close", () => controller.abort());
  const { method = "GET", headers } = req;
  // Next.js gives a body to all of these, even if there is none.
  const hasBody = method !== "GET" && method !== "HEAD";
  const request = new Request(`http://${headers.host}${req.url}`, {
    method,
    headers: Object.entries(headers).map(([field, value]) => [field, String(value)]),
    signal: controller.signal,
    ...(hasBody && { body: Readable.toWeb(req), duplex: "half" }),
  });
  const response = await fetch(request, req);
  if (!(response instanceof Response)) throw new TypeError("Expected a Response object.");
  const fields = [...response.headers].flat();
  res.writeHead(response.status, fields);
  if (response.body === null) res.end();
  else await pipeline(Readable.fromWeb(response.body), res);
}

const server = await starts[name]();
if (!server.listening) await once(server, "listening");
process.stdout.write(`Listening on ${server.address().port}\n`);
