import type { Trace } from "../contracts/connection.ts";
import type { HeaderLines } from "./headers.ts";

/**
 * The header fields of the trace that a request belongs to; none if there is no trace, or if the configured fields name
 * another.
 */
export function toTraceLines(trace: Trace | undefined, configured: HeaderLines): HeaderLines {
  if (trace === undefined || configured.some(([name]) => /^trace(?:parent|state)$/i.test(name))) return [];
  const { traceparent, tracestate } = trace;
  return [["traceparent", traceparent], ...(tracestate === undefined ? [] : [["tracestate", tracestate] as const])];
}
