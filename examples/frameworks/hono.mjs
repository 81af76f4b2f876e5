import { serve } from "@hono/node-server";
import { toFetchHandler, toNodeConnection } from "fileferry/node";
import { Hono } from "hono";
import { createFiles } from "./files.mjs";

/** A Hono 4 app with a folder below `/files` and routes of its own. Any server for fetch handlers can run it. */
export function createApp(root) {
  const files = createFiles(root);
  const handle = toFetchHandler(files);
  const app = new Hono();

  app.use("/files/*", async (c, next) => {
    if (!files.handles(c.req.raw)) return next();
    const socket = c.env?.incoming?.socket;
    return handle(c.req.raw, socket && toNodeConnection(socket));
  });

  app.get("/api/hello", (c) => c.json({ hello: "world" }));
  app.post("/api/echo", async (c) => c.json(await c.req.json()));
  return app;
}

/** The app on a port, on Node. */
export function start(root, port) {
  const { fetch } = createApp(root);
  // By default Node aborts every upload after 300 s.
  const server = serve({ fetch, port, hostname: "127.0.0.1", serverOptions: { requestTimeout: 0 } });
  // And it drops header fields after the first 1,000.
  server.maxHeadersCount = 0;
  return server;
}
