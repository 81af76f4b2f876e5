import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { ClientCertificate, Connection, Peer } from "../contracts/connection.ts";

/** What the service is told of a socket; the same for all requests on it. */
export function toConnection(socket: Socket): Connection {
  const peer = toPeer(socket.remoteAddress, socket.remotePort);
  const clientCertificate = toClientCertificate(socket);
  return {
    ...(peer === undefined ? undefined : { peer }),
    ...(clientCertificate === undefined ? undefined : { clientCertificate }),
    waitUntil,
  };
}

/** Node keeps running by itself; only a rejection that nobody handles would end the process. */
function waitUntil(work: Promise<unknown>): void {
  Promise.resolve(work).catch(() => undefined);
}

/** The peer in the contract's terms: IPv4-mapped addresses as IPv4, the zone cut. Absent for a Unix socket. */
export function toPeer(remoteAddress: string | undefined, remotePort: number | undefined): Peer | undefined {
  if (!remoteAddress) return undefined;
  const [unzoned = ""] = remoteAddress.split("%", 1);
  const address = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(unzoned)?.[1] ?? unzoned;
  return { address, port: remotePort ?? 0, family: address.includes(":") ? "IPv6" : "IPv4", protocol: "TCP" };
}

function toClientCertificate(socket: Socket): ClientCertificate | undefined {
  if (!isTlsSocket(socket) || !socket.authorized) return undefined;
  // A resumed TLS 1.3 session without a client certificate is "authorized" too: only a certificate that is there counts.
  const { raw, subject } = socket.getPeerCertificate();
  if (raw === undefined) return undefined;
  const commonName: unknown = subject?.CN;
  // Several common names come as a list: which account they name is not decidable.
  return { pem: toPem(raw), ...(typeof commonName === "string" && commonName !== "" && { commonName }) };
}

function isTlsSocket(socket: Socket): socket is TLSSocket {
  return "authorized" in socket && "getPeerCertificate" in socket;
}

/** PEM by RFC 7468: base64 in lines of 64. */
function toPem(der: Buffer): string {
  const lines = der.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
