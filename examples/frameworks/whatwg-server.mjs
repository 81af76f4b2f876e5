import { createServer } from "node:http";
import { createServerAdapter } from "@whatwg-node/server";
import { toNodeConnection } from "fileferry/node";
import { createFiles } from "./files.mjs";

/** A listener of @whatwg-node/server for node:http, with a service next to routes of its own. */
export function createListener(files) {
  return createServerAdapter(async (request, { req, res }) => {
    // The adapter would answer an error with its stack trace.
    if (!files.handles(request)) return answerOthers(request).catch(() => new Response("Bad request", { status: 400 }));
    const response = await files.fetch(request, toNodeConnection(req.socket));
    return response.body === null ? response : new Response(guard(response.body, res), response);
  });
}

/** Stands for the app of your choice. */
async function answerOthers(request) {
  const { pathname } = new URL(request.url);
  if (request.method === "GET" && pathname === "/api/hello") return Response.json({ hello: "world" });
  if (request.method === "POST" && pathname === "/api/echo") return Response.json(await request.json());
  return new Response("Not found", { status: 404 });
}

/**
 * Breaks the connection when a body fails. The adapter would leave the client waiting, and then cancel the failed
 * stream without handling the rejection, which ends the process.
 */
function guard(body, res) {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch {
        res.destroy();
        controller.close();
      }
    },
    cancel: (reason) => reader.cancel(reason).catch(() => undefined),
  });
}

/** The listener on a port, with a folder below `/files`. */
export function start(root, port) {
  // Node's default cuts every upload at 300 s.
  const server = createServer({ requestTimeout: 0 }, createListener(createFiles(root)));
  // And it drops fields beyond the first thousand.
  server.maxHeadersCount = 0;
  return server.listen(port, "127.0.0.1");
}
