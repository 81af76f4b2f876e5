import type { Peer } from "../contracts/connection.ts";

/** A certificate in base64 as PEM text: lines of 64 (RFC 7468). */
export function toPem(base64: string): string {
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
}

/** The peer in the contract's terms: IPv4-mapped addresses as IPv4, the zone cut. Absent where there is no address, as on a Unix socket. */
export function toPeer(remoteAddress: string | null | undefined, remotePort: number | undefined): Peer | undefined {
  if (!remoteAddress) return undefined;
  const [unzoned = ""] = remoteAddress.split("%", 1);
  const address = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(unzoned)?.[1] ?? unzoned;
  return { address, port: remotePort ?? 0, family: address.includes(":") ? "IPv6" : "IPv4", protocol: "TCP" };
}
