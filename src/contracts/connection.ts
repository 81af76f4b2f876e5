/** What a runtime knows of the connection that brought a request, beside the request itself. */
export interface Connection {
  /** The remote end of the socket. */
  readonly peer?: Peer;
  /** The client certificate, only when the runtime has verified it against the configured authorities. */
  readonly clientCertificate?: ClientCertificate;
  /** Whether the client speaks TLS, where that is known better than by the request's URL, as behind a proxy. */
  readonly isSecure?: boolean;
  /** Keeps the runtime alive until `work` settles, beyond the response (edge runtimes): for work that a request leaves behind. */
  waitUntil?(work: Promise<unknown>): void;
}

/** The remote client, as it stands in authentication requests and events (2.3). */
export interface Peer {
  /** IPv4 or IPv6 address, without brackets or zone. */
  readonly address: string;
  /** 0 where it is not known. */
  readonly port: number;
  readonly family: "IPv4" | "IPv6";
  readonly protocol: "TCP";
}

/** Header fields of W3C Trace Context as they came, the first one well-formed. */
export interface Trace {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** A verified TLS client certificate. */
export interface ClientCertificate {
  /** The certificate as PEM text (RFC 7468). */
  readonly pem: string;
  /** The subject's common name: the account that it logs in, unless the service has another rule. Absent unless there is exactly one. */
  readonly commonName?: string;
}

/** A part of a server that clients log in to, as it stands in authentication requests and events (2.3). */
export interface Component {
  readonly uuid: string;
  /** The protocol that it speaks: `https`, `http`, `ssh`. */
  readonly type: string;
}

/** Stands for a server or component that has no identifier of its own: the nil UUID (RFC 9562 5.9). */
export const NIL_UUID = "00000000-0000-0000-0000-000000000000";
