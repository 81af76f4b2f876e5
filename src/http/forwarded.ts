import { parseIpAddress } from "./ip-address.ts";
import { type IpNetwork, isInNetworks } from "./ip-network.ts";
import { trimOptionalWhitespace } from "./optional-whitespace.ts";

/** The client of a request, as a proxy names it in a header. */
export interface ForwardedClient {
  readonly address: string;
  /** 0 if the header has no port. */
  readonly port: number;
  readonly family: "IPv4" | "IPv6";
}

/**
 * Reads the client's address from a header that a proxy writes (CONTRACT 6.7): from the `for` parameters of `Forwarded`
 * (RFC 7239), from any other header as a list of addresses with or without ports, as in `X-Forwarded-For`.
 *
 * - Without `trustedProxies` the first entry is the client: the proxy must replace the header that it receives.
 * - With `trustedProxies` the client is the last entry that is not one of them: each proxy may append to the header.
 *
 * `undefined` if the header is missing or malformed, or hides the client.
 */
export function readForwardedClient(
  headers: Headers,
  name: string,
  trustedProxies?: readonly IpNetwork[],
): ForwardedClient | undefined {
  const value = headers.get(name);
  if (value === null) return undefined;
  const entries = name.toLowerCase() === "forwarded" ? readForwardedFor(value) : value.split(",");
  return trustedProxies === undefined ? parseEntry(entries[0]) : findClient(entries, trustedProxies);
}

/**
 * Walks from the last entry, which the nearest proxy wrote, to the first. Each entry was written by the proxy after it,
 * so entries before the first one that is not a trusted proxy may be forged. An entry that is not an address ends the
 * walk: the last proxy that was found counts as the client then.
 */
function findClient(
  entries: readonly (string | undefined)[],
  trustedProxies: readonly IpNetwork[],
): ForwardedClient | undefined {
  let found: ForwardedClient | undefined;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const client = parseEntry(entries[index]);
    if (client === undefined) return found;
    found = client;
    if (!isInNetworks(client.address, trustedProxies)) return found;
  }
  return found;
}

/** One `name=value` pair (RFC 7239 4), and what follows it. */
const FORWARDED_PAIR = /[ \t]*([!#$%&'*+.^_`|~\w-]+)=(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[^"\\]|\\.)*)")[ \t]*(;|,|$)/y;

/**
 * The `for` parameter of each element; `undefined` for an element with none, or with two. A malformed element is
 * `undefined` and the last one: where the next element begins is not certain.
 */
function readForwardedFor(value: string): readonly (string | undefined)[] {
  const entries: (string | undefined)[] = [];
  let found: string[] = [];
  for (FORWARDED_PAIR.lastIndex = 0; ; ) {
    const [, name, token, quoted, end] = FORWARDED_PAIR.exec(value) ?? [];
    if (name === undefined) return [...entries, undefined];
    if (name.toLowerCase() === "for") found.push(token ?? quoted?.replace(/\\(.)/g, "$1") ?? "");
    if (end === ";") continue;
    entries.push(found.length === 1 ? found[0] : undefined);
    if (end === "") return entries;
    found = [];
  }
}

/** An IPv6 address in brackets or an IPv4 address, both with an optional port. Any other text is an IPv6 address. */
const ENTRY = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}|_[\w.-]+))?$/;

function parseEntry(entry: string | undefined): ForwardedClient | undefined {
  const text = trimOptionalWhitespace(entry ?? "");
  const [, bracketed, plain, port = "0"] = ENTRY.exec(text) ?? [];
  if (bracketed?.includes(":") === false) return undefined;
  const address = parseIpAddress(bracketed ?? plain ?? text);
  // RFC 7239 6.2: a port may be obfuscated, such as `_hidden`.
  const number = port.startsWith("_") ? 0 : Number(port);
  if (address === undefined || number > 65_535) return undefined;
  return { address: address.toString(), port: number, family: address.kind() === "ipv4" ? "IPv4" : "IPv6" };
}
