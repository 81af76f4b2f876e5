import type { Peer } from "../contracts/connection.ts";

/** Formats a base64 certificate as PEM, in lines of 64 characters (RFC 7468). */
export function toPem(base64: string): string {
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
}

/**
 * Creates the contract's peer: IPv4-mapped addresses become IPv4, zones are removed. `undefined` without an address, as
 * on a Unix socket.
 */
export function toPeer(remoteAddress: string | null | undefined, remotePort: number | undefined): Peer | undefined {
  if (!remoteAddress) return undefined;
  const [unzoned = ""] = remoteAddress.split("%", 1);
  const address = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(unzoned)?.[1] ?? unzoned;
  return { address, port: remotePort ?? 0, family: address.includes(":") ? "IPv6" : "IPv4", protocol: "TCP" };
}
