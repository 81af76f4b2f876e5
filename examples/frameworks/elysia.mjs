import { serve } from "@hono/node-server";
import { Elysia } from "elysia";
import { toFetchHandler } from "fileferry/node";
import { createFiles } from "./files.mjs";

/** An Elysia 1.4 app with a folder below `/files` and routes of its own. */
export function createApp(root) {
  const files = createFiles(root);
  const handle = toFetchHandler(files);

  return new Elysia()
    .onRequest(({ request }) => (files.handles(request) ? handle(request) : undefined))
    .get("/api/hello", () => ({ hello: "world" }))
    .post("/api/echo", ({ body }) => body)
    .onError(({ code }) => (code === "NOT_FOUND" ? new Response("Not found", { status: 404 }) : undefined));
}

/** The app on a port, on Node. */
export function start(root, port) {
  const app = createApp(root);
  // By default Node aborts every upload after 300 s.
  const serverOptions = { requestTimeout: 0 };
  const server = serve({ fetch: (request) => app.fetch(request), port, hostname: "127.0.0.1", serverOptions });
  // And it drops header fields after the first 1,000.
  server.maxHeadersCount = 0;
  return server;
}
