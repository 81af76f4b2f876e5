/** The client of a request as a proxy tells it. */
export interface ForwardedClient {
  readonly address: string;
  /** 0 where the header does not say. */
  readonly port: number;
  readonly family: "IPv4" | "IPv6";
}

/**
 * Reads the client from the first entry of a header that a proxy writes (CONTRACT 6.7): of `Forwarded` its `for` (RFC 7239),
 * of any other an address, with or without a port, as `X-Forwarded-For` has it. `undefined` where it is absent, malformed or hides the client.
 */
export function readForwardedClient(headers: Headers, name: string): ForwardedClient | undefined {
  const value = headers.get(name);
  if (value === null) return undefined;
  const node = name.toLowerCase() === "forwarded" ? readForwardedFor(value) : value.split(",", 1)[0]?.trim();
  return node === undefined ? undefined : parseNode(node);
}

/** One `name=value` pair of RFC 7239 4, and what ends it. */
const FORWARDED_PAIR = /[ \t]*([!#$%&'*+.^_`|~\w-]+)=(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[^"\\]|\\.)*)")[ \t]*(;|,|$)/y;

/** The `for` parameter of the first element. An element that is malformed, or has two of them, has none. */
function readForwardedFor(value: string): string | undefined {
  let found: string | undefined;
  FORWARDED_PAIR.lastIndex = 0;
  for (;;) {
    const [, name, token, quoted, end] = FORWARDED_PAIR.exec(value) ?? [];
    if (name === undefined) return undefined;
    if (name.toLowerCase() === "for") {
      if (found !== undefined) return undefined;
      found = token ?? quoted?.replace(/\\(.)/g, "$1");
    }
    if (end !== ";") return found;
  }
}

/** An address: IPv4, or IPv6 in brackets, either with a port; or IPv6 alone. An obfuscated port (RFC 7239 6) is unknown. */
function parseNode(node: string): ForwardedClient | undefined {
  const [, bracketed, plain, port = "0"] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}|_[\w.-]+))?$/.exec(node) ?? [];
  const isBareIpv6 = bracketed === undefined && plain === undefined;
  const address = isBareIpv6 || bracketed !== undefined ? toIpv6(bracketed ?? node) : toIpv4(plain ?? "");
  const number = port.startsWith("_") ? 0 : Number(port);
  return address === undefined || number > 65_535 ? undefined : { ...address, port: number };
}

function toIpv4(text: string): Omit<ForwardedClient, "port"> | undefined {
  const parts = text.split(".");
  const isIpv4 = parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
  return isIpv4 ? { address: text, family: "IPv4" } : undefined;
}

/** In the one spelling of RFC 5952, so that no client counts as many; an IPv4-mapped address as IPv4. */
function toIpv6(text: string): Omit<ForwardedClient, "port"> | undefined {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1];
  if (mapped !== undefined) return toIpv4(mapped);
  if (!/^[\da-f:.]{2,45}$/i.test(text) || !URL.canParse(`http://[${text}]/`)) return undefined;
  return { address: new URL(`http://[${text}]/`).hostname.slice(1, -1), family: "IPv6" };
}
