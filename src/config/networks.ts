import { checkOption } from "../contracts/option-error.ts";
import { type IpNetwork, parseNetwork } from "../http/ip-network.ts";

/** Parses the addresses and networks of an option. @throws OptionError */
export function toNetworks(texts: readonly string[], option: string): readonly IpNetwork[] {
  const areTexts = Array.isArray(texts) && texts.every((text) => typeof text === "string");
  const networks = areTexts ? texts.map(parseNetwork) : [undefined];
  const areNetworks = networks.every((network) => network !== undefined);
  checkOption(areNetworks, option, "addresses or networks such as 10.0.0.0/8");
  return networks as readonly IpNetwork[];
}
