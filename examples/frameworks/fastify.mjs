import createFastify from "fastify";
import { prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import { createFiles } from "./files.mjs";

/** Fastify 5 on a port, with a folder below `/files` beside routes of its own. */
export async function start(root, port) {
  const files = createFiles(root);
  const middleware = toNodeMiddleware(files);
  const app = createFastify();

  // The first hook: before the parsers, which would take JSON away and refuse what they do not know, and for all methods.
  app.addHook("onRequest", (request, reply, done) => {
    middleware(request.raw, reply.raw, done);
  });

  app.get("/api/hello", async () => ({ hello: "world" }));
  app.post("/api/echo", async (request) => request.body);

  await app.listen({ port, host: "127.0.0.1" });
  prepareNodeServer(app.server, files);
  return app.server;
}
