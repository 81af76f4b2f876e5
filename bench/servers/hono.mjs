import { serve } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { announcePort } from "./shared.mjs";

const app = new Hono();
app.use("*", serveStatic({ root: process.argv[2] }));
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => announcePort(port));
