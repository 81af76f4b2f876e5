/**
 * What a client has to itself at least, as what its attempts are counted by: its IPv4 address, or the first 64 bits of its IPv6 address, within
 * which it may take as many addresses as it likes. One that stands for an IPv4 address (mapped, or behind NAT64) is that address; what is no
 * address stays as it is.
 */
export function toNetwork(address: string): string {
  const groups = parseIpv6(address);
  if (groups === undefined) return address;
  const [one, two, three, four, five, six, high = 0, low = 0] = groups;
  const isMapped = [one, two, three, four, five].every((group) => group === 0) && six === 0xffff;
  const isTranslated = one === 0x64 && two === 0xff9b && [three, four, five, six].every((group) => group === 0);
  if (isMapped || isTranslated) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  return `${[one, two, three, four].map((group) => group?.toString(16)).join(":")}::/64`;
}

/** The eight groups of an IPv6 address in any of its spellings, its zone cut. */
function parseIpv6(address: string): readonly number[] | undefined {
  const [unzoned = ""] = address.split("%", 1);
  if (!/^[\da-f:.]{2,45}$/i.test(unzoned) || !unzoned.includes(":")) return undefined;
  const url = `http://[${unzoned}]/`;
  if (!URL.canParse(url)) return undefined;
  const [head = [], tail = []] = new URL(url).hostname
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))));
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}
