import { checkOption } from "../contracts/option-error.ts";
import type { IpNetwork } from "../http/ip-network.ts";
import { isHttpToken } from "./checks.ts";
import { toNetworks } from "./networks.ts";
import type { FileServiceOptions } from "./options.ts";

/** How the address of a client is found. */
export interface ProxyConfig {
  /** Empty: the peer of the socket is the client. */
  readonly clientForwardedHeader: string;
  /** Absent: the header counts on every connection. */
  readonly trustedProxies: readonly IpNetwork[] | undefined;
}

/** Checks the options about proxies. @throws OptionError */
export function toProxyConfig(options: FileServiceOptions): ProxyConfig {
  const { clientForwardedHeader = "", trustedProxies: proxies } = options;
  const isHeader = clientForwardedHeader === "" || isHttpToken(clientForwardedHeader);
  checkOption(isHeader, "clientForwardedHeader", "empty or a header's name such as X-Forwarded-For");
  const trustedProxies = proxies === undefined ? undefined : toNetworks(proxies, "trustedProxies");
  const isUsed = trustedProxies === undefined || clientForwardedHeader !== "";
  checkOption(isUsed, "trustedProxies", "given together with clientForwardedHeader");
  return { clientForwardedHeader, trustedProxies };
}
