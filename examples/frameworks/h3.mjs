import { createServer } from "node:http";
import { prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import { createApp, createRouter, defineEventHandler, fromNodeMiddleware, readBody, toNodeListener } from "h3";
import { createFiles } from "./files.mjs";

/** An app of h3 1, the server of Nuxt 4 and Nitro 2, with a folder below `/files` and routes of its own. */
export function createNitroApp(files) {
  const app = createApp();

  // In Nuxt and Nitro: `export default` of server/middleware/files.ts.
  app.use(fromNodeMiddleware(toNodeMiddleware(files)));

  const router = createRouter();
  router.get(
    "/api/hello",
    defineEventHandler(() => ({ hello: "world" })),
  );
  router.post(
    "/api/echo",
    defineEventHandler((event) => readBody(event)),
  );
  return app.use(router);
}

/** The app on a port. */
export function start(root, port) {
  const files = createFiles(root);
  const server = createServer(toNodeListener(createNitroApp(files)));
  prepareNodeServer(server, files);
  return server.listen(port, "127.0.0.1");
}
