import type { Trace } from "../contracts/connection.ts";

/**
 * Version 00, or a later version, which may have more fields at the end (W3C Trace Context 3.2). Neither identifier may
 * be all zeros.
 */
const TRACEPARENT = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[!-~]*)?$/;
/** Printable ASCII, up to the length that must be propagated (W3C Trace Context 3.3.1.5). */
const TRACESTATE = /^[ -~]{1,512}$/;

/** On the headers of a request: the trace that it belongs to in place of the one that they name. */
const traceKey = Symbol("trace");

interface Traced {
  [traceKey]?: Trace;
}

/** Lets a request belong to a trace, such as by a span for the request itself. */
export function setTrace(headers: Headers, trace: Trace): void {
  (headers as Traced)[traceKey] = trace;
}

/** The trace that a request belongs to; `undefined` if it has none, or a malformed one. */
export function readTrace(headers: Headers): Trace | undefined {
  const own = (headers as Traced)[traceKey];
  if (own !== undefined) return own;
  const traceparent = headers.get("traceparent");
  if (traceparent === null || traceparent.length > 256 || !TRACEPARENT.test(traceparent)) return undefined;
  const tracestate = headers.get("tracestate");
  return tracestate !== null && TRACESTATE.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}
