import type { ApiCheck } from "./api-check.ts";
import { droppedAt } from "./between.ts";
import type { WireExchange } from "./connection-reader.ts";
import { namesItself, toBasePath } from "./description-source.ts";

/**
 * What is answered before a service hears of a request, by its server: it is no HTTP, or too much of it, or for nobody,
 * or of no method, or too late.
 */
const REFUSED_UNHEARD = [400, 404, 405, 408, 413, 414, 417, 431, 501, 503, 505];

/** What of an exchange its description does not say, or says otherwise. */
export function checkAgainst(check: ApiCheck | undefined, exchange: WireExchange): readonly string[] {
  const { request, status, body } = exchange;
  if (check === undefined) return [];
  if (namesItself(exchange) && request !== undefined) {
    const missing = droppedAt(exchange.port).map((name) => `the header ${name} is required, and not there`);
    return check
      .check({ ...exchange, ...request })
      .filter((problem) => !missing.some((dropped) => problem.endsWith(dropped)));
  }
  // What fails before its first byte is sent is answered in its place.
  const isFailure = status === 500 && body?.byteLength === 0;
  if (isFailure || REFUSED_UNHEARD.includes(status)) return [];
  if (request !== undefined && toBasePath(request.target) === undefined) return [];
  return [`${what(exchange)} -> answered ${status}, and not by the service`];
}

/** How an exchange is called. */
export function what({ request }: WireExchange): string {
  return request === undefined ? "what is no request" : `${request.method} ${request.target}`;
}

/** The check of a description as it was sent. */
export async function toCheck(text: string): Promise<ApiCheck> {
  const names = new Set<string>();
  JSON.parse(text, (_key, value) => {
    if (value?.in === "header" && value.schema !== undefined) names.add(value.name);
    return value;
  });
  // Whoever talks to no service needs no validator.
  const { apiCheckOf } = await import("./api-check.ts");
  return apiCheckOf(text, { vocabulary: [...names].sort() });
}
