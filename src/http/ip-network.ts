/** The first ten bits of a link-local address, `fe80::/10` (RFC 4291 2.5.6), within its first group. */
const LINK_LOCAL = 0xfe80;
const LINK_LOCAL_BITS = 0xffc0;

/**
 * What a client has to itself at least, as what its attempts are counted by: its IPv4 address, or the first 64 bits of its IPv6 address, within
 * which it may take as many addresses as it likes. All clients of a link have those of link-local addresses: such a one counts whole, with its zone.
 * One that stands for an IPv4 address (mapped, or behind NAT64) is that address; what is no address stays as it is.
 */
export function toNetwork(address: string): string {
  const [unzoned = "", zone] = address.split("%", 2);
  const groups = parseIpv6(unzoned);
  if (groups === undefined) return address;
  const [one = 0, two, three, four, five, six, high = 0, low = 0] = groups;
  const isMapped = [one, two, three, four, five].every((group) => group === 0) && six === 0xffff;
  const isTranslated = one === 0x64 && two === 0xff9b && [three, four, five, six].every((group) => group === 0);
  if (isMapped || isTranslated) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  const isLinkLocal = (one & LINK_LOCAL_BITS) === LINK_LOCAL;
  return isLinkLocal ? [toText(groups), zone ?? []].flat().join("%") : `${toText(groups.slice(0, 4))}::/64`;
}

function toText(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(":");
}

/** The eight groups of an IPv6 address in any of its spellings, without a zone. */
function parseIpv6(address: string): readonly number[] | undefined {
  if (!/^[\da-f:.]{2,45}$/i.test(address) || !address.includes(":")) return undefined;
  const url = `http://[${address}]/`;
  if (!URL.canParse(url)) return undefined;
  const [head = [], tail = []] = new URL(url).hostname
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))));
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}
