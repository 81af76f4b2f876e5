import type { ApiCheck } from "./api-check.ts";
import { droppedAt } from "./between.ts";
import type { WireExchange } from "./connection-reader.ts";
import { namesItself, toBasePath } from "./description-source.ts";

/**
 * Statuses by which the server refuses a request before the service gets it: it is not HTTP, it is too large, it has no
 * host or no known method, or it comes too late.
 */
const REFUSED_UNHEARD = [400, 404, 405, 408, 413, 414, 417, 431, 501, 503, 505];

/** Returns how an exchange differs from its description. */
export function checkAgainst(check: ApiCheck | undefined, exchange: WireExchange): readonly string[] {
  const { request, status, body } = exchange;
  if (check === undefined) return [];
  if (namesItself(exchange) && request !== undefined) {
    const missing = droppedAt(exchange.port).map((name) => `the header ${name} is required, and not there`);
    return check
      .check({ ...exchange, ...request })
      .filter((problem) => !missing.some((dropped) => problem.endsWith(dropped)));
  }
  // If sending fails before the first byte, the server answers in place of the service.
  const isFailure = status === 500 && body?.byteLength === 0;
  if (isFailure || REFUSED_UNHEARD.includes(status)) return [];
  if (request !== undefined && toBasePath(request.target) === undefined) return [];
  return [`${what(exchange)} -> answered ${status}, and not by the service`];
}

/** The name of an exchange in messages. */
export function what({ request }: WireExchange): string {
  return request === undefined ? "what is no request" : `${request.method} ${request.target}`;
}

/** Creates the check of a description from its text. */
export async function toCheck(text: string): Promise<ApiCheck> {
  const names = new Set<string>();
  JSON.parse(text, (_key, value) => {
    if (value?.in === "header" && value.schema !== undefined) names.add(value.name);
    return value;
  });
  // Loaded late: test files that use no service need no validator.
  const { apiCheckOf } = await import("./api-check.ts");
  return apiCheckOf(text, { vocabulary: [...names].sort() });
}
