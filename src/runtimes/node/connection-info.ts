import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { ClientCertificate, Connection } from "../../contracts/connection.ts";
import { toPeer, toPem } from "../client-identity.ts";

/** Returns what the service learns about a socket: the peer, the client certificate, and whether it uses TLS. */
export function toConnection(socket: Socket): Connection {
  const peer = toPeer(socket.remoteAddress, socket.remotePort);
  const clientCertificate = toClientCertificate(socket);
  return {
    ...(peer === undefined ? undefined : { peer }),
    ...(clientCertificate === undefined ? undefined : { clientCertificate }),
    // A connection without TLS may come from a proxy that ends TLS.
    ...("encrypted" in socket && socket.encrypted === true ? { isSecure: true } : undefined),
  };
}

function toClientCertificate(socket: Socket): ClientCertificate | undefined {
  if (!isTlsSocket(socket) || !socket.authorized) return undefined;
  // A resumed TLS 1.3 session without a client certificate is "authorized", too.
  const { raw, subject } = socket.getPeerCertificate();
  if (raw === undefined) return undefined;
  const commonName: unknown = subject?.CN;
  // Several common names are a list, and do not name one account.
  return {
    pem: toPem(raw.toString("base64")),
    ...(typeof commonName === "string" && commonName !== "" && { commonName }),
  };
}

function isTlsSocket(socket: Socket): socket is TLSSocket {
  return "authorized" in socket && "getPeerCertificate" in socket;
}
