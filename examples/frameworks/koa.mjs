import { prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import Koa from "koa";
import { createFiles } from "./files.mjs";

/** Koa 3 on a port, with a folder below `/files` and routes of its own. */
export function start(root, port) {
  const files = createFiles(root);
  const middleware = toNodeMiddleware(files);
  const app = new Koa();

  // Before every body parser. If the service handles the request, Koa must not respond to it.
  app.use(async (ctx, next) => {
    ctx.respond = false;
    const isTaken = await new Promise((resolve) => {
      ctx.res.once("close", () => resolve(true));
      middleware(ctx.req, ctx.res, () => resolve(false));
    });
    if (isTaken) return;
    ctx.respond = true;
    await next();
  });

  app.use(async (ctx, next) => {
    if (ctx.method === "GET" && ctx.path === "/api/hello") ctx.body = { hello: "world" };
    else if (ctx.method === "POST" && ctx.path === "/api/echo") ctx.body = await readJson(ctx.req);
    else await next();
  });

  const server = app.listen(port, "127.0.0.1");
  prepareNodeServer(server, files);
  return server;
}

/** Stands for the body parser of your choice: Koa has none of its own. */
async function readJson(req) {
  let text = "";
  for await (const chunk of req.setEncoding("utf8")) text += chunk;
  return JSON.parse(text);
}
