import { appendFileSync } from "node:fs";
import { fetchDescription, isOfDescription, namesItself, toService } from "./description-source.ts";
import { type ServedExchange, tapServers } from "./server-tap.ts";

/*
 * A child process loads this before its program. It logs the requests to its servers and their answers, a line each,
 * for `child-log.ts`. It asks a service for its description as soon as the service has answered once, and logs that
 * exchange like the others.
 */

const { WIRE_LOG = "" } = process.env;
const asked = new Set<string>();

tapServers({
  begin(exchange) {
    const place = toService(exchange);
    const key = `${place?.port} ${place?.basePath}`;
    if (place === undefined || asked.has(key) || !namesItself(exchange)) return;
    asked.add(key);
    if (isOfDescription(exchange)) return;
    fetchDescription(place).catch(() => undefined);
  },
  take: (exchange) => appendFileSync(WIRE_LOG, `${JSON.stringify(toLine(exchange))}\n`),
});

function toLine({ body, request, ...exchange }: ServedExchange): unknown {
  const { requestBody, ...asked } = request ?? {};
  return {
    ...exchange,
    pid: process.pid,
    ...(request && { request: asked }),
    ...(body && { body: Buffer.from(body).toString("base64") }),
    ...(requestBody && { requestBody: Buffer.from(requestBody).toString("base64") }),
  };
}
