import { appendFileSync } from "node:fs";
import { fetchDescription, isOfDescription, namesItself, toService } from "./description-source.ts";
import { type ServedExchange, tapServers } from "./server-tap.ts";

/*
 * What a child process loads before its program: it writes down what its servers are asked and answer, a line each, as
 * `child-log.ts` reads it. A service is asked for its description as soon as it has answered anything: that is an
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
