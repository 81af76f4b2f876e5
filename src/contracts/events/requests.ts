import type { Peer } from "../connection.ts";
import type { EventEnvelope, LeftOut, Reason } from "./envelope.ts";

/** 40019: a request was answered 400. */
export interface BadRequest extends EventEnvelope {
  readonly id: 40019;
  readonly data: RequestData & LeftOut;
}

/** 40023: a request was answered 500. The log has the same identifier as `details`. */
export interface InternalError extends EventEnvelope {
  readonly id: 40023;
  readonly data: RequestData;
}

/** A request that failed. */
export interface RequestData extends Reason {
  readonly method: string;
  /** The path of the URL as it was received, without the query: the first 1,024 characters. */
  readonly path: string;
  readonly peer?: Peer;
}
