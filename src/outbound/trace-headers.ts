import type { Trace } from "../contracts/connection.ts";
import type { HeaderLines } from "./headers.ts";

/** Header fields of the trace that a request of ours belongs to; none where there is none, or where the configured ones name another. */
export function toTraceLines(trace: Trace | undefined, configured: HeaderLines): HeaderLines {
  if (trace === undefined || configured.some(([name]) => /^trace(?:parent|state)$/i.test(name))) return [];
  const { traceparent, tracestate } = trace;
  return [["traceparent", traceparent], ...(tracestate === undefined ? [] : [["tracestate", tracestate] as const])];
}
