import ipaddr from "ipaddr.js";

/** An IP address. Its `toString()` is the only spelling of an address: dotted decimal, or RFC 5952. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Parses an IPv4 address in dotted decimal, or an IPv6 address without a zone; `undefined` for any other text.
 * An IPv4-mapped address (`::ffff:192.0.2.1`) is returned as IPv4.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  // Clients send such texts in headers: the length is bounded before anything else.
  if (!/^[\da-f:.]{2,45}$/i.test(text)) return undefined;
  const tail = text.slice(text.lastIndexOf(":") + 1);
  // The library also reads `127.1` and octal parts, which other software takes for other addresses.
  if (tail.includes(".") && !ipaddr.IPv4.isValidFourPartDecimal(tail)) return undefined;
  if (!text.includes(":")) return tail.includes(".") ? ipaddr.IPv4.parse(text) : undefined;
  try {
    // The library takes `::192.0.2.1` for IPv4-mapped, but it is not (RFC 4291 2.5.5.1).
    const address = ipaddr.IPv6.parse(text.replace(/^::(?=\d+\.)/, "0::"));
    return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
  } catch {
    return undefined;
  }
}
