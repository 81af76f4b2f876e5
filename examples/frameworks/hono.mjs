import { serve } from "@hono/node-server";
import { toFetchHandler, toNodeConnection } from "fileferry/node";
import { Hono } from "hono";
import { createFiles } from "./files.mjs";

/** A Hono 4 app with a folder below `/files` beside routes of its own; its `fetch` is a handler for every server of such. */
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

/** The app on a port of Node's. */
export function start(root, port) {
  const { fetch } = createApp(root);
  // Node's default cuts every upload at 300 s.
  const server = serve({ fetch, port, hostname: "127.0.0.1", serverOptions: { requestTimeout: 0 } });
  // And it drops fields beyond the first thousand.
  server.maxHeadersCount = 0;
  return server;
}
