import type { Component, Peer, Trace } from "../connection.ts";

/**
 * The members of every event (CONTRACT 8). An event never holds a password, a session ID or an `Authorization` value.
 */
export interface EventEnvelope {
  /** One English sentence. */
  readonly message: string;
  readonly timestamp: {
    /** POSIX seconds. */
    readonly timestamp: number;
    readonly iso_8601: string;
  };
  /** The account that the event is about. For a refused login it has the name that the client sent. */
  readonly account?: {
    /** The account's name, if it has no other identifier or is not known. */
    readonly uuid: string;
    readonly name: string;
    /** Empty if it is not known. */
    readonly email: string;
    readonly peer?: Peer;
  };
  /** The link that the request came by; for the events of a link itself, that link. */
  readonly link?: EventLink;
  /** The API key that the request came with; for the events of a key itself, that key. */
  readonly key?: EventKey;
  readonly component: Component;
  readonly server: { readonly uuid: string };
  /** The trace that the request belongs to, if the request names one (W3C Trace Context). */
  readonly trace?: Trace;
}

/** A link in an event. */
export interface EventLink {
  readonly id: string;
  readonly label: string;
  /** The name that the sender of a file has given. */
  readonly sender?: string;
}

/** An API key in an event. It is never the key itself. */
export interface EventKey {
  readonly id: string;
  readonly label: string;
}

/** Events that were not emitted, because one network, or all together, caused too many of them. */
export interface LeftOut {
  /**
   * How many events of refusals were left out since the last one: those of this network, and those of all networks
   * beyond their total. Absent if none was.
   */
  readonly others?: number;
}

/** A file or folder. In events of starts and failures, only the first 1,024 characters of each path. */
export interface FileLocation {
  /** The virtual path, as the account sees it. */
  readonly path: string;
  /** The path in the storage. */
  readonly real_path: string;
}

/** Why something failed: the message that the client got, or would have got. */
export interface Reason {
  readonly details: string;
}
