import type { ResponseSpec } from "./operation-types.ts";
import type { ParameterName } from "./parameters.ts";

/** The parameters of every operation that events or the authentication may depend on. */
export const TRACE: readonly ParameterName[] = ["requestedWith", "traceparent", "tracestate"];

/** A response that redirects. Browsers show its page if they do not follow it. */
export function redirect(status: 302 | 303 | 307, description: string, more: Partial<ResponseSpec> = {}): ResponseSpec {
  return { status, description, content: status === 307 ? [] : ["page"], ...more };
}
