/**
 * Why there was no response, by the error code of the system, of OpenSSL or of undici (Node), or by the error's name
 * where undici gives no code. The texts are fixed: nothing of the error itself is shown.
 */
const causes: readonly (readonly [pattern: RegExp, details: string])[] = [
  [/^ECONNREFUSED$/, "connection refused"],
  [/^(?:ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/, "connection closed early"],
  [/^ENOTFOUND$/, "host name unknown"],
  [/^EAI_/, "host name lookup failed"],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/, "host unreachable"],
  [/^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/, "timed out"],
  [
    /^(?:CERT_|CRL_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|ERR_TLS_CERT_|INVALID_CA$|INVALID_PURPOSE$|HOSTNAME_MISMATCH$|PATH_LENGTH_EXCEEDED$|ERROR_IN_CERT_)/,
    "TLS certificate rejected",
  ],
  [/^(?:EPROTO$|ERR_SSL_|ERR_TLS_)/, "TLS handshake failed"],
  [/^(?:HPE_|UND_ERR_HEADERS_OVERFLOW$|HTTPParserError$)/, "no HTTP response"],
];

/** Maximum number of causes that are followed: an error may be its own cause. */
const maxDepth = 5;

/** Describes in English why a request got no response, with the error's code or name. Nothing else of it is shown. */
export function describeFailure(error: unknown): { readonly details: string; readonly code?: string } {
  let at = error;
  for (let depth = 0; depth < maxDepth && typeof at === "object" && at !== null; depth += 1) {
    const { code, name, message, cause, errors } = at as Readonly<Record<string, unknown>>;
    const key = typeof code === "string" ? code : String(name);
    const known = causes.find(([pattern]) => pattern.test(key));
    if (known !== undefined) return { details: known[1], code: key };
    // The Fetch Standard blocks the ports of other protocols.
    if (message === "bad port") return { details: "port blocked by fetch" };
    // If a host has several addresses, each has its own error.
    at = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return { details: "no response" };
}
