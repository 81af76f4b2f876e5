/** What a runtime knows about the connection of a request, in addition to the request itself. */
export interface Connection {
  /** The remote end of the socket. */
  readonly peer?: Peer;
  /** The client certificate, only if the runtime has verified it against the configured authorities. */
  readonly clientCertificate?: ClientCertificate;
  /** Whether the client uses TLS. Set it if this is known better than from the request's URL, as behind a proxy. */
  readonly isSecure?: boolean;
  /**
   * Keeps the runtime alive until `work` settles, even after the response. Edge runtimes need it for work that
   * continues after a request.
   */
  waitUntil?(work: Promise<void>): void;
  /**
   * Sends an interim response (1xx) to this request, such as `104 (Upload Resumption Supported)`. Does nothing once the
   * final response has started or the client has disconnected. Absent if the runtime has no interim responses, or the
   * client does not understand them (HTTP/1.0). Throws `RangeError` for a status that is not from 102 to 199, and
   * `TypeError` for header fields that an interim response cannot have.
   */
  sendInterim?(status: number, headers: Readonly<Record<string, string>>): void;
  /**
   * Called when the request is identified as that of an account, with its name, such as for a log. The name is what the
   * client sent: escape it.
   */
  onIdentified?(username: string): void;
}

/** The remote client, as in authentication requests and events (2.3). */
export interface Peer {
  /** IPv4 or IPv6 address, without brackets or zone. */
  readonly address: string;
  /** 0 if it is not known. */
  readonly port: number;
  readonly family: "IPv4" | "IPv6";
  readonly protocol: "TCP";
}

/** The header fields of W3C Trace Context as they were received. `traceparent` is well-formed. */
export interface Trace {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** A verified TLS client certificate. */
export interface ClientCertificate {
  /** The certificate as PEM text (RFC 7468). */
  readonly pem: string;
  /**
   * The subject's common name, if there is exactly one. By default it is the name of the account that the certificate
   * logs in.
   */
  readonly commonName?: string;
}

/** A part of a server that clients log in to, as in authentication requests and events (2.3). */
export interface Component {
  readonly uuid: string;
  /** The component's protocol: `https`, `http`, `ssh`. */
  readonly type: string;
}

/** The nil UUID (RFC 9562 5.9), for a server or component without an identifier of its own. */
export const NIL_UUID = "00000000-0000-0000-0000-000000000000";
