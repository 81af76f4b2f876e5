import { createServer } from "node:http";
import { prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import { createFiles } from "./files.mjs";

/** A server with a folder below `/files`. All other requests go to `handler`, which the framework has built. */
export function startBefore(handler, root, port) {
  const files = createFiles(root);
  const middleware = toNodeMiddleware(files);
  const server = createServer((req, res) => middleware(req, res, () => handler(req, res)));
  prepareNodeServer(server, files);
  return server.listen(port, "127.0.0.1");
}
