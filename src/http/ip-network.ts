import ipaddr from "ipaddr.js";
import { type IpAddress, parseIpAddress } from "./ip-address.ts";

/** A network of IP addresses (CIDR, RFC 4632 3.1). */
export interface IpNetwork {
  /** Any address of the network. */
  readonly address: IpAddress;
  /** The number of leading bits that all addresses of the network share. */
  readonly bits: number;
}

/** Link-local addresses (RFC 4291 2.5.6). */
const LINK_LOCAL = ipaddr.IPv6.parseCIDR("fe80::/10");
/** IPv6 addresses of IPv4 clients after NAT64 (RFC 6052 2.1). */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * The network that a client has to itself, as the key of limits: an IPv4 address, or the first 64 bits of an IPv6
 * address, because a client may use any number of addresses below them.
 *
 * - All clients of a link share the first 64 bits of link-local addresses, so such an address counts completely, with
 *   its zone.
 * - An address that stands for an IPv4 address (IPv4-mapped, or NAT64) counts as that IPv4 address.
 * - A text that is not an IP address is returned unchanged.
 */
export function toNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const [unzoned = "", zone] = address.split("%", 2);
  const parsed = parseIpAddress(unzoned);
  if (parsed === undefined) return address;
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  if (parsed.match(NAT64)) return parsed.toByteArray().slice(12).join(".");
  if (parsed.match(LINK_LOCAL)) return [toText(parsed.parts), zone ?? []].flat().join("%");
  return `${toText(parsed.parts.slice(0, 4))}::/64`;
}

function toText(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(":");
}

/** Parses an IP address, or a network such as `10.0.0.0/8`; `undefined` for any other text. */
export function parseNetwork(text: string): IpNetwork | undefined {
  const [, base = text, prefix] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = parseIpAddress(base);
  if (address === undefined) return undefined;
  const maxBits = address instanceof ipaddr.IPv6 ? 128 : 32;
  const bits = prefix === undefined ? maxBits : Number(prefix);
  return bits <= maxBits ? { address, bits } : undefined;
}

/**
 * Whether an address is in one of these networks. A zone, as in `fe80::1%eth0`, does not count. A text that is not an
 * IP address is in none.
 */
export function isInNetworks(address: string, networks: readonly IpNetwork[]): boolean {
  const [unzoned = ""] = address.split("%", 1);
  const parsed = parseIpAddress(unzoned);
  return parsed !== undefined && networks.some((network) => isIn(parsed, network));
}

function isIn(address: IpAddress, network: IpNetwork): boolean {
  return address.kind() === network.address.kind() && address.match(network.address, network.bits);
}
