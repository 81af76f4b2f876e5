import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { FileService } from "../../contracts/file-service.ts";
import { isOurs } from "../request-handler.ts";
import { createExchange } from "./exchange.ts";
import { toRequest } from "./request.ts";

/** The services that each server is prepared for. */
const prepared = new WeakMap<HttpServer | HttpsServer, Set<FileService>>();

/**
 * Prepares a server of the host, such as that of Express, Fastify or Koa, for a service that {@link toNodeMiddleware}
 * mounts into it. Call it once for each service. Uploads may then take any time; by default Node cuts them after 300 s
 * (`requestTimeout`). The client of a refused upload with `Expect: 100-continue` does not send the body (CONTRACT 4.3).
 * For the host's other routes such a client gets `100 Continue`, as Node does by itself.
 */
export function prepareNodeServer(server: HttpServer | HttpsServer, service: FileService): void {
  server.requestTimeout = 0;
  const known = prepared.get(server);
  if (known !== undefined) {
    known.add(service);
    return;
  }
  const services = new Set([service]);
  prepared.set(server, services);
  server.on("checkContinue", (req: IncomingMessage, res: ServerResponse) => {
    const request = toRequest(createExchange(req, res));
    if (![...services].some((each) => isOurs(each, request))) res.writeContinue();
    server.emit("request", req, res);
  });
}
