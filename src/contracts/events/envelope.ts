import type { Component, Peer, Trace } from "../connection.ts";

/** What every event carries (CONTRACT 8). It never holds a password, a session ID or an `Authorization` value. */
export interface EventEnvelope {
  /** One English sentence. */
  readonly message: string;
  readonly timestamp: {
    /** POSIX seconds. */
    readonly timestamp: number;
    readonly iso_8601: string;
  };
  /** The account that it is about. Of a refused login: the name that was given. */
  readonly account?: {
    /** The account's name where it has no other, or is not known. */
    readonly uuid: string;
    readonly name: string;
    /** Empty where it is not known. */
    readonly email: string;
    readonly peer?: Peer;
  };
  readonly component: Component;
  readonly server: { readonly uuid: string };
  /** The trace that the request belongs to, where it says so (W3C Trace Context). */
  readonly trace?: Trace;
}

/** A file or folder. */
export interface FileLocation {
  /** The account's virtual path. */
  readonly path: string;
  /** The storage's path. */
  readonly real_path: string;
}

/** Why something failed, as the client was told or would have been. */
export interface Reason {
  readonly details: string;
}
