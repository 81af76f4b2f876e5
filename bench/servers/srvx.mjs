import { serve } from "srvx";
import { staticMiddleware } from "srvx/static";
import { announcePort } from "./shared.mjs";

const server = serve({
  port: 0,
  hostname: "127.0.0.1",
  silent: true,
  middleware: [staticMiddleware({ dir: process.argv[2] })],
  fetch: () => new Response("Not found", { status: 404 }),
});
await server.ready();
announcePort(Number(new URL(server.url).port));
