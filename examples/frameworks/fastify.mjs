import createFastify from "fastify";
import { prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import { createFiles } from "./files.mjs";

/** Fastify 5 on a port, with a folder below `/files` and routes of its own. */
export async function start(root, port) {
  const files = createFiles(root);
  const middleware = toNodeMiddleware(files);
  const app = createFastify();

  // The first hook, for all methods. It runs before the parsers, which would read JSON and reject unknown types.
  app.addHook("onRequest", (request, reply, done) => {
    middleware(request.raw, reply.raw, done);
  });

  app.get("/api/hello", async () => ({ hello: "world" }));
  app.post("/api/echo", async (request) => request.body);

  await app.listen({ port, host: "127.0.0.1" });
  prepareNodeServer(app.server, files);
  return app.server;
}
