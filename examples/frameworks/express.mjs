import express from "express";
import { prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import { createFiles } from "./files.mjs";

/** Express 5 on a port, with a folder below `/files` and routes of its own. */
export function start(root, port) {
  const files = createFiles(root);
  const app = express();

  // Before every body parser, and without a path: the service knows its path from `basePath`.
  app.use(toNodeMiddleware(files));

  app.use(express.json());
  app.get("/api/hello", (_req, res) => res.json({ hello: "world" }));
  app.post("/api/echo", (req, res) => res.json(req.body));

  const server = app.listen(port, "127.0.0.1");
  prepareNodeServer(server, files);
  return server;
}
