import type { Trace } from "../contracts/connection.ts";

/** Version 00, and later ones, which alone may have more behind it (W3C Trace Context 3.2); neither of the identifiers is zero. */
const TRACEPARENT = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[!-~]*)?$/;
/** Printable ASCII, as much of it as must be passed on (3.3.1.5). */
const TRACESTATE = /^[ -~]{1,512}$/;

/** The trace that a request belongs to; `undefined` where it has none, or one that cannot be read. */
export function readTrace(headers: Headers): Trace | undefined {
  const traceparent = headers.get("traceparent");
  if (traceparent === null || traceparent.length > 256 || !TRACEPARENT.test(traceparent)) return undefined;
  const tracestate = headers.get("tracestate");
  return tracestate !== null && TRACESTATE.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}
